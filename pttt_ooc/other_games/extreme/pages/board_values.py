"""Boards and curves as plain values that templates draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pttt_ooc.other_games.arena.games.boards import Board, nested_board
from pttt_ooc.other_games.extreme.referee import Referee

Mover = Callable[[int, int], int]
WIDTH, HEIGHT = 1000, 200  # of curves, which are stretched to the page


def boards_of(referee: Referee, latest: tuple[int, int, int] | None) -> list[Board]:
    """Both big boards; the cells that may be marked next are legal ones."""
    over = referee.result()[1] != "-"
    legal = set() if over else {number(*cell) for cell in referee.valid_cells()}
    last = None if latest is None else number(*latest)
    found = []
    for big in range(2):
        cells, small = referee.board.big_boards_status[big], referee.board.small_boards_status[big]
        marks = [
            "".join(cells[3 * i + a][3 * j + b] for a in range(3) for b in range(3)) for i in range(3) for j in range(3)
        ]
        owners = "".join(mark for row in small for mark in row)
        found.append(nested_board(marks, owners, _mover(big), text, legal=legal, latest=last))
    return found


def number(big: int, row: int, column: int) -> int:
    """A cell as a number."""
    return 81 * big + 9 * row + column


def cell_of(move: int) -> tuple[int, int, int]:
    """The cell with a number: big board, row and column."""
    return move // 81, move % 81 // 9, move % 9


def text(move: int) -> str:
    """A cell's number as the course writes cells: ``(0, 4, 4)`` for big board, row and column."""
    return str(cell_of(move))


def _mover(big: int) -> Mover:
    return lambda board, cell: number(big, 3 * (board // 3) + cell // 3, 3 * (board % 3) + cell % 3)


@dataclass(frozen=True)
class Bar:
    """The time of a move, as a bar in a picture of WIDTH by HEIGHT."""

    player: int
    x: float
    y: float
    width: float
    height: float


def bars_of(players: Sequence[int], seconds: Sequence[float]) -> list[Bar]:
    """The times of all moves as bars; the longest is as high as the picture."""
    longest, width = max(seconds, default=0.0) or 1.0, WIDTH / max(1, len(seconds))
    found = []
    for index, (player, one) in enumerate(zip(players, seconds, strict=True)):
        height = round(HEIGHT * one / longest, 1)
        found.append(Bar(player, round(index * width, 2), round(HEIGHT - height, 1), round(0.8 * width, 2), height))
    return found
