"""The index of a player's nodes and sequences.

Nodes (a view together with an order) are numbered slice by slice, view by view, order by order.
Sequences (an infoset and an action) are numbered likewise; within a view they run action by action,
so that every action of a view is one contiguous block, aligned with the view's orders.

With a symmetry group, one view of each orbit represents the orbit (its *representative*).  Children
and parents that are not representatives are found through a table of relabelled order ranks.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import GameError
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure.orders import order_counts, unrank
from pttt_ooc.games.structure.relabelling import relabellings
from pttt_ooc.games.structure.views import Ints, Pairs, attempts, find_pairs, image_of, number_below
from pttt_ooc.types import Symmetry

MOST_RELABELLED = 1 << 16
"""Most orders of a view whose mirror images are needed: ranks have 16 bits in `relabelling`."""


@dataclass(frozen=True, eq=False)
class PlayerLayout:
    """Views of one player, and the starts of their nodes and sequences.

    "View" below is the position of a representative view in these arrays.  Views are sorted by
    slice (number of attempts); within a slice the views at which the player decides come first.

    Attributes
    ----------
    placed, failed : int64 (views,)
        The view, as bit masks without the setup's squares.
    decides : bool (views,)
        Whether the player is ever to move there, so that the view's nodes are infosets.
    slice_start : int64 (slices + 1,)
        First view of each slice.
    node_start : int64 (views + 1,)
        First node of each view.
    sequence_start : int64 (views + 1,)
        First sequence of each view; views that do not decide have no sequences.
    """

    placed: Ints
    failed: Ints
    decides: NDArray[np.bool_]
    slice_start: Ints
    node_start: Ints
    sequence_start: Ints

    @property
    def slices(self) -> int:
        """Number of depth slices."""
        return len(self.slice_start) - 1

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return int(self.node_start[-1])

    @property
    def sequences(self) -> int:
        """Number of sequences, without the empty one."""
        return int(self.sequence_start[-1])

    def views_of(self, n: int) -> range:
        """Views of slice `n`."""
        return range(int(self.slice_start[n]), int(self.slice_start[n + 1]))

    def nodes_of(self, n: int) -> slice:
        """Nodes of slice `n`."""
        return slice(int(self.node_start[self.slice_start[n]]), int(self.node_start[self.slice_start[n + 1]]))

    def sequences_of(self, n: int) -> slice:
        """Sequences of slice `n`."""
        return self.sequences_at(self.views_of(n))

    def sequences_at(self, views: range) -> slice:
        """Sequences of adjacent views."""
        return slice(int(self.sequence_start[views.start]), int(self.sequence_start[views.stop]))

    def slice_of(self, view: int) -> int:
        """The slice of a view."""
        return int(np.searchsorted(self.slice_start, view, side="right")) - 1

    def sequences_by_slice(self) -> Ints:
        """Number of sequences, slice by slice."""
        return np.diff(self.sequence_start[self.slice_start])

    def infosets_by_slice(self) -> Ints:
        """Number of infosets among the representatives, slice by slice."""
        sizes = np.where(self.decides, np.diff(self.node_start), 0)
        return np.array([int(sizes[self.slice_start[n] : self.slice_start[n + 1]].sum()) for n in range(self.slices)])


class ArrayTables:
    """Base of dataclasses of arrays, which are made read-only.

    Mapped arrays are read-only too, so that kernels are compiled for one kind only.
    """

    def __post_init__(self) -> None:
        for array in self.arrays().values():
            array.flags.writeable = False

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name, for a store."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class PlayerIndex(ArrayTables, PlayerLayout):
    """Views, nodes and sequences of one player, with parents and children.

    M is the number of squares of the board.  The first attributes are those of :class:`PlayerLayout`.

    Attributes
    ----------
    child_start : int64 (views, M, 2)
        First node of the block of children after an action, for outcome 0 (failed) and 1 (placed);
        -1 where there is no such action or no such child.
    child_map : int64 (views, M, 2)
        Start of these children's ranks in `relabelling`; -1: the ranks are the parent's.
    parent_start : int64 (views, M)
        For each own square in ascending order: first sequence of the block of parents if that
        square was the last attempt; -1 if it cannot have been.
    parent_map : int64 (views, M)
        Start of these parents' ranks in `relabelling`; -1: identity.
    block_start : int64 (views, M + 1)
        Start, among the view's orders, of the orders that end with each own square.
    relabelling : uint16 (any,)
        Tables of order ranks.
    """

    child_start: Ints
    child_map: Ints
    parent_start: Ints
    parent_map: Ints
    block_start: Ints
    relabelling: NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class Orbits(ArrayTables):
    """The views of one player, each with its orbit's representative.

    Attributes
    ----------
    keys
        int64 (all views,): ``placed << M | failed``, ascending.
    view
        int64 (all views,): the representative's position in the :class:`PlayerIndex`.
    symmetry
        int64 (all views,): number of the symmetry that maps the view to its representative.
    """

    keys: Ints
    view: Ints
    symmetry: Ints

    def find(self, keys: Ints) -> Ints:
        """Positions of `keys` among the views; -1 for a missing view."""
        at = np.searchsorted(self.keys, keys)
        at[at == len(self.keys)] = 0
        return np.where(self.keys[at] == keys, at, -1)


@dataclass(frozen=True, eq=False)
class Layout:
    """Both players' layouts under one symmetry group: quick to compute, and enough to size all arrays."""

    game: Game
    symmetry: Symmetry
    players: tuple[PlayerLayout, PlayerLayout]
    orbits: tuple[Orbits, Orbits]

    @property
    def group(self) -> tuple[tuple[int, ...], ...]:
        """The symmetry group in use."""
        return group_of(self.game, self.symmetry)


@dataclass(frozen=True, eq=False)
class Index(Layout):
    """Both players' indices under one symmetry group."""

    players: tuple[PlayerIndex, PlayerIndex]


def group_of(game: Game, symmetry: Symmetry) -> tuple[tuple[int, ...], ...]:
    """The permutations of squares that `symmetry` names; the identity comes first."""
    return game.symmetries if symmetry == "full" else game.symmetries[:1]


def actions_of(game: Game, player: int, tried: int) -> list[int]:
    """The squares that may be attempted after those in the mask `tried`, ascending."""
    taken = tried | game.setup_mask(player)
    return [s for s in range(game.squares) if not taken >> s & 1]


def node_text(index: Index, player: int, node: int) -> str:
    """Text of a node's infoset, on an index with or without symmetry."""
    game, mine = index.game, index.players[player]
    view = int(np.searchsorted(mine.node_start, node, side="right")) - 1
    placed, failed = int(mine.placed[view]), int(mine.failed[view])
    squares = np.zeros(game.squares, np.int64)
    n = unrank(node - int(mine.node_start[view]), placed, failed, *order_counts(game, player).tables, squares)
    attempts = [f"{s}{'*' if placed >> s & 1 else '.'}" for s in squares[:n].tolist()]
    return "|" + "".join([f"{s}*" for s in game.setup[player]] + attempts)


def infoset_counts(game: Game, pairs: Pairs, player: int) -> Ints:
    """Number of infosets of the whole game (no symmetry), by number of own attempts."""
    counts = order_counts(game, player)
    mine = pairs.mover == player
    views = np.unique(np.stack([pairs.placed[player][mine], pairs.failed[player][mine]]), axis=1)
    sizes = counts.of(views[0], views[1])
    return np.bincount(attempts(views[0], views[1]), weights=sizes).astype(np.int64)


def build_index(game: Game, symmetry: Symmetry, pairs: Pairs | None = None) -> Index:
    """Index all nodes and sequences of both players.

    Raises
    ------
    GameError
        If views have more orders than the tables of a symmetry group can number.
    """
    pairs = find_pairs(game) if pairs is None else pairs
    built = [_PlayerBuilder(game, symmetry, pairs, player) for player in (0, 1)]
    return Index(game, symmetry, (built[0].index, built[1].index), (built[0].orbits, built[1].orbits))


def layout_of(game: Game, symmetry: Symmetry, pairs: Pairs) -> Layout:
    """The result of :func:`build_index`, without parents and children."""
    built = [_LayoutBuilder(game, symmetry, pairs, player) for player in (0, 1)]
    return Layout(game, symmetry, (built[0].layout, built[1].layout), (built[0].orbits, built[1].orbits))


class _LayoutBuilder:
    def __init__(self, game: Game, symmetry: Symmetry, pairs: Pairs, player: int) -> None:
        self.game, self.player = game, player
        self.group = group_of(game, symmetry)
        self.counts = order_counts(game, player)
        self.orbits, self.placed, self.failed, self.decides = self._find_orbits(pairs)
        self.tried = self.placed | self.failed
        self.orders = self.counts.of(self.placed, self.failed)
        n = attempts(self.placed, self.failed)
        actions = game.squares - len(game.setup[player]) - n
        node_start = np.concatenate([[0], np.cumsum(self.orders)])
        sequence_start = np.concatenate([[0], np.cumsum(np.where(self.decides, self.orders * actions, 0))])
        slice_start = np.searchsorted(n, np.arange(int(n.max()) + 2))
        self.layout = PlayerLayout(self.placed, self.failed, self.decides, slice_start, node_start, sequence_start)

    def _find_orbits(self, pairs: Pairs) -> tuple[Orbits, Ints, Ints, NDArray[np.bool_]]:
        size, player = self.game.squares, self.player
        # Views at which the player never moves matter only if the opponent can win there.
        mine = pairs.mover == player
        matters = mine | (pairs.winning_squares != 0)
        keys = np.unique(pairs.placed[player][matters] << size | pairs.failed[player][matters])
        deciding = np.unique(pairs.placed[player][mine] << size | pairs.failed[player][mine])
        placed, failed = keys >> size, keys & ((1 << size) - 1)
        images = np.stack([image_of(placed, g) << size | image_of(failed, g) for g in self.group])
        representative = images.min(axis=0)
        chosen = np.unique(representative)
        placed, failed = chosen >> size, chosen & ((1 << size) - 1)
        decides = np.isin(chosen, deciding)
        rank = np.lexsort((chosen, ~decides, attempts(placed, failed)))
        position = np.empty(len(rank), np.int64)
        position[rank] = np.arange(len(rank))
        view = position[np.searchsorted(chosen, representative)]
        orbits = Orbits(keys, view, images.argmin(axis=0).astype(np.int64))
        return orbits, placed[rank], failed[rank], decides[rank]


class _PlayerBuilder(_LayoutBuilder):
    def __init__(self, game: Game, symmetry: Symmetry, pairs: Pairs, player: int) -> None:
        super().__init__(game, symmetry, pairs, player)
        self.taken = self.tried | game.setup_mask(player)
        self.index = self._build()

    def _build(self) -> PlayerIndex:
        of = self.layout
        block_start = self._blocks()
        child_start, child_symmetry = self._children(of.node_start, block_start)
        parent_start, parent_symmetry = self._parents(of.sequence_start, self.orders)
        child_map, parent_map, relabelling = self._relabellings(child_symmetry, parent_symmetry)
        return PlayerIndex(
            *(of.placed, of.failed, of.decides, of.slice_start, of.node_start, of.sequence_start),
            *(child_start, child_map, parent_start, parent_map, block_start, relabelling),
        )

    def _blocks(self) -> Ints:
        """`block_start` of the index."""
        size = self.game.squares
        blocks = np.zeros((len(self.tried), size + 1), np.int64)
        for square in range(size):
            v = np.flatnonzero(self.tried >> square & 1)
            blocks[v, number_below(self.tried[v], square) + 1] = self.counts.ending_with(
                self.placed[v], self.failed[v], square
            )
        return np.cumsum(blocks, axis=1)

    def _representative(self, placed: Ints, failed: Ints, square: int) -> tuple[Ints, Ints, Ints, NDArray[np.bool_]]:
        """Each view's representative, the symmetry to it, the image of `square`, and whether the view exists."""
        at = self.orbits.find(placed << self.game.squares | failed)
        symmetry = self.orbits.symmetry[at]
        return self.orbits.view[at], symmetry, np.array(self.group)[symmetry, square], at >= 0

    def _children(self, node_start: Ints, block_start: Ints) -> tuple[Ints, Ints]:
        """`child_start` of the index; the symmetry from each child to its representative, -1 for a missing child."""
        start, symmetry = (np.full((len(self.tried), self.game.squares, 2), -1) for _ in range(2))
        for square in range(self.game.squares):
            v, bit = np.flatnonzero(self.decides & (self.taken >> square & 1 == 0)), 1 << square
            action = number_below(~self.taken[v], square)
            for outcome in (0, 1):
                after = self.placed[v] | bit * outcome, self.failed[v] | bit * (1 - outcome)
                child, g, last, exists = self._representative(*after, square)
                block = number_below(self.tried[child], last)
                exists &= block_start[child, block] != block_start[child, block + 1]
                chosen = (v[exists], action[exists], outcome)
                start[chosen] = (node_start[child] + block_start[child, block])[exists]
                symmetry[chosen] = g[exists]
        return start, symmetry

    def _parents(self, sequence_start: Ints, orders: Ints) -> tuple[Ints, Ints]:
        """`parent_start` of the index; the symmetry from each parent to its representative, -1 for a missing parent."""
        start, symmetry = (np.full((len(self.tried), self.game.squares), -1) for _ in range(2))
        for square in range(self.game.squares):
            v, bit = np.flatnonzero(self.tried >> square & 1), 1 << square
            parent, g, last, exists = self._representative(self.placed[v] & ~bit, self.failed[v] & ~bit, square)
            exists &= self.counts.ending_with(self.placed[v], self.failed[v], square) != 0
            # Only views that do not decide have parents without sequences; their nodes have reach 0.
            exists &= sequence_start[parent] != sequence_start[parent + 1]
            action = number_below(~self.taken[parent], last)
            chosen = (v[exists], number_below(self.tried[v], square)[exists])
            start[chosen] = (sequence_start[parent] + action * orders[parent])[exists]
            symmetry[chosen] = g[exists]
        return start, symmetry

    def _relabellings(self, children: Ints, parents: Ints) -> tuple[Ints, Ints, NDArray[Any]]:
        """`child_map`, `parent_map` and `relabelling` of the index, from the symmetries of children and parents."""
        views, squares = parents.shape
        symmetry = np.concatenate([children.reshape(views, -1), parents], axis=1)
        # A child's table lists the orders of the view, a parent's the orders of the view without the last square.
        removed = np.concatenate([np.zeros((views, 2 * squares), np.int64), 1 << self._own_squares()], axis=1)
        v, k = np.nonzero(symmetry >= 0)
        before = (self.placed[v] & ~removed[v, k], self.failed[v] & ~removed[v, k])
        most = int(self.counts.of(*before)[symmetry[v, k] > 0].max(initial=0))
        if most > MOST_RELABELLED:
            raise GameError(
                f"Game {self.game.name} needs the mirror images of {most:,} orders of a view; symmetry full works with "
                f"at most {MOST_RELABELLED:,} of them: choose symmetry none."
            )
        start, tables = relabellings(self.counts, self.group, *before, symmetry[v, k])
        found = np.full(symmetry.shape, -1)
        found[v, k] = start
        # Contiguous, like mapped arrays, so that kernels are compiled for one kind only.
        of_children, of_parents = (np.ascontiguousarray(part) for part in np.split(found, [2 * squares], axis=1))
        return of_children.reshape(children.shape), of_parents, tables

    def _own_squares(self) -> Ints:
        """The squares of each view, ascending: shape (views, squares of the board)."""
        own = np.zeros((len(self.tried), self.game.squares), np.int64)
        for square in range(self.game.squares):
            v = np.flatnonzero(self.tried >> square & 1)
            own[v, number_below(self.tried[v], square)] = square
        return own
