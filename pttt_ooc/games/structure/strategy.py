"""A player's strategy: the probability of every action at every infoset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pttt_ooc.disk.block_mover import Use
from pttt_ooc.disk.memory import virtual_array
from pttt_ooc.games.structure.index import Index, Layout

Floats = NDArray[np.floating[Any]]


class SlicedStrategy(Protocol):
    """A strategy that returns its probabilities part by part, perhaps with only one part in memory."""

    @property
    def index(self) -> Index:
        """The index that defines the layout of the probabilities."""

    @property
    def player(self) -> int:
        """0 or 1."""

    def of_views(self, views: range) -> Floats:
        """The probabilities of adjacent views of one slice: float, shape (their sequences,).

        The next call may overwrite them.
        """

    def uses(self, views: range) -> Iterator[Use]:
        """The parts of arrays that :meth:`of_views` needs in memory."""


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

    def of_views(self, views: range) -> Floats:
        """See :meth:`SlicedStrategy.of_views`."""
        return self.probabilities[self.index.players[self.player].sequences_at(views)]

    def uses(self, views: range) -> Iterator[Use]:
        """See :meth:`SlicedStrategy.uses`."""
        yield Use(self.of_views(views))


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
