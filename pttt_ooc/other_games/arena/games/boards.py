"""Boards as plain values that templates draw, with the macro of ``web/boards.html``: flat ones, and boards of boards.

No numerics are needed: web processes can make them too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

FREE, FIRST, SECOND, DRAWN = "-", "x", "o", "d"
"""Marks of cells, and owners of small boards; only small boards can be DRAWN."""

_WORDS = {FREE: "free", FIRST: "x", SECOND: "o"}
_OWNED = {FREE: "", FIRST: ", won by x", SECOND: ", won by o", DRAWN: ", drawn"}
_WAYS = ((0, 1), (1, 0), (1, 1), (1, -1))


@dataclass(frozen=True)
class Square:
    """A square.

    Attributes
    ----------
    move
        The move that marks it.
    mark
        FREE, FIRST or SECOND.
    legal
        Whether the player to move may mark it.
    latest, winning
        Whether the last move marked it, or it belongs to the line that won.
    words
        Its name and its mark, for screen readers.
    name
        Its coordinates.
    figure
        The value of its move, for people; empty: none.
    best, chosen
        Whether its move is the best, or the one that was made.
    """

    move: int
    mark: str
    legal: bool
    latest: bool
    winning: bool
    words: str
    name: str
    figure: str = ""
    best: bool = False
    chosen: bool = False


@dataclass(frozen=True)
class Block:
    """Rows of squares: a small board, or a whole flat board.

    Attributes
    ----------
    owner
        Who has won the small board: FREE, FIRST, SECOND or DRAWN.
    winning
        Whether it belongs to the line of boards that won.
    words
        Its name; empty for a flat board.
    open
        Whether the player to move may play here.
    """

    owner: str
    winning: bool
    words: str
    rows: list[list[Square]]
    open: bool


@dataclass(frozen=True)
class Board:
    """A board: rows of blocks.  A flat board has one block.

    Attributes
    ----------
    columns
        Squares in a row of the whole board.
    words
        All marks, for screen readers.
    """

    rows: list[list[Block]]
    columns: int
    words: str


def flat(
    marks: Sequence[str],
    move_of: Callable[[int, int], int],
    name_of: Callable[[int], str],
    *,
    legal: Collection[int] = (),
    latest: int | None = None,
    need: int | None = None,
) -> Board:
    """A board of rows and columns.

    Parameters
    ----------
    marks
        A text for each row, of FREE, FIRST and SECOND.
    move_of
        The move that marks the square at a row and a column.
    name_of
        The notation of a move.
    legal
        The moves that the player to move may make.
    latest
        The last move, or None.
    need
        Marks in a row that win; the line that has won is shown.
    """
    won = winning_squares(marks, need) if need else set()
    rows = [
        [
            _cell(move_of(row, column), mark, name_of, legal, latest, (row, column) in won)
            for column, mark in enumerate(line)
        ]
        for row, line in enumerate(marks)
    ]
    return _board([[_block(FREE, False, "", rows)]])


def nested_board(
    marks: Sequence[str],
    owned: str,
    move_of: Callable[[int, int], int],
    name_of: Callable[[int], str],
    *,
    legal: Collection[int] = (),
    latest: int | None = None,
) -> Board:
    """A board of 3 x 3 small boards.

    Parameters
    ----------
    marks
        Nine texts, one for each small board in reading order, of its nine cells in reading order.
    owned
        Who has won each small board: FREE, FIRST, SECOND or DRAWN.
    move_of
        The move that marks a cell, from the numbers of small board and cell.
    name_of, legal, latest
        See :func:`flat`.
    """
    won = {3 * row + column for row, column in winning_squares([owned[:3], owned[3:6], owned[6:]], 3)}
    blocks = []
    for board in range(9):
        cells = [_cell(move_of(board, cell), marks[board][cell], name_of, legal, latest, False) for cell in range(9)]
        words = f"Small board {board}{_OWNED[owned[board]]}"
        blocks.append(_block(owned[board], board in won, words, [cells[:3], cells[3:6], cells[6:]]))
    return _board([blocks[:3], blocks[3:6], blocks[6:]])


def owners(*sets: Any) -> str:
    """The owner of each of nine places, from the sets of FIRST, of SECOND, and perhaps of DRAWN."""
    marks = list(zip((FIRST, SECOND, DRAWN), sets, strict=False))
    return "".join(next((mark for mark, one in marks if one >> place & 1), FREE) for place in range(9))


def winning_squares(marks: Sequence[str], need: int) -> set[tuple[int, int]]:
    """The squares (row, column) of all lines of at least `need` equal marks."""
    found: set[tuple[int, int]] = set()
    for row, line in enumerate(marks):
        for column, mark in enumerate(line):
            for down, right in _WAYS if mark in (FIRST, SECOND) else ():
                squares = [(row + step * down, column + step * right) for step in range(need)]
                if all(0 <= r < len(marks) and 0 <= c < len(line) and marks[r][c] == mark for r, c in squares):
                    found.update(squares)
    return found


def _board(rows: list[list[Block]]) -> Board:
    cells = (cell for line in rows for block in line for row in block.rows for cell in row)
    words = "; ".join(cell.words for cell in cells if cell.mark != FREE) or "empty"
    return Board(rows, sum(len(block.rows[0]) for block in rows[0]), words)


def _block(owner: str, winning: bool, words: str, rows: list[list[Square]]) -> Block:
    return Block(owner, winning, words, rows, any(cell.legal for row in rows for cell in row))


def _cell(
    move: int, mark: str, name_of: Callable[[int], str], legal: Collection[int], latest: int | None, winning: bool
) -> Square:
    name = name_of(move)
    return Square(move, mark, move in legal, move == latest, winning, f"{name}, {_WORDS[mark]}", name)
