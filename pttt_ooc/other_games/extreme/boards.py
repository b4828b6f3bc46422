"""Moves, boards and times of moves for people: as text, and as plain values that templates draw."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pttt_ooc.other_games.arena.games.boards import Board, nested_board
from pttt_ooc.other_games.extreme.referee import FLAGS, Cell, Referee

_MOVE = re.compile(r"\s*[\[(]?\s*([0-9])\s*[,.\s]\s*([0-9])\s*[,.\s]\s*([0-9])\s*[\])]?\s*")


def read_move(text: str) -> Cell | None:
    """A move as a person types it: ``(0, 4, 4)``, ``0 4 4``, ``0,4,4`` or ``0.4.4``; None if it is no move."""
    found = _MOVE.fullmatch(text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def move_text(cell: Cell) -> str:
    """A move as the course writes it: ``(0, 4, 4)`` for big board, row and column."""
    return str(tuple(cell))


def stamp(moves: int, turn: str) -> str:
    """A text that differs whenever a game has changed: the number of its moves, and whose turn it is."""
    return f"{moves}-{turn}"


def why_not(position: Referee, cell: Cell) -> str:
    """Why a player may not make a move that is not valid, as the end of a sentence."""
    big, row, column = cell
    if big > 1 or row > 8 or column > 8:
        return "big boards are 0 and 1, rows and columns 0 to 8"
    board = position.board
    if board.big_boards_status[big][row][column] != "-":
        return "the cell is taken"
    if board.small_boards_status[big][row // 3][column // 3] != "-":
        return "its small board is closed"
    return f"the last move sends you to {places(position)}"


def places(position: Referee) -> str:
    """Where the player may move, in words."""
    cells = position.valid_cells()
    found = sorted({(row // 3, column // 3) for _, row, column in cells})
    if len(found) > 1:
        return "any small board that is not closed"
    i, j = found[0]
    bigs = sorted({big for big, _, _ in cells})
    which = "both big boards" if len(bigs) == 2 else f"big board {bigs[0]}"
    return f"rows {3 * i} to {3 * i + 2} and columns {3 * j} to {3 * j + 2} of {which}"


def boards_text(position: Referee) -> str:
    """Both big boards side by side, with the numbers of rows and columns.

    ``x`` and ``o`` are marks, capital letters in a small board that the player has won; ``+`` is a cell that may be
    marked next, ``.`` another free one, and ``#`` one in a small board that is full or won.
    """
    over = position.result()[1] != "-"
    valid = set() if over else set(position.valid_cells())
    header = "     ".join("    " + "  ".join(f"{j} {j + 1} {j + 2}" for j in (0, 3, 6)) for _ in range(2))
    lines = [f"    {'big board 0':<27}big board 1", header]
    for row in range(9):
        if row in (3, 6):
            lines.append("")
        lines.append(
            "     ".join(
                f"{row}   "
                + "  ".join(
                    " ".join(_sign(position, (big, row, column), valid) for column in range(j, j + 3))
                    for j in (0, 3, 6)
                )
                for big in range(2)
            )
        )
    return "\n".join(lines)


def _sign(position: Referee, cell: Cell, valid: set[Cell]) -> str:
    big, row, column = cell
    mark = position.board.big_boards_status[big][row][column]
    owner = position.board.small_boards_status[big][row // 3][column // 3]
    if mark in FLAGS:
        return str(mark).upper() if mark == owner else str(mark)
    return "+" if cell in valid else "." if owner == "-" else "#"


# ---------------------------------------------------------------------------------------------
# For templates

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
        found.append(nested_board(marks, owners, _mover(big), _text, legal=legal, latest=last))
    return found


def number(big: int, row: int, column: int) -> int:
    """A cell as a number."""
    return 81 * big + 9 * row + column


def cell_of(move: int) -> tuple[int, int, int]:
    """The cell with a number: big board, row and column."""
    return move // 81, move % 81 // 9, move % 9


def _text(move: int) -> str:
    return move_text(cell_of(move))


def _mover(big: int) -> Callable[[int, int], int]:
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
