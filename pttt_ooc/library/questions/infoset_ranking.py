"""The infosets with the largest numbers, up to symmetry.

Infosets that mirror each other are one entry of the ranking, with the sum of their numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.structure.index import MOST_RELABELLED, Index, group_of
from pttt_ooc.games.structure.orders import order_counts
from pttt_ooc.games.structure.relabelling import relabellings
from pttt_ooc.games.structure.strategy import Floats
from pttt_ooc.games.structure.views import Ints, image_of

Entry = tuple[float, int, int]
"""The sum over the different mirror images of an infoset, their count, and the node of one of them."""


class InfosetRanking:
    """Ranks a player's infosets by the size of a number, slice by slice.

    Parameters
    ----------
    index
        With or without symmetry.  With symmetry, mirror images are assumed to have equal numbers.
    top
        Number of entries to return.

    Attributes
    ----------
    least
        Entries of this size or smaller are left out.
    """

    def __init__(self, index: Index, player: int, top: int) -> None:
        self.index, self.top, self.least = index, top, 0.0
        self.mine, self.counts = index.players[player], order_counts(index.game, player)
        # Without symmetry, a view may have more orders than a table of mirror images can number.
        most = int(np.diff(self.mine.node_start).max(initial=0))
        self.group = group_of(index.game, "full" if most <= MOST_RELABELLED else "none")
        images = np.stack([self._key(g) for g in self.group])
        self.fixed = images == images[0]  # shape (symmetries, views)
        self.stands = (images.min(axis=0) == images[0]) & self.mine.decides
        orbits = index.orbits[player]
        folded = index.symmetry == "full"
        self.image = (
            np.broadcast_to(np.arange(images.shape[1]), images.shape) if folded else orbits.view[orbits.find(images)]
        )
        self.turned = self.fixed if folded else np.ones(images.shape, np.bool_)  # where a symmetry changes ranks

    def _key(self, g: tuple[int, ...]) -> Ints:
        return image_of(self.mine.placed, g) << self.index.game.squares | image_of(self.mine.failed, g)

    def of_slice(self, n: int, numbers: Floats) -> list[Entry]:
        """The largest entries of slice `n`, at most `top`, unsorted.

        Parameters
        ----------
        numbers
            float64, shape (nodes of the slice,).
        """
        if not self.top:
            return []
        views = np.array(self.mine.views_of(n))[self.stands[self.mine.slice_start[n] : self.mine.slice_start[n + 1]]]
        start, tables = self._tables(views)
        first = self.mine.nodes_of(n).start
        found: list[Entry] = []
        for k, view in enumerate(views.tolist()):
            nodes = self._images(view, start[:, k], tables) - first
            found += self._largest(nodes, self.fixed[:, view], numbers)
        found = sorted(found, key=lambda one: -abs(one[0]))[: self.top]
        return [(total, images, node + first) for total, images, node in found]

    def _tables(self, views: Ints) -> tuple[Ints, NDArray[np.unsignedinteger[Any]]]:
        """The start of the ranks of each image of the views, shape (symmetries, views), and the ranks."""
        symmetry = np.repeat(np.arange(len(self.group)), len(views))
        placed, failed = (np.tile(masks[views], len(self.group)) for masks in (self.mine.placed, self.mine.failed))
        start, tables = relabellings(self.counts, self.group, placed, failed, symmetry)
        return start.reshape(len(self.group), -1), tables

    def _images(self, view: int, start: Ints, tables: NDArray[np.unsignedinteger[Any]]) -> Ints:
        """The nodes of the images of a view's orders: int64, shape (symmetries, orders)."""
        orders = int(self.mine.node_start[view + 1] - self.mine.node_start[view])
        nodes = np.empty((len(self.group), orders), np.int64)
        for g, begin in enumerate(start.tolist()):
            changed = begin >= 0 and self.turned[g, view]
            ranks = tables[begin : begin + orders] if changed else np.arange(orders)
            nodes[g] = self.mine.node_start[self.image[g, view]] + ranks
        return nodes

    def _largest(self, nodes: Ints, fixed: NDArray[np.bool_], numbers: Floats) -> list[Entry]:
        """The largest entries of a view, at most `top`."""
        same = nodes[fixed]
        times = (same == nodes[0]).sum(axis=0)  # how often each different image appears
        total = numbers[nodes].sum(axis=0) / times
        size = np.where((same >= nodes[0]).all(axis=0), np.abs(total), 0)
        chosen = np.flatnonzero(size > self.least)
        if len(chosen) > self.top:
            chosen = chosen[np.argpartition(-size[chosen], self.top - 1)[: self.top]]
        largest = np.abs(numbers[nodes[:, chosen]]).argmax(axis=0)
        return [
            (float(total[c]), len(self.group) // int(times[c]), int(nodes[g, c]))
            for c, g in zip(chosen.tolist(), largest.tolist(), strict=True)
        ]
