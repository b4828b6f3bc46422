"""The strong bot's search: what it keeps during a match, around the kernels."""

from __future__ import annotations

import time

import numpy as np

from pttt_ooc.arena.games.extreme import Extreme
from pttt_ooc.arena.kernels import extreme as rules
from pttt_ooc.arena.kernels import extreme_search as kernels
from pttt_ooc.arena.kernels.clock import WALL

TABLE = 1 << 21
"""Positions that are remembered; 16 bytes each."""


class Searcher:
    """Chooses moves of one match.

    Parameters
    ----------
    table
        Positions that are remembered, a power of two.
    clock
        That shows how long it thinks: `WALL`, or `PROCESSOR` for time that others on the machine do not count in.

    Attributes
    ----------
    game
        The rules.
    depth, nodes, value
        Of the last choice: the depth of the last search that was completed, the positions visited, and the value to the
        player who moves.
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


def ready(searcher: Searcher) -> Searcher:
    """The searcher, with its kernels compiled, or loaded."""
    searcher.choose(searcher.game.start(), 60.0, 1)
    return searcher


def main() -> None:
    """Compile the kernels, and let bots behind walls read them, who are another user."""
    from pttt_ooc.jit import DIRECTORIES, make_readable

    ready(Searcher(1 << 10))
    for place in DIRECTORIES:
        make_readable(place)


if __name__ == "__main__":
    main()
