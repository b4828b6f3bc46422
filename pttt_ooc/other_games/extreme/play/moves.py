"""Moves and boards as text, for people."""

from __future__ import annotations

import re

from pttt_ooc.other_games.extreme.referee import FLAGS, Cell, Referee

_MOVE = re.compile(r"\s*[\[(]?\s*([0-9])\s*[,.\s]\s*([0-9])\s*[,.\s]\s*([0-9])\s*[\])]?\s*")


def read_move(text: str) -> Cell | None:
    """A move as a person types it: ``(0, 4, 4)``, ``0 4 4``, ``0,4,4`` or ``0.4.4``; None if it is none."""
    found = _MOVE.fullmatch(text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def move_text(cell: Cell) -> str:
    """A move as the course writes it: ``(0, 4, 4)``."""
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
