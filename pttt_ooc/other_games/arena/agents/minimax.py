"""The agents of Lifshitz and Tsurel that search: minimax, alpha-beta and expectimax, with their tables.

Depth counts two plies, a move of each player.  An agent with a time or a number of nodes repeats its search with
growing depth, and plays the result of its last complete search.  Among equally good moves it draws one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pttt_ooc.other_games.arena.agents.base import values_of
from pttt_ooc.other_games.arena.agents.search_limits import Bounded
from pttt_ooc.other_games.arena.games.base import ArenaError, Game, State
from pttt_ooc.other_games.arena.kernels import minimax
from pttt_ooc.other_games.arena.kernels.transposition_table import memory

_MEMORIES = {
    "none": minimax.NOTHING,
    "plain": minimax.PLAIN,
    "fifo": minimax.FIFO,
    "symmetry": minimax.SYMMETRY,
    "zobrist": minimax.ZOBRIST,
}


@dataclass
class _SearchAgent(Bounded):
    """Options of all agents that search.

    Attributes
    ----------
    heur
        The number of the heuristic.
    """

    heur: int = 3

    method: ClassVar[int]

    def __post_init__(self) -> None:
        self.check(self.name, {"depth": 2})

    def seat(self, game: Game) -> None:
        """Compile the search for the game, and make room for its levels."""
        super().seat(game)
        values = values_of(game, self.heur)
        self._deepest = (game.rules.LENGTH + 1) // 2
        if self.depth is not None and self.depth > self._deepest:
            raise ArenaError(f"The depth {self.depth} is too large: no game is longer than the depth {self._deepest}.")
        self._choose = minimax.search_kernel(game.rules, values)
        levels = 2 * (self.depth or self._deepest) + 2
        self._states = np.zeros((levels, game.rules.WORDS), dtype=np.int64)
        self._moves = np.zeros((levels, game.rules.WIDTH), dtype=np.int64)
        self.begin(0)
        self._search(game.start(), 1, 1)  # compiles
        self.begin(0)

    def begin(self, *seed: int) -> None:
        """Forget everything."""
        super().begin(*seed)
        self._kind, self._memory = self.remembers()

    def remembers(self) -> tuple[int, Any]:
        """Which positions the agent remembers, and the empty table."""
        return minimax.NOTHING, _NO_MEMORY

    def choose(self, state: State) -> int:
        """The best move found within the budget."""
        first, last = (self.depth, self.depth) if self.depth is not None else (1, self._deepest)
        return self._search(state, first, last)

    def _search(self, state: State, first: int, last: int) -> int:
        self._states[0] = state
        move = self._choose(
            self._states,
            self._moves,
            self.rng,
            first,
            last,
            self.method,
            self.heur,
            self._limits(),
            self._kind,
            self._memory,
        )
        return int(move)


_NO_MEMORY = memory(1)


@dataclass
class Minimax(_SearchAgent):
    """Visits the whole tree."""

    name = "minimax"
    method = minimax.MINIMAX


@dataclass
class Expectimax(_SearchAgent):
    """Assumes that the opponent draws moves uniformly."""

    name = "expectimax"
    method = minimax.EXPECTIMAX


@dataclass
class AlphaBeta(_SearchAgent):
    """Skips moves that cannot change the result.

    Attributes
    ----------
    memory
        What it remembers during a game: ``none``; ``plain``: positions until the table is full; ``fifo``: the latest
        ones; ``symmetry``: the same, and it looks for all images of a position; ``zobrist``: the latest ones, by a key
        that the moves keep up to date.
    entries
        The most positions that it remembers.
    """

    memory: str = "none"
    entries: int = 1_000_000

    name = "alphabeta"
    method = minimax.ALPHA_BETA

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.memory not in _MEMORIES:
            raise ArenaError(f"The option memory of alphabeta is one of {', '.join(_MEMORIES)}, not '{self.memory}'.")
        if not 0 < self.entries < 1 << 30:
            raise ArenaError("The option entries of alphabeta must be above zero and below 2**30.")

    def seat(self, game: Game) -> None:
        """Compile the search for the game, and make room for its levels; refuse `symmetry` where there is none."""
        if self.memory == "symmetry" and getattr(game.rules, "SYMMETRIES", 1) == 1:
            raise ArenaError(f"The agent alphabeta looks for no images in {game.name}: choose another memory.")
        super().seat(game)

    def remembers(self) -> tuple[int, Any]:
        """An empty table for each game."""
        if self.memory == "none":
            return minimax.NOTHING, _NO_MEMORY
        return _MEMORIES[self.memory], memory(self.entries)
