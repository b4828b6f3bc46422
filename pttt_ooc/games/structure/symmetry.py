"""Strategies and symmetry: unfolding, folding, and averages over mirror images."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import StrategyError
from pttt_ooc.games.structure.index import Index, actions_of
from pttt_ooc.games.structure.orders import order_counts, relabelled_ranks
from pttt_ooc.games.structure.relabelling import rank_dtype, relabellings
from pttt_ooc.games.structure.strategy import Floats, Strategy
from pttt_ooc.games.structure.views import Ints, image_of, number_below
from pttt_ooc.jit import kernel

KEPT_BYTES = 16_000_000
"""Most memory for tables that a :class:`Symmetriser` keeps: more than the 3x3 games need."""


@kernel
def _copy_views(source, target, source_start, target_start, orders, table_start, actions, tables):
    """Copy the entries of all actions of views.

    The view's table has the rank that order `r` is copied from; action `j` is copied from `actions[view, j]`.
    """
    for view in range(len(orders)):
        count, table = orders[view], table_start[view]
        for j in range(actions.shape[1]):
            if actions[view, j] < 0:
                break
            target_first, source_first = target_start[view] + j * count, source_start[view] + actions[view, j] * count
            if table < 0:
                for r in range(count):
                    target[target_first + r] = source[source_first + r]
            else:
                for r in range(count):
                    target[target_first + r] = source[source_first + tables[table + r]]


@kernel
def _largest_difference(source, target, source_start, target_start, ranks, actions):
    """Largest difference between the target and the copy that `_copy_views` would write."""
    orders = len(ranks)
    largest = 0.0
    for j in range(len(actions)):
        here = target_start + j * orders
        there = source_start + actions[j] * orders
        for r in range(orders):
            largest = max(largest, abs(target[here + r] - source[there + ranks[r]]))
    return largest


class _Images:
    """For each view of an index without symmetry, the corresponding entries of its representative."""

    def __init__(self, whole: Index, folded: Index, player: int) -> None:
        if whole.game != folded.game:
            raise StrategyError(f"A strategy of game {folded.game.name} cannot be laid out for {whole.game.name}.")
        self.game, self.player = whole.game, player
        self.whole, self.folded = whole.players[player], folded.players[player]
        self.group = folded.group
        keys = self.whole.placed << self.game.squares | self.whole.failed
        at = folded.orbits[player].find(keys)
        self.view = folded.orbits[player].view[at]
        self.symmetry = folded.orbits[player].symmetry[at]
        self.counts = order_counts(self.game, player)

    def symmetries(self, v: int) -> list[int]:
        """All symmetries that map view `v` to its representative: several if the representative is symmetric."""
        view = self.view[v]
        target = (self.folded.placed[view], self.folded.failed[view])
        masks = np.array([self.whole.placed[v], self.whole.failed[v]])
        return [i for i, g in enumerate(self.group) if tuple(image_of(masks, g)) == target]

    def actions(self, v: Ints, symmetry: Ints) -> Ints:
        """The action numbers, in the representatives, of the images of the actions of the views `v`.

        Returns
        -------
        int64, shape (views, squares); -1 after the last action.
        """
        setup = self.game.setup_mask(self.player)
        taken = self.whole.placed[v] | self.whole.failed[v] | setup
        theirs = (self.folded.placed | self.folded.failed)[self.view[v]] | setup
        found = np.full((len(v), self.game.squares), -1)
        for square in range(self.game.squares):
            free = np.flatnonzero(taken >> square & 1 == 0)
            image = np.array(self.group)[symmetry[free], square]
            found[free, number_below(~taken[free], square)] = number_below(~theirs[free], image)
        return found

    def fold(self, probabilities: Floats) -> Floats:
        """The probabilities at the representatives, from probabilities on the index without symmetry."""
        found = np.empty(self.folded.sequences, probabilities.dtype)
        for v in np.flatnonzero(self.whole.decides):
            view = int(self.view[v])
            if self.folded.placed[view] == self.whole.placed[v] and self.folded.failed[view] == self.whole.failed[v]:
                target = slice(int(self.folded.sequence_start[view]), int(self.folded.sequence_start[view + 1]))
                found[target] = probabilities[self.whole.sequence_start[v] : self.whole.sequence_start[v + 1]]
        return found

    def of(self, v: int, symmetry: int) -> tuple[int, int, NDArray[np.int64], NDArray[np.int64]]:
        """First sequences of the representative and of view `v`; ranks and actions in the representative."""
        placed, failed, g = int(self.whole.placed[v]), int(self.whole.failed[v]), self.group[symmetry]
        ranks = relabelled_ranks(placed, failed, np.array(g), *self.counts.tables)
        view = self.view[v]
        tried = int(self.folded.placed[view] | self.folded.failed[view])
        theirs = actions_of(self.game, self.player, tried)
        actions = np.array([theirs.index(g[s]) for s in actions_of(self.game, self.player, placed | failed)], np.int64)
        return int(self.folded.sequence_start[view]), int(self.whole.sequence_start[v]), ranks, actions


class Symmetriser:
    """Averages a strategy over its mirror images.

    On an index with symmetry, a view represents its orbit, but a view that is symmetric itself has
    infosets that mirror each other.  They start equal, and rounding makes them differ.

    Up to `KEPT_BYTES` of tables of ranks are kept; other tables are computed each time.
    """

    def __init__(self, index: Index, player: int) -> None:
        self.index, self.player = index, player
        self._mine, self._counts = index.players[player], order_counts(index.game, player)
        i = self._mine
        images = np.stack([image_of(i.placed, g) << index.game.squares | image_of(i.failed, g) for g in index.group])
        self._fixed = images == images[0]  # by each symmetry, each view
        self._views = np.flatnonzero(i.decides & (self._fixed.sum(axis=0) > 1))
        self._cache: dict[tuple[int, int], NDArray[np.unsignedinteger[Any]]] = {}
        self._bytes_left = KEPT_BYTES

    def __call__(self, probabilities: Floats) -> None:
        """Replace `probabilities`, shape (sequences,), by the average."""
        self.of_views(range(len(self._mine.placed)), probabilities)

    def of_views(self, views: range, probabilities: Floats) -> None:
        """The same for adjacent views; `probabilities` has shape (their sequences,)."""
        for v, block in self._blocks(views, probabilities):
            total, images = np.zeros(block.shape), 0
            for image in self._images(v, block):
                total += image
                images += 1
            block[:] = total / images

    def keeps(self, probabilities: Floats) -> bool:
        """Whether it has nothing to average: infosets that mirror each other have the same numbers."""
        blocks = self._blocks(range(len(self._mine.placed)), probabilities)
        return all(np.array_equal(image, block) for v, block in blocks for image in self._images(v, block))

    def _blocks(self, views: range, probabilities: Floats) -> Iterator[tuple[int, Floats]]:
        """The symmetric ones of adjacent views, and their probabilities, shape (actions, orders)."""
        i = self._mine
        begin, end = np.searchsorted(self._views, [views.start, views.stop])
        for v in self._views[begin:end].tolist():
            first = int(i.sequence_start[v] - i.sequence_start[views.start])
            block = probabilities[first : first + int(i.sequence_start[v + 1] - i.sequence_start[v])]
            yield v, block.reshape(len(self._actions(v)), -1)

    def _images(self, view: int, block: Floats) -> Iterator[Floats]:
        """The probabilities of a symmetric view under each symmetry that maps it to itself."""
        actions = self._actions(view)
        for g in np.flatnonzero(self._fixed[:, view]).tolist():
            columns = [actions.index(self.index.group[g][square]) for square in actions]
            yield block[columns][:, self._ranks(view, g)]

    def _actions(self, view: int) -> list[int]:
        tried = int(self._mine.placed[view] | self._mine.failed[view])
        return list(actions_of(self.index.game, self.player, tried))

    def _ranks(self, view: int, symmetry: int) -> NDArray[np.unsignedinteger[Any]]:
        if (view, symmetry) in self._cache:
            return self._cache[view, symmetry]
        placed, failed, g = int(self._mine.placed[view]), int(self._mine.failed[view]), self.index.group[symmetry]
        found = relabelled_ranks(placed, failed, np.array(g), *self._counts.tables)
        ranks: NDArray[np.unsignedinteger[Any]] = found.astype(rank_dtype(len(found)))
        if ranks.nbytes <= self._bytes_left:
            self._cache[view, symmetry], self._bytes_left = ranks, self._bytes_left - ranks.nbytes
        return ranks


def is_symmetric(strategy: Strategy) -> bool:
    """Whether a strategy has exactly the same probabilities at infosets that mirror each other within a view.

    Views that mirror each other share their probabilities, if the index has symmetry.
    """
    return Symmetriser(strategy.index, strategy.player).keeps(strategy.probabilities)


def unfold(strategy: Strategy, whole: Index, into: Floats | None = None) -> Strategy:
    """Unfold a symmetric strategy: write its probabilities for all views.

    Parameters
    ----------
    strategy
        A strategy on an index with symmetry.
    whole
        The index of the same game without symmetry.
    into
        The array to write to; default: a new one.
    """
    images = _Images(whole, strategy.index, strategy.player)
    mine, folded = whole.players[strategy.player], strategy.index.players[strategy.player]
    probabilities = np.empty(mine.sequences, strategy.probabilities.dtype) if into is None else into
    v = np.flatnonzero(mine.decides)
    dtype = rank_dtype(int(np.diff(mine.node_start)[v].max(initial=0)))
    moved = (mine.placed[v], mine.failed[v], images.symmetry[v])
    table_start, tables = relabellings(images.counts, images.group, *moved, dtype)
    views = (folded.sequence_start[images.view[v]], mine.sequence_start[v], np.diff(mine.node_start)[v], table_start)
    _copy_views(strategy.probabilities, probabilities, *views, images.actions(v, images.symmetry[v]), tables)
    return Strategy(whole, strategy.player, probabilities)


def probabilities_at(strategy: Strategy, whole: Index, node: int) -> Floats:
    """The probabilities at one infoset: float, shape (squares,).

    Parameters
    ----------
    strategy
        A strategy on an index with or without symmetry.
    whole
        The index of the same game without symmetry.
    node
        Number of the infoset's node in `whole`.
    """
    images, mine = _Images(whole, strategy.index, strategy.player), whole.players[strategy.player]
    view = int(np.searchsorted(mine.node_start, node, side="right")) - 1
    source_start, _, ranks, actions = images.of(view, int(images.symmetry[view]))
    at = source_start + actions * len(ranks) + ranks[node - int(mine.node_start[view])]
    out = np.zeros(whole.game.squares)
    out[actions_of(whole.game, strategy.player, int(mine.placed[view] | mine.failed[view]))] = strategy.probabilities[
        at
    ]
    return out


def fold(strategy: Strategy, folded: Index, tolerance: float = 1e-6, into: Floats | None = None) -> Strategy:
    """Fold a strategy: keep its probabilities at the representatives only, in `into` or a new array.

    Raises
    ------
    StrategyError
        If two infosets that mirror each other differ by more than `tolerance`.
    """
    images = _Images(strategy.index, folded, strategy.player)
    mine = strategy.index.players[strategy.player]
    probabilities = images.fold(strategy.probabilities)
    if into is not None:
        into[:] = probabilities
        probabilities = into
    for v in np.flatnonzero(mine.decides):
        places = [images.of(int(v), symmetry) for symmetry in images.symmetries(int(v))]
        difference = max(_largest_difference(probabilities, strategy.probabilities, *place) for place in places)
        if difference > tolerance:
            raise StrategyError(
                f"Player {strategy.player}'s strategy is not symmetric: infosets that mirror each other differ by "
                f"{difference:.3g}; evaluate it with symmetry none."
            )
    return Strategy(folded, strategy.player, probabilities)
