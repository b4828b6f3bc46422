"""Construction of the timing operators' tables, and a forecast of their sizes.

See :mod:`pttt_ooc.games.structure.timing` for their meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.structure.cells import BASE, Cells, PlayerOrders, find_cells, times_of
from pttt_ooc.games.structure.index import Index, Layout
from pttt_ooc.games.structure.patterns import codes_of, keys_of, kinds_of
from pttt_ooc.games.structure.timing import Clocks, Factors, PatternCells, Timing, consistent
from pttt_ooc.games.structure.views import Ints, Pairs, first_seen, images_of, number_below

NARROW = (1 << 16) - 1
"""Most cells that 16 bits can number, with an extra one after the last."""

_NEVER = -2  # the time of no square

Allocate = Callable[[str, int, type[np.unsignedinteger[Any]]], NDArray[Any]]


def _in_memory(name: str, length: int, dtype: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    return np.empty(length, dtype)


def build_timing(
    index: Index,
    pairs: Pairs,
    receiver: int,
    allocate: Allocate = _in_memory,
    on_progress: Callable[[float], None] = lambda share: None,
) -> Timing:
    """Build the groups, patterns and operators for the gradient of `receiver`.

    Parameters
    ----------
    allocate
        Makes the arrays `order_cell` and `wide_order_cell`, by far the largest ones, from name, length and
        dtype: in memory by default, or mapped from files.
    on_progress
        Called with the share of these arrays that has been written, 0 to 1.
    """
    return _TimingBuilder(index, pairs, receiver).build(allocate, on_progress)


@dataclass(frozen=True, eq=False)
class TimingSizes:
    """Sizes of the tables of a :class:`Timing`.

    Attributes
    ----------
    sources, patterns
        Numbers of sources and patterns.
    narrow_orders, wide_orders
        Length of `order_cell` and of `wide_order_cell`.
    cells
        An upper bound on the cells of either side of any operator.
    """

    sources: int
    patterns: int
    narrow_orders: int
    wide_orders: int
    cells: int


def timing_sizes(layout: Layout, pairs: Pairs, receiver: int) -> TimingSizes:
    """The sizes of the result of :func:`build_timing`, without building it."""
    return _TimingBuilder(layout, pairs, receiver).sizes()


def most_cells(attempts: Ints, keys: Ints) -> Ints:
    """An upper bound on cells: the number of tuples of different times of `keys` squares among `attempts`."""
    cells = np.ones(np.broadcast_shapes(attempts.shape, keys.shape), np.int64)
    for k in range(int(keys.max(initial=0))):
        cells *= np.where(k < keys, np.maximum(attempts.astype(np.int64) - k, 1), 1)
    return cells


@dataclass(frozen=True, eq=False)
class RelevantPairs:
    """The pairs of views that matter to a receiver: its view represents its orbit, and a player can win.

    Attributes
    ----------
    receiver_view, source_view
        int64, shape (pairs,): positions in the index.
    placed, failed, mover, winning
        See :class:`~pttt_ooc.games.structure.views.Pairs`.
    symmetry
        By player, the symmetry that maps the view to its representative.
    keys
        Squares on which the receiver failed, and squares on which the source failed, because the other player had
        placed a mark there.
    code
        By player, the patterns; see :mod:`~pttt_ooc.games.structure.patterns`.
    """

    receiver_view: Ints
    source_view: Ints
    placed: Ints
    failed: Ints
    mover: Ints
    winning: Ints
    symmetry: dict[int, Ints]
    keys: tuple[Ints, Ints]
    code: dict[int, Ints]


@dataclass(frozen=True, eq=False)
class PatternUses:
    """The first use of each pattern.

    Attributes
    ----------
    pair, side
        The pair of views that uses it, and its side: 0 for the receiver, 1 for the source.
    ends_placed
        Whether orders that end with a failure are excluded.
    narrow
        Number of patterns whose cells fit 16 bits; they come first.
    """

    pair: Ints
    side: Ints
    ends_placed: NDArray[np.bool_]
    narrow: int


def as_int32(numbers: Ints) -> NDArray[np.int32]:
    """The same numbers in 32 bits; an OverflowError if one does not fit."""
    if numbers.size and max(abs(int(numbers.min())), int(numbers.max())) > np.iinfo(np.int32).max:
        raise OverflowError("a table of the index has more entries than 32 bits can number")
    return numbers.astype(np.int32)


class _TimingBuilder:
    def __init__(self, index: Layout, pairs: Pairs, receiver: int) -> None:
        self.index, self.game, self.pairs = index, index.game, pairs
        self.receiver, self.source = receiver, 1 - receiver
        self.images = images_of(index.group)
        self.sides = (PlayerOrders(self.game, 0), PlayerOrders(self.game, 1))
        self.cells: list[tuple[Cells, Cells]] = []  # of the source, of the receiver
        self.factors: list[Factors[int]] = []
        self.operator_start = [0]
        self.prefix_first: list[bool] = []
        self.matrix: list[NDArray[np.uint64]] = []
        self._matrix_size = 0
        self._matrices: dict[tuple[int, bytes], int] = {}
        self._ones: dict[int, int] = {}  # in each matrix

    def build(self, allocate: Allocate, on_progress: Callable[[float], None]) -> Timing:
        table, patterns = self._sources(allocate, on_progress)
        first = np.flatnonzero(np.diff(table[:, :4], axis=0, prepend=-1).any(axis=1))  # of each group
        views = len(self.index.players[self.receiver].placed)
        return Timing(
            group_start=np.searchsorted(table[first, 0], np.arange(views + 1)),
            group_view=table[first, 0],
            group_operator=table[first, 1],
            group_pattern=table[first, 2],
            group_actions=table[first, 3],
            source_start=np.append(first, len(table)).astype(np.int64),
            source_view=table[:, 4].copy(),
            source_pattern=table[:, 5].copy(),
            source_actions=table[:, 6].copy(),
            pattern_start=patterns.start,
            order_cell=patterns.cell,
            wide_order_cell=patterns.wide_cell,
            operator_start=np.array(self.operator_start, np.int64),
            operator_cells=np.array([(s.size, r.size) for s, r in self.cells], np.int64).reshape(-1, 2),
            operator_prefix_first=np.array(self.prefix_first, np.bool_),
            factor=np.ascontiguousarray(as_int32(np.array(self.factors, np.int64)).reshape(-1, len(Factors._fields)).T),
            matrix=np.concatenate([np.zeros(0, np.uint64), *self.matrix]),
        )

    def _sources(
        self, allocate: Allocate, on_progress: Callable[[float], None]
    ) -> tuple[NDArray[np.int32], PatternCells]:
        """All sources, and the patterns.

        Sources are sorted by the receiver's view, operator, pattern and winning actions, then by the source's view,
        pattern and actions.
        """
        r, s, c = self.receiver, self.source, self._choose()
        number = self._operators(c)
        sizes = np.array([(receiver.size, source.size) for source, receiver in self.cells], np.int64).reshape(-1, 2)
        numbers, uses = self._pattern_numbers(c, number, sizes)
        patterns = self._patterns(c, uses, number, allocate, on_progress)
        actions = {
            p: np.where(c.mover == p, self._action_masks(p, c.placed[p] | c.failed[p], c.winning, c.symmetry[p]), 0)
            for p in (r, s)
        }
        mine_first = (c.receiver_view, number, numbers[:, 0], actions[r])
        theirs = (c.source_view, numbers[:, 1], actions[s])
        table = as_int32(np.stack([*mine_first, *theirs], axis=1))
        return table[np.lexsort(table.T[::-1])], patterns

    def sizes(self) -> TimingSizes:
        """The sizes of the tables."""
        c = self._choose()
        first, number = first_seen(self._shapes(c))
        keys = np.bitwise_count(c.keys[0] | c.keys[1])[first]
        bounds = np.stack(
            [most_cells(np.bitwise_count((c.placed | c.failed)[p])[first], keys) for p in (self.receiver, self.source)],
            axis=1,
        )
        _, uses = self._pattern_numbers(c, number, bounds)
        orders = self._orders(c, uses)
        narrow = int(orders[: uses.narrow].sum())
        wide = int(orders.sum()) - narrow
        return TimingSizes(len(c.mover), len(orders), narrow, wide, int(bounds.max(initial=1)))

    def _choose(self) -> RelevantPairs:
        pairs, size = self.pairs, self.game.squares
        r, s = self.receiver, self.source
        at = self.index.orbits[r].find(pairs.placed[r] << size | pairs.failed[r])
        mine, view = self.index.players[r], self.index.orbits[r].view[at]
        chosen = (mine.placed[view] == pairs.placed[r]) & (mine.failed[view] == pairs.failed[r])
        i = np.flatnonzero(chosen & (pairs.winning_squares != 0) & (at >= 0))
        placed, failed = pairs.placed[:, i], pairs.failed[:, i]
        at_s = self.index.orbits[s].find(placed[s] << size | failed[s])
        # The receiver's view is already a representative.
        symmetry = {r: np.zeros(len(i), np.int64), s: self.index.orbits[s].symmetry[at_s]}
        # Squares on which the receiver failed come first, then those on which the source did.
        keys = (failed[r] & placed[s], failed[s] & placed[r])
        code = {
            p: codes_of(placed[p], failed[p], self.sides[p].counts.hidden, keys, self.index.group, symmetry[p])
            for p in (r, s)
        }
        views = (view[i], self.index.orbits[s].view[at_s])
        return RelevantPairs(*views, placed, failed, pairs.mover[i], pairs.winning_squares[i], symmetry, keys, code)

    def _action_masks(self, player: int, tried: Ints, squares: Ints, symmetry: Ints) -> Ints:
        """The actions that attempt the images of `squares`, at the images of views, as bit masks of action numbers."""
        taken = self.images[symmetry, tried] | self.game.setup_mask(player)
        wanted, mask = self.images[symmetry, squares], np.zeros_like(squares)
        for square in range(self.game.squares):
            mask |= ((wanted & ~taken) >> square & 1) << number_below(~taken, square)
        return mask

    def _shapes(self, c: RelevantPairs) -> Ints:
        """A number for each pair of patterns that determines their operator."""
        shape = np.bitwise_count(c.keys[0] | c.keys[1]) << 4 | np.bitwise_count(c.keys[0]).astype(np.int64)
        for p in (self.receiver, self.source):
            hidden = self.sides[p].counts.hidden
            for squares in (c.failed[p] & ~hidden, c.placed[p], c.failed[p] & hidden):
                shape = shape << 4 | np.bitwise_count(squares)
        found: Ints = shape
        return found

    def _operators(self, c: RelevantPairs) -> Ints:
        """Number of the operator of each pair of patterns; new operators are built."""
        first, number = first_seen(self._shapes(c))
        for i in first:
            cut = self._cut(c.placed[:, i], c.failed[:, i])
            source, receiver = (self._cells(p, c.code[p][i], cut) for p in (self.source, self.receiver))
            self.cells.append((source, receiver))
            self._add_factors(source, receiver, int(np.bitwise_count(c.keys[0][i])))
        return number

    def _cut(self, placed: Ints, failed: Ints) -> int:
        """The time at which the operator of two views is cut: half-way, unless the views are small."""
        longest = int(np.bitwise_count(placed | failed).max())
        if longest <= 4:
            return BASE  # all times are in the prefix
        if self.game.turn_rule == "classical":
            longest = int(np.bitwise_count(placed).max())
        return (longest + 1) // 2

    def _cells(self, player: int, code: np.int64, cut: int) -> Cells:
        [keys], [kinds] = keys_of(np.array([code])), kinds_of(np.array([code]))
        return Cells(self.sides[player].orders(int(kinds), cut), keys, cut)

    def _pattern_numbers(self, c: RelevantPairs, number: Ints, sizes: Ints) -> tuple[Ints, PatternUses]:
        """Numbers of the patterns of receiver and source, shape (pairs, 2), and the first use of each pattern.

        Patterns are numbered by their first use; the ones whose cells do not fit 16 bits come after all others.
        `sizes` has the number of cells of each operator on either side, shape (operators, 2).
        """
        players = np.array([self.receiver, self.source])
        codes = np.stack([c.code[p] for p in players], axis=1)
        # By the classical rule, the turn passes only after a placement: the player who is not to move has no order
        # that ends with a failure.
        ends_placed = (c.mover[:, None] != players) & (self.game.turn_rule == "classical")
        _, same = np.unique(codes, return_inverse=True)
        uses = (number[:, None] * 2 + np.arange(2)) * 2 + ends_placed
        first, found = first_seen((same.reshape(codes.shape) * (uses.max(initial=0) + 1) + uses).ravel())
        pair, side = first // 2, first % 2
        wide = sizes[number[pair], side] > NARROW
        rank = np.argsort(wide, kind="stable")
        renumbered = np.empty(len(rank), np.int64)
        renumbered[rank] = np.arange(len(rank))
        using = PatternUses(pair[rank], side[rank], ends_placed[pair, side][rank], int(len(wide) - wide.sum()))
        return renumbered[found].reshape(codes.shape), using

    def _orders(self, c: RelevantPairs, uses: PatternUses) -> Ints:
        """Number of orders of each pattern."""
        orders = np.empty(len(uses.pair), np.int64)
        for k, p in enumerate((self.receiver, self.source)):
            of_side = uses.pair[uses.side == k]
            orders[uses.side == k] = self.sides[p].counts.of(c.placed[p, of_side], c.failed[p, of_side])
        return orders

    def _patterns(
        self,
        c: RelevantPairs,
        uses: PatternUses,
        number: Ints,
        allocate: Allocate,
        on_progress: Callable[[float], None],
    ) -> PatternCells:
        """The cell of each order of each pattern."""
        players = np.array([self.receiver, self.source])
        pair, side, ends_placed, narrow = uses.pair, uses.side, uses.ends_placed, uses.narrow
        orders = self._orders(c, uses)
        start = np.concatenate([[0], np.cumsum(orders)])
        middle = int(start[narrow])
        cell = allocate("order_cell", middle, np.uint16)
        wide_cell = allocate("wide_order_cell", int(start[-1]) - middle, np.uint32)
        codes = np.where(side == 0, c.code[self.receiver][pair], c.code[self.source][pair])
        # By the classical rule a failure after the last placement has the number of placements for its time.
        placements = np.bitwise_count(c.placed[players[side], pair]).astype(np.int64)
        ends_at = np.where(ends_placed, placements, _NEVER).tolist()
        keys, kinds, operator = keys_of(codes), kinds_of(codes), number[pair]
        cuts = np.array([source.cut for source, _ in self.cells], np.int64)[operator]
        done, reported = 0, 0
        # Patterns of the same kinds of squares share their orders.
        for i in np.lexsort((cuts, kinds, side)).tolist():
            own = int(side[i])
            cut_orders = self.sides[players[own]].orders(int(kinds[i]), int(cuts[i]))
            cells, prefix_major = self.cells[operator[i]][1 - own], self.prefix_first[operator[i]] == bool(own)
            of_pattern = slice(int(start[i]), int(start[i + 1]))
            if i >= narrow:
                out = wide_cell[of_pattern.start - middle : of_pattern.stop - middle]
            else:
                out = cell[of_pattern]
            find_cells(cut_orders, keys[i], cells.tables, prefix_major, ends_at[i], out)
            done += len(out)
            if done - reported > start[-1] // 100:
                on_progress(done / int(start[-1]))
                reported = done
        return PatternCells(start, cell, wide_cell)

    def _add_factors(self, source: Cells, receiver: Cells, received: int) -> None:
        matrix, found = consistent(self._clocks(self.source, source), self._clocks(self.receiver, receiver), received)
        theirs, mine, factors = source.matrices(), receiver.matrices(), list[Factors[int]]()
        pairs: list[list[int]] = found.tolist()
        for b, a, begin, middle, end, ones in pairs:
            suffix_matrix = self._store(matrix[middle:end], int(source.heights[b]))
            prefix_matrix = self._store(matrix[begin:middle], int(source.widths[b]))
            factor = Factors(*theirs[b], *mine[a], suffix_matrix, prefix_matrix)
            factors.append(factor)
            self._ones[factor.prefix_matrix] = ones
        # Cost of the sums over prefixes, if factors with the same source share one, or factors with the same receiver.
        before = {(f.source_cell, f.prefix_matrix): f.source_suffixes * self._ones[f.prefix_matrix] for f in factors}
        after = {(f.receiver_cell, f.prefix_matrix): f.receiver_suffixes * self._ones[f.prefix_matrix] for f in factors}
        prefix_first = sum(before.values()) <= sum(after.values())
        self.prefix_first.append(prefix_first)
        by_source = sorted(factors, key=lambda f: (f.source_cell, f.prefix_matrix, f.receiver_cell))
        by_receiver = sorted(factors, key=lambda f: (f.receiver_cell, f.prefix_matrix, f.source_cell))
        self.factors.extend(by_source if prefix_first else by_receiver)
        self.operator_start.append(len(self.factors))

    def _clocks(self, player: int, cells: Cells) -> Clocks:
        late = int(player != self.game.first_player)

        def shared_times(codes: Ints) -> Ints:
            times = times_of(codes, cells.keys)
            return np.where(times < 0, -1, 2 * times + late)

        tables = cells.tables
        columns, rows = shared_times(tables.column_code), shared_times(tables.row_code)
        return Clocks(cells.sets, columns, tables.first_column, rows, tables.first_row)

    def _store(self, matrix: NDArray[np.uint64], sources: int) -> int:
        """Position in `matrix` of a matrix with this number of source indices; equal matrices are stored once."""
        known = (sources, matrix.tobytes())
        if known not in self._matrices:
            self._matrices[known] = self._matrix_size
            self.matrix.append(matrix.copy())
            self._matrix_size += len(matrix)
        return self._matrices[known]
