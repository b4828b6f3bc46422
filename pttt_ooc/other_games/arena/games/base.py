"""The base class of games: rules that kernels can play, and their interface in Python.

The rules of a game are a module in ``arena/kernels/``, of pieces of kernels (see :mod:`pttt_ooc.jit`), with
these names:

``WORDS``
    Length of a state.
``MOVES``
    Moves are the numbers 0 to ``MOVES - 1``.
``WIDTH``
    No position has more legal moves than this.
``LENGTH``
    No game has more moves than this.
``setup(state, options)``
    Write the first position of the game with these options.
``legal(state, moves) -> int``
    Write the legal moves in ascending order, and return their number: zero after the end.
``count(state) -> int``
    The number of legal moves.
``pick(state, index) -> int``
    The legal move at this place of the ascending order.
``play(state, move)``
    Make a legal move.  It changes nothing but the state, which can be copied: there is no undo.

A state is an array of int64, shape (WORDS,).  Its first words mean the same in all games: see
:mod:`pttt_ooc.other_games.arena.kernels.state_words`.  The options are words of the state, so one compiled kernel
serves all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from types import ModuleType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import PtttError
from pttt_ooc.other_games.arena.games.boards import Board
from pttt_ooc.other_games.arena.kernels.state_words import DRAW as DRAW
from pttt_ooc.other_games.arena.kernels.state_words import FIRST as FIRST
from pttt_ooc.other_games.arena.kernels.state_words import KEY as KEY
from pttt_ooc.other_games.arena.kernels.state_words import PLAYER as PLAYER
from pttt_ooc.other_games.arena.kernels.state_words import PLY as PLY
from pttt_ooc.other_games.arena.kernels.state_words import RESULT as RESULT
from pttt_ooc.other_games.arena.kernels.state_words import SECOND as SECOND
from pttt_ooc.other_games.arena.kernels.state_words import UNFINISHED as UNFINISHED

State: TypeAlias = NDArray[np.int64]


class ArenaError(PtttError):
    """A game, move, agent or match of the arena is impossible."""


class Game(ABC):
    """A game with its options: the interface to its rules.

    Attributes
    ----------
    name
        The game's name, without options.
    rules
        The module with the pieces of kernels.
    options
        int64: the argument of ``rules.setup``.
    """

    name: str
    rules: ModuleType

    def __init__(self, options: Iterable[int] = ()) -> None:
        self.options = np.array(list(options), dtype=np.int64)

    @property
    @abstractmethod
    def text(self) -> str:
        """The name with the options, as :func:`pttt_ooc.other_games.arena.games.catalogue.game` reads it."""

    def start(self) -> State:
        """The first position."""
        state = np.zeros(self.rules.WORDS, dtype=np.int64)
        self.rules.setup(state, self.options)
        return state

    def legal(self, state: State) -> list[int]:
        """The legal moves in ascending order; none after the end."""
        moves = np.zeros(self.rules.WIDTH, dtype=np.int64)
        return [int(move) for move in moves[: self.rules.legal(state, moves)]]

    def play(self, state: State, move: int) -> State:
        """The position after a move.

        Raises
        ------
        ArenaError
            The move is not legal.
        """
        if move not in self.legal(state):
            if state[RESULT] != UNFINISHED:
                raise ArenaError(f"The game is over: the move {self.show_move(move)} cannot be made.")
            raise ArenaError(f"The move {self.show_move(move)} is not legal here: {self.why_not(state, move)}.")
        after = state.copy()
        self.rules.play(after, move)
        return after

    def after(self, moves: Iterable[int]) -> State:
        """The position after these moves from the start.

        Raises
        ------
        ArenaError
            One of them is not legal; the sentence says which.
        """
        state = self.start()
        for number, move in enumerate(moves, start=1):
            try:
                state = self.play(state, move)
            except ArenaError as error:
                raise ArenaError(f"Move {number} of the list is impossible. {error}") from None
        return state

    def why_not(self, state: State, move: int) -> str:
        """Why a move is not legal, as the end of a sentence."""
        if not 0 <= move < self.rules.MOVES:
            return f"moves are the numbers 0 to {self.rules.MOVES - 1}"
        legal = self.legal(state)
        return "the legal moves are " + ", ".join(map(str, legal[:20])) + (", ..." if len(legal) > 20 else "")

    def show_move(self, move: int) -> str:
        """A move in the game's notation."""
        return str(move)

    def tell_move(self, move: int) -> str:
        """A move as pages show it."""
        return self.show_move(move)

    def read_move(self, text: str) -> int:
        """A move from its number or from the game's notation.

        Raises
        ------
        ArenaError
            The text is neither.
        """
        try:
            return int(text)
        except ValueError:
            raise ArenaError(f"'{text}' is not a move: give a number from 0 to {self.rules.MOVES - 1}.") from None

    @abstractmethod
    def show(self, state: State) -> str:
        """The board as text of several lines."""

    @abstractmethod
    def draw(self, state: State, latest: int | None = None) -> list[Board]:
        """The boards as pages draw them; `latest` is the move that led here."""


def mover_score(state: State, player: int) -> float:
    """The score of a finished game for a player: 1 for a win, 0 for a loss, 0.5 for a draw."""
    result = int(state[RESULT])
    return 0.5 if result == DRAW else float(result == FIRST + player)
