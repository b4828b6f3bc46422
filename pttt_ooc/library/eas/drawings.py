"""Boards as text: one player's own marks, and in Dark Hex the times of the player's attempts."""

from __future__ import annotations

from pttt_ooc.games.rules.infoset_text import Attempts

_ROWS, _COLUMNS = 13, 37


def grid(own: Attempts, mark: str) -> str:
    """The squares of tic-tac-toe: the player's marks, and dots."""
    placed = {cell for cell, success in own if success}
    return "".join("".join(mark if 3 * row + c in placed else "." for c in range(3)) + "\n" for row in range(3))


def honeycomb(own: Attempts, mark: str) -> str:
    """The cells of Dark Hex: each with its number, and the number of the attempt at it; placed ones have an edge."""
    canvas = [[" "] * _COLUMNS for _ in range(_ROWS)]

    def write(row: int, column: int, text: str) -> None:
        canvas[row][column : column + len(text)] = text

    for cell in range(9):
        row, column = _centre(cell)
        for line, side, left, right in ((-1, 3, "/", "\\"), (0, 4, "/", "\\"), (1, 4, "\\", "/"), (2, 3, "\\", "/")):
            write(row + line, column - side, left)
            write(row + line, column + side, right)
        write(row - 2, column - 2, "_____")
        write(row + 2, column - 2, "_____")
        write(row, column, str(cell))
    for time, (cell, success) in enumerate(own, start=1):
        row, column = _centre(cell)
        write(row + 1, column - 1, f"t={time}")
        for line in (-1, 2) if success else ():
            write(row + line, column - 2, mark * 5)
        for line in (0, 1) if success else ():
            write(row + line, column - 3, mark)
            write(row + line, column + 3, mark)
    return "".join("".join(line).rstrip() + "\n" for line in canvas)


def _centre(cell: int) -> tuple[int, int]:
    """Row and column of a cell's number."""
    row, column = divmod(cell, 3)
    return 6 + 2 * (row - column), 4 + 7 * (row + column)
