"""A play of a game, changed in place, and its picture as text."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import GameError
from pttt_ooc.games.rules.play import start
from pttt_ooc.library.eas import boards
from pttt_ooc.library.eas.boards import CELLS, Board
from pttt_ooc.library.eas.infostates import infostate


class State:
    """A position of a game, with the attempts that led to it.

    Attributes
    ----------
    OPENSPIEL_INFOSTATE_SIZE
        Number of entries of OpenSpiel's information-state tensor.

    Examples
    --------
    >>> from pttt_ooc.library import eas
    >>> state = eas.DhState()
    >>> for cell in (0, 0, 2, 1):
    ...     state.next(cell)
    >>> state.player(), state.infoset_desc(), state.action_mask()[:4]
    (1, '0.2*', [False, True, False, True])
    """

    _board: ClassVar[Board]
    OPENSPIEL_INFOSTATE_SIZE: ClassVar[int]

    def __init_subclass__(cls, board: Board) -> None:
        cls._board, cls.OPENSPIEL_INFOSTATE_SIZE = board, board.infostate_size

    def __init__(self) -> None:
        self._history = start(self._board.game)

    def clone(self) -> Self:
        """An independent copy."""
        other = type(self)()
        other._history = self._history
        return other

    def player(self) -> int | None:
        """The player to move, 0 or 1; None when the game is over."""
        return self._history.player

    def next(self, cell: int) -> None:
        """Let the player to move attempt a cell.

        Raises
        ------
        GameError
            If the game is over, or the player may not attempt that cell.
        """
        if self._history.is_terminal:
            raise GameError("The game is over.")
        if cell not in range(CELLS) or not self.action_mask()[cell]:
            legal = [c for c, may in enumerate(self.action_mask()) if may]
            raise GameError(
                f"Player {self._mover} cannot attempt cell {cell} at {self.infoset_desc()!r}; "
                f"choose one of {', '.join(map(str, legal))}."
            )
        self._history = self._history.step(int(cell) - self._board.first_cell)

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self._history.is_terminal

    def winner(self) -> int | None:
        """The player who has won; None after a draw.

        Raises
        ------
        GameError
            If the game is not over.
        """
        if not self._history.is_terminal:
            raise GameError("The game is not over, so nobody has won it; state.is_terminal() tells.")
        return self._history.winner

    def action_mask(self) -> list[bool]:
        """For each of the nine cells, whether the player to move may attempt it.

        When the game is over, the player to move is the one whose turn it would be.
        """
        tried = self._history.tried[self._mover]
        squares = range(self._board.game.squares)
        mask = [False] * CELLS
        mask[self._board.cells] = [not tried >> square & 1 for square in squares]
        return mask

    def infoset_desc(self) -> str:
        """What the player to move knows: own attempts, each a cell and ``*`` (placed) or ``.`` (failed)."""
        return self._board.description(self._mover, self._history.infoset(self._mover))

    def compute_openspiel_infostate(self) -> NDArray[np.bool_]:
        """OpenSpiel's information-state tensor of the player to move: bool, shape (OPENSPIEL_INFOSTATE_SIZE,)."""
        return infostate(self._board, self._mover, self._own(self._mover))

    def __str__(self) -> str:
        draw = grid if self._board.kind == "pttt" else honeycomb
        if not self.is_terminal():
            news = f"It is Player {self._mover + 1}'s turn"
        else:
            winner = self.winner()
            news = "GAME OVER -- " + ("TIE" if winner is None else f"Player {winner + 1} wins")
        both = [f"** Player {p + 1}'s board:\n{draw(self._own(p), mark)}" for p, mark in enumerate("XO")]
        return f"** {news}\n" + "\n".join(both)

    __repr__ = __str__

    @property
    def _mover(self) -> int:
        history = self._history
        return 1 - history.attempts[-1].player if history.player is None else history.player

    def _own(self, player: int) -> list[tuple[int, bool]]:
        """The player's attempts at cells, those before the game included."""
        known = [(cell, True) for cell in self._board.known[player]]
        made = [a for a in self._history.attempts if a.player == player]
        return known + [(a.square + self._board.first_cell, a.placed) for a in made]


class PtttState(State, board=boards.pttt("classical")):
    """Phantom tic-tac-toe: after a failed attempt the player moves again."""


class AbruptPtttState(State, board=boards.pttt("abrupt")):
    """Phantom tic-tac-toe: a failed attempt passes the turn."""


class DhState(State, board=boards.dark_hex("classical")):
    """Dark Hex on nine cells: after a failed attempt the player moves again."""


class AbruptDhState(State, board=boards.dark_hex("abrupt")):
    """Dark Hex on nine cells: a failed attempt passes the turn."""


class CornerDhState(State, board=boards.corner_dark_hex()):
    """Dark Hex on nine cells, after player 0 has placed cell 0 and player 1 cell 8, as both know."""


_ROWS, _COLUMNS = 13, 37


def grid(own: list[tuple[int, bool]], mark: str) -> str:
    """The squares of tic-tac-toe: the player's marks, and dots."""
    placed = {cell for cell, success in own if success}
    return "".join("".join(mark if 3 * row + c in placed else "." for c in range(3)) + "\n" for row in range(3))


def honeycomb(own: list[tuple[int, bool]], mark: str) -> str:
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
