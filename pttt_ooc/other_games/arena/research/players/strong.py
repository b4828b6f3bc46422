"""The strong player of Extreme TicTacToe: what its search keeps during a game, and the agent."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from pttt_ooc.other_games.arena.agents.base import Agent, Budget, Effort, logistic
from pttt_ooc.other_games.arena.games.base import PLAYER, ArenaError, Game, State
from pttt_ooc.other_games.arena.games.extreme import Extreme
from pttt_ooc.other_games.arena.kernels import extreme as rules
from pttt_ooc.other_games.arena.kernels.clock import PROCESSOR, WALL
from pttt_ooc.other_games.arena.research.kernels import extreme_search as kernels

TABLE = 1 << 21
"""Positions that are remembered; 16 bytes each."""


SCALE = 4000.0
"""Points for a factor e in the odds of winning: fitted to 10,040 positions of 150 games of the bot against itself."""


def chance(value: float) -> float:
    """The chance to win of a player whose position has this value."""
    return logistic(value / SCALE)


class Searcher:
    """Chooses moves of one match.

    Parameters
    ----------
    table
        Positions that are remembered, a power of two.
    clock
        The clock that limits its time: `WALL`, or `PROCESSOR`, which leaves out the time of other programs.

    Attributes
    ----------
    game
        The rules.
    depth, nodes, value
        The depth of the last completed search, the positions visited, and the value to the player who moves, for the
        last choice.
    """

    def __init__(self, table: int = TABLE, clock: int = WALL) -> None:
        self.game, self._clock = Extreme(), clock
        self._room = (
            np.zeros((rules.LENGTH + 2, rules.WORDS), np.int64),
            np.zeros((rules.LENGTH + 2, rules.WIDTH), np.int64),
            np.zeros((rules.LENGTH + 2, rules.WIDTH), np.int64),
            np.zeros((table, 2), np.int64),
            np.zeros((2, rules.MOVES), np.int64),
            np.zeros((512 * 512, 2), np.float32),
            np.zeros((2, 9), np.float32),
        )
        self._control = np.zeros(8, np.int64)
        self._control[kernels.CLOCK] = clock
        kernels.fill_chances(self._room[5])
        self.depth = self.nodes = self.value = 0

    def choose(self, state: np.ndarray, seconds: float, depth: int = rules.LENGTH, nodes: int = 1 << 60) -> int:
        """The best move that is found within a time, a depth and a number of positions.

        Parameters
        ----------
        state
            int64, shape (WORDS,): an unfinished game.
        """
        end = time.clock_gettime_ns(self._clock) + int(seconds * 1e9)
        self._control[kernels.DEADLINE], self._control[kernels.LIMIT] = end, nodes
        kernels.choose(state, depth, *self._room, self._control)
        self.depth, self.nodes = int(self._control[kernels.REACHED]), int(self._control[kernels.NODES])
        self.value = int(self._control[kernels.VALUE])
        return int(self._control[kernels.MOVE])


@dataclass
class Strong(Budget, Agent):
    """The search of the tournament's strong bot; its depth counts single plies.

    Attributes
    ----------
    slots
        Positions that are remembered, a power of two.
    """

    slots: int = 1 << 18

    name = "strong"

    def __post_init__(self) -> None:
        self.check(self.name, {"nodes": 100_000})
        if not 2 <= self.slots <= 1 << 28 or self.slots & (self.slots - 1):
            raise ArenaError("The option slots of strong must be a power of two from 2 to 2**28.")

    def seat(self, game: Game) -> None:
        """Compile the search.

        Raises
        ------
        ArenaError
            It is another game.
        """
        if not isinstance(game, Extreme):
            raise ArenaError(f"The agent strong plays extreme only, not {game.name}.")
        super().seat(game)
        self.begin(0)
        self._searcher.choose(game.start(), 60.0, 1)
        self.begin(0)

    def begin(self, *seed: int) -> None:
        """Forget all positions."""
        super().begin(*seed)
        self._searcher = Searcher(self.slots, WALL if self.clock == "wall" else PROCESSOR)

    def choose(self, state: State) -> int:
        """The best move found within the budget."""
        seconds = 1e6 if self.time is None else self.time
        return self._searcher.choose(state, seconds, self.depth or rules.LENGTH, self.nodes or 1 << 60)

    def points(self, state: State) -> float:
        """An estimate of the points of player 0, where a win is 1 and a draw one half."""
        self.choose(state)
        found = chance(self._searcher.value)
        return found if state[PLAYER] == 0 else 1 - found

    @property
    def effort(self) -> Effort:
        """Positions visited, and the depth of the last complete search."""
        return Effort(self._searcher.nodes, self._searcher.depth)

    @property
    def limited_by_time(self) -> bool:
        """Whether the budget is a time."""
        return self.time is not None
