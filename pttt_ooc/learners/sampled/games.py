"""Many games side by side, for learners that choose actions in batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.structure.index import Index
from pttt_ooc.learners.sampled import kernels
from pttt_ooc.learners.sampled.rules import rules_of

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Observation:
    """What the movers of some games observe; one row for each game.

    Attributes
    ----------
    movers
        int64 (games,).
    infosets
        int64 (games,): the number of the mover's node in the index.
    counts
        int64 (games,): the number of actions.
    squares
        int64 (games, squares of the board): the square of each action on the board; only the first `counts` are valid.
    """

    movers: Ints
    infosets: Ints
    counts: Ints
    squares: Ints


class Games:
    """Games side by side; a game that ends starts again at once.

    Parameters
    ----------
    index
        With symmetry or without; it numbers the infosets.
    number
        The number of games.
    """

    def __init__(self, index: Index, number: int) -> None:
        self.rules = rules_of(index)
        self._places = np.empty((number, kernels.FIELDS), np.int64)
        self._squares = index.game.squares
        kernels.begin_games(self.rules, self._places)

    def observe(self) -> Observation:
        """The movers' observations, in new arrays."""
        games = len(self._places)
        movers, infosets, counts = (np.empty(games, np.int64) for _ in range(3))
        result = Observation(movers, infosets, counts, np.empty((games, self._squares), np.int64))
        kernels.look_at_games(self.rules, self._places, result.movers, result.infosets, result.counts, result.squares)
        return result

    def step(self, actions: Ints) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """Make a move in each game.

        Parameters
        ----------
        actions
            int64 (games,): the number of each mover's action, below its count.

        Returns
        -------
        ended, payoffs
            bool and float32 (games,): which games ended, and the payoffs of player 0 there.

        Raises
        ------
        ValueError
            If an action does not exist.
        """
        counts = self.observe().counts
        if actions.shape != counts.shape or (actions < 0).any() or (actions >= counts).any():
            raise ValueError("an action is not below the number of its mover's actions")
        ended, payoffs = np.empty(len(actions), np.bool_), np.empty(len(actions), np.float32)
        kernels.attempt_in_games(self.rules, self._places, actions.astype(np.int64), ended, payoffs)
        return ended, payoffs


def random_state(seed: int) -> NDArray[Any]:
    """The initial state of the kernels' random numbers."""
    return np.random.SeedSequence(seed).generate_state(1, np.uint64)
