"""A player's strategy: the probability of every action at every infoset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pttt_ooc.disk.memory import virtual_array
from pttt_ooc.games.structure.index import Index, Layout

Floats = NDArray[np.floating[Any]]


class SlicedStrategy(Protocol):
    """A strategy that returns its probabilities slice by slice, perhaps with only one slice in memory."""

    @property
    def index(self) -> Index:
        """The index that defines the layout of the probabilities."""

    @property
    def player(self) -> int:
        """0 or 1."""

    def of_slice(self, n: int) -> Floats:
        """The probabilities of slice `n`: float, shape (sequences of the slice,).  The next call may overwrite them."""


@dataclass(frozen=True, eq=False)
class Strategy:
    """A behaviour strategy.

    Attributes
    ----------
    index
        The index that defines the layout of `probabilities`.
    player
        0 or 1.
    probabilities
        float, shape (sequences,): at each infoset they sum to 1.
    """

    index: Index
    player: int
    probabilities: Floats

    def of_slice(self, n: int) -> Floats:
        """See :meth:`SlicedStrategy.of_slice`."""
        return self.probabilities[self.index.players[self.player].sequences_of(n)]


def strategy_arrays(index: Layout, dtype: DTypeLike = np.float32) -> tuple[Floats, Floats]:
    """Virtual arrays for the probabilities of both players' strategies."""
    first, second = (virtual_array(mine.sequences, dtype) for mine in index.players)
    return first, second


def uniform_strategy(index: Index, player: int, dtype: Any = np.float32, into: Floats | None = None) -> Strategy:
    """The strategy that attempts every legal square with the same probability, in `into` or a new array."""
    mine = index.players[player]
    probabilities = np.empty(mine.sequences, dtype) if into is None else into
    for n in range(mine.slices):
        actions = index.game.squares - len(index.game.setup[player]) - n
        if actions:
            probabilities[mine.sequences_of(n)] = 1 / actions
    return Strategy(index, player, probabilities)
