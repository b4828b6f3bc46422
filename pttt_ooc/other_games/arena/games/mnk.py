"""K-in-a-row on boards of up to 11 x 11 squares: the interface to its rules."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pttt_ooc.other_games.arena.games.base import RESULT, UNFINISHED, ArenaError, Game, State
from pttt_ooc.other_games.arena.games.boards import Board, flat
from pttt_ooc.other_games.arena.kernels import mnk as rules

LARGEST = 11


class Mnk(Game):
    """K-in-a-row: the first row, column or diagonal of `need` marks wins; a full board is a draw.

    Parameters
    ----------
    options
        ``ROWSxCOLUMNS`` and ``needLENGTH``; the default is tic-tac-toe, ``3x3`` and ``need3``.

    Raises
    ------
    ArenaError
        An option is not understood, or the board is too large or too small.

    Examples
    --------
    >>> game = Mnk(["4x5", "need4"])
    >>> print(game.text, game.show_move(6))
    mnk:4x5+need4 b2
    """

    name = "mnk"
    rules = rules

    def __init__(self, options: Iterable[str] = ()) -> None:
        self.rows, self.columns, self.need = 3, 3, 3
        for option in options:
            if board := re.fullmatch(r"(\d{1,4})x(\d{1,4})", option):
                self.rows, self.columns = int(board[1]), int(board[2])
            elif need := re.fullmatch(r"need(\d{1,4})", option):
                self.need = int(need[1])
            else:
                raise ArenaError(
                    f"K-in-a-row has no option '{option}': name a board and a length, as in mnk:5x5+need4."
                )
        if not (1 <= self.rows <= LARGEST and 1 <= self.columns <= LARGEST):
            raise ArenaError(
                f"A board of {self.rows} x {self.columns} squares is not possible: "
                f"rows and columns must be from 1 to {LARGEST}."
            )
        if not 1 <= self.need <= max(self.rows, self.columns):
            raise ArenaError(
                f"{self.need} in a row is not possible on a board of {self.rows} x {self.columns} squares: "
                f"the length must be from 1 to {max(self.rows, self.columns)}."
            )
        super().__init__([self.rows, self.columns, self.need])

    @property
    def text(self) -> str:
        """The name with the options, such as ``mnk:3x3+need3``."""
        return f"{self.name}:{self.rows}x{self.columns}+need{self.need}"

    def show_move(self, move: int) -> str:
        """A letter for the column and a number for the row, counted from the top left: ``b3``."""
        if not 0 <= move < self.rows * self.columns:
            return str(move)
        return f"{chr(ord('a') + move % self.columns)}{move // self.columns + 1}"

    def read_move(self, text: str) -> int:
        """A move from its number, from a letter and a number (``b3``), or from column and row (``2 3``)."""
        match = re.fullmatch(r"\s*(?:([a-k])\s*|(\d{1,2})\s+)(\d{1,2})\s*", text.lower())
        if not match:
            return super().read_move(text)
        column = ord(match[1]) - ord("a") if match[1] else int(match[2]) - 1
        row = int(match[3]) - 1
        if not (0 <= row < self.rows and 0 <= column < self.columns):
            raise ArenaError(f"'{text.strip()}' is not on the board of {self.rows} x {self.columns} squares.")
        return row * self.columns + column

    def why_not(self, state: State, move: int) -> str:
        """Why a move is not legal, as the end of a sentence."""
        if not 0 <= move < self.rows * self.columns:
            return f"moves are the numbers 0 to {self.rows * self.columns - 1}"
        return "the square is taken" if state[RESULT] == UNFINISHED else super().why_not(state, move)

    def show(self, state: State) -> str:
        """The rows, numbered, below the letters of the columns: ``x``, ``o`` and ``.``."""
        lines = ["   " + " ".join(chr(ord("a") + column) for column in range(self.columns))]
        for row in range(self.rows):
            marks = (".xo"[rules.cell(state, row, column)] for column in range(self.columns))
            lines.append(f"{row + 1:2} " + " ".join(marks))
        return "\n".join(lines)

    def draw(self, state: State, latest: int | None = None) -> list[Board]:
        """The board."""
        marks = [
            "".join("-xo"[rules.cell(state, row, column)] for column in range(self.columns)) for row in range(self.rows)
        ]
        legal = set(self.legal(state))
        return [flat(marks, self._at, self.show_move, legal=legal, latest=latest, need=self.need)]

    def _at(self, row: int, column: int) -> int:
        return row * self.columns + column
