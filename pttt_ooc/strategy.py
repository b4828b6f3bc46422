"""A player's strategy: the probability of every action at every infoset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.index import Index


@dataclass(frozen=True)
class Strategy:
    """A behavioural strategy.

    Attributes
    ----------
    index
        The index whose layout of sequences `probabilities` has.
    player
        0 or 1.
    probabilities
        float, shape (sequences,): at each infoset they sum to 1.
    """

    index: Index
    player: int
    probabilities: NDArray[np.floating[Any]]


def uniform_strategy(index: Index, player: int, dtype: Any = np.float64) -> Strategy:
    """The strategy that attempts every legal square with the same probability."""
    mine = index.players[player]
    probabilities = np.empty(mine.sequences, dtype)
    for n in range(mine.slices):
        actions = index.game.squares - len(index.game.opening[player]) - n
        if actions:
            probabilities[mine.sequences_of(n)] = 1 / actions
    return Strategy(index, player, probabilities)
