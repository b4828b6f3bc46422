"""Timing operators: which orders of two players are consistent with each other.

Two views that fit together constrain each other's orders only through the *key squares*, on which one player failed
because the other had placed there before.  The *timing operator* takes a vector over the source's key times to a vector
over the receiver's key times: each entry is the sum of all entries whose times are consistent with it.

An operator is kept in two factors.  The game is cut at a moment; each key square falls, for each player, before the cut
(the *prefix*) or after it (the *suffix*).  Given which key squares are in the source's prefix (``B``) and in the
receiver's (``A``), the condition splits into one on prefix times and one on suffix times, so that the operator is a
Kronecker product of two small 0/1 matrices, or zero.  A *cell* is one tuple of key times; the cells of one prefix set
are a matrix, suffixes as rows and prefixes as columns, and the operator is ``X_A = sum_B V_AB Z_B U_AB``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.jit import kernel, piece
from pttt_ooc.structure.cells import BASE, Cells, Side, find_cells, times_of
from pttt_ooc.structure.index import Index, read_only
from pttt_ooc.structure.patterns import codes_of, keys_of, kinds_of
from pttt_ooc.structure.views import Ints, Pairs, first_seen, images_of, number_below

WORD = 64  # bits of a matrix's row that are kept in one number

_NEVER = -2  # the time of no square

Column = TypeVar("Column")


class Groups(NamedTuple):
    """The groups of a :class:`Timing`, as kernels take them."""

    operator: NDArray[np.int32]
    receiver_view: NDArray[np.int32]
    receiver_pattern: NDArray[np.int32]
    receiver_actions: NDArray[np.int32]
    source_start: Ints
    source_view: NDArray[np.int32]
    source_pattern: NDArray[np.int32]
    source_actions: NDArray[np.int32]


class Patterns(NamedTuple):
    """The patterns of a :class:`Timing`, as kernels take them."""

    start: Ints
    cell: NDArray[np.unsignedinteger[Any]]


class Factors(NamedTuple, Generic[Column]):
    """Pairs (B, A) of a source's and a receiver's matrix of cells, and what leads from the one to the other.

    Attributes
    ----------
    source_cell, source_suffixes, source_prefixes
        First cell, number of rows and number of columns of ``Z_B``.
    receiver_cell, receiver_suffixes, receiver_prefixes
        The same of ``X_A``.
    suffix_matrix, prefix_matrix
        Where ``V_AB`` and ``U_AB`` begin in the matrices.
    """

    source_cell: Column
    source_suffixes: Column
    source_prefixes: Column
    receiver_cell: Column
    receiver_suffixes: Column
    receiver_prefixes: Column
    suffix_matrix: Column
    prefix_matrix: Column


class Operators(NamedTuple):
    """The operators of a :class:`Timing`, as kernels take them."""

    start: Ints
    cells: Ints
    prefix_first: NDArray[np.bool_]
    factors: Factors[NDArray[np.int32]]
    matrix: NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Timing:
    """Everything that the joint sweep needs to receive the gradient of one player.

    A *group* is a sum over sources that share the operator and the receiver's key squares.

    Attributes
    ----------
    group_start : int64 (receiver's views + 1,)
        Groups of each of the receiver's views.
    group_view, group_operator, group_pattern : int32 (groups,)
        Receiver's view, operator and receiver's pattern.
    group_actions : int32 (groups,)
        The receiver's winning actions, as a bit mask of action numbers; 0 if the source wins.
    source_start : int64 (groups + 1,)
        Sources of each group.
    source_view, source_pattern : int32 (sources,)
        The source's view and its pattern.
    source_actions : int32 (sources,)
        The source's winning actions as a bit mask of action numbers; 0 if the receiver wins.
    pattern_start : int64 (patterns + 1,)
        Orders of each pattern.
    order_cell : uint16, or uint32 if that is too small (orders,)
        The cell of each order.  Orders that do not take part have an extra cell, after all others.
    operator_start : int64 (operators + 1,)
        Factors of each operator.
    operator_cells : int64 (operators, 2)
        Number of cells of the source and of the receiver.
    operator_prefix_first : bool (operators,)
        Whether prefixes are added up before suffixes.  The source's matrices are stored with the
        index that is added up first as the major one, the receiver's with the other one.
    factor : int32 (8, factors)
        The fields of :class:`Factors`, one row each.  Pairs (B, A) that can share the sum over prefixes
        stand together.
    matrix : uint64 (any,)
        The 0/1 matrices V and U, by the receiver's index: in each row, the source's indices to add
        up are the bits of one number, or of several if there are more than 64.
    """

    group_start: Ints
    group_view: NDArray[np.int32]
    group_operator: NDArray[np.int32]
    group_pattern: NDArray[np.int32]
    group_actions: NDArray[np.int32]
    source_start: Ints
    source_view: NDArray[np.int32]
    source_pattern: NDArray[np.int32]
    source_actions: NDArray[np.int32]
    pattern_start: Ints
    order_cell: NDArray[np.unsignedinteger[Any]]
    operator_start: Ints
    operator_cells: Ints
    operator_prefix_first: NDArray[np.bool_]
    factor: NDArray[np.int32]
    matrix: NDArray[np.uint64]

    def __post_init__(self) -> None:
        read_only(self)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """All arrays by name, for a store."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def tables(self) -> tuple[Groups, Patterns, Operators]:
        """What the joint sweep takes."""
        return (
            Groups(
                *(self.group_operator, self.group_view, self.group_pattern, self.group_actions),
                *(self.source_start, self.source_view, self.source_pattern, self.source_actions),
            ),
            Patterns(self.pattern_start, self.order_cell),
            Operators(
                *(self.operator_start, self.operator_cells, self.operator_prefix_first),
                *(Factors(*self.factor), self.matrix),
            ),
        )


def build_timing(index: Index, pairs: Pairs, receiver: int) -> Timing:
    """Build the groups, patterns and operators for the gradient of `receiver`."""
    return _Builder(index, pairs, receiver).build()


class Clocks(NamedTuple):
    """Key times of the cells of one side of an operator, on a clock that both players share; -1 where there is none.

    Attributes
    ----------
    sets
        The prefix sets, as of :class:`~pttt_ooc.structure.cells.Cells`.
    columns, rows
        int64, shape (columns or rows of all sets, keys).
    first_column, first_row
        Where each set's columns and rows begin, and where the last one's end.
    """

    sets: Ints
    columns: Ints
    first_column: Ints
    rows: Ints
    first_row: Ints


@piece
def _fits(source, receiver, first_kind, second_kind):
    """Whether two prefix sets may go together: a key in the set of who failed is in the set of who placed before."""
    return (receiver & first_kind) & ~source == 0 and (source & second_kind) & ~receiver == 0


@piece
def _words(first, last):
    """Words of a row of a matrix with the source's indices `first` to `last`."""
    return (last - first + WORD - 1) // WORD


@piece
def _consistent(source, first, last, receiver, begin, end, received, matrix, at):
    """Write to `matrix`, from the place `at` on, which key times agree; return where it ends, and the number of ones.

    The source's times ``source[first:last]`` are the bits of a row, the receiver's ``receiver[begin:end]`` the rows.
    """
    ones = 0
    for r in range(begin, end):
        matrix[at : at + _words(first, last)] = 0
        for s in range(first, last):
            agree = True
            for k in range(source.shape[1]):
                before, after = source[s, k], receiver[r, k]
                if k >= received:
                    before, after = after, before
                agree &= before < after or before < 0 or after < 0
            if agree:
                matrix[at + (s - first) // WORD] |= np.uint64(1) << np.uint64((s - first) % WORD)
                ones += 1
        at += _words(first, last)
    return at, ones


@kernel
def consistent(source, receiver, received):
    """Which key times of source and receiver agree on the keys that both have.

    Parameters
    ----------
    source, receiver
        :class:`Clocks`.
    received
        How many keys the source placed before the receiver failed on them; these keys come first.

    Returns
    -------
    matrix
        uint64: 0/1 matrices by the receiver's index, as in :attr:`Timing.matrix`, one after the other.
    found
        int64, shape (pairs, 6): for each pair of sets whose matrices both have ones the set of the source and the
        set of the receiver, where the matrix of their columns begins, where the matrix of their rows begins and
        ends, and the number of ones of the first.
    """
    first_kind = (1 << received) - 1  # placed by the source, failed by the receiver
    second_kind = ((1 << source.columns.shape[1]) - 1) & ~first_kind
    columns, rows = source.first_column, source.first_row
    size = 0
    for b in range(len(source.sets)):
        for a in range(len(receiver.sets)):
            if _fits(source.sets[b], receiver.sets[a], first_kind, second_kind):
                size += (receiver.first_column[a + 1] - receiver.first_column[a]) * _words(columns[b], columns[b + 1])
                size += (receiver.first_row[a + 1] - receiver.first_row[a]) * _words(rows[b], rows[b + 1])
    matrix, found = np.empty(size, np.uint64), np.empty((len(source.sets) * len(receiver.sets), 6), np.int64)
    at, count = 0, 0
    for b in range(len(source.sets)):
        for a in range(len(receiver.sets)):
            if not _fits(source.sets[b], receiver.sets[a], first_kind, second_kind):
                continue
            begin, end = receiver.first_column[a], receiver.first_column[a + 1]
            middle, ones = _consistent(
                source.columns, columns[b], columns[b + 1], receiver.columns, begin, end, received, matrix, at
            )
            begin, end = receiver.first_row[a], receiver.first_row[a + 1]
            after, more = _consistent(
                source.rows, rows[b], rows[b + 1], receiver.rows, begin, end, received, matrix, middle
            )
            if ones and more:
                pair = found[count]
                pair[0], pair[1], pair[2], pair[3], pair[4], pair[5] = b, a, at, middle, after, ones
                count += 1
                at = after
    return matrix, found[:count]


class _Builder:
    def __init__(self, index: Index, pairs: Pairs, receiver: int) -> None:
        self.index, self.game, self.pairs = index, index.game, pairs
        self.receiver, self.source = receiver, 1 - receiver
        self.images = images_of(index.group)
        self.sides = (Side(self.game, 0), Side(self.game, 1))
        self.cells: list[tuple[Cells, Cells]] = []  # of the source, of the receiver
        self.factors: list[Factors[int]] = []
        self.operator_start = [0]
        self.prefix_first: list[bool] = []
        self.matrix: list[NDArray[np.uint64]] = []
        self._matrix_size = 0
        self._matrices: dict[tuple[int, bytes], int] = {}
        self._ones: dict[int, int] = {}  # in each matrix

    def build(self) -> Timing:
        table, pattern_start, order_cell = self._sources()
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
            pattern_start=pattern_start,
            order_cell=order_cell,
            operator_start=np.array(self.operator_start, np.int64),
            operator_cells=np.array([(s.size, r.size) for s, r in self.cells], np.int64).reshape(-1, 2),
            operator_prefix_first=np.array(self.prefix_first, np.bool_),
            factor=np.ascontiguousarray(np.array(self.factors, np.int32).reshape(-1, len(Factors._fields)).T),
            matrix=np.concatenate([np.zeros(0, np.uint64), *self.matrix]),
        )

    def _sources(self) -> tuple[NDArray[np.int32], Ints, NDArray[np.unsignedinteger[Any]]]:
        """All sources, and the patterns' `pattern_start` and `order_cell`.

        Sources are sorted: receiver's view, operator, pattern, winning actions; source's view, pattern, actions.
        """
        pairs, size = self.pairs, self.game.squares
        r, s = self.receiver, self.source
        at = self.index.orbits[r].find(pairs.placed[r] << size | pairs.failed[r])
        mine, view = self.index.players[r], self.index.orbits[r].view[at]
        chosen = (mine.placed[view] == pairs.placed[r]) & (mine.failed[view] == pairs.failed[r])
        i = np.flatnonzero(chosen & (pairs.winning_squares != 0) & (at >= 0))
        placed, failed = pairs.placed[:, i], pairs.failed[:, i]
        mover, winning = pairs.mover[i], pairs.winning_squares[i]
        at_s = self.index.orbits[s].find(placed[s] << size | failed[s])
        # The receiver's view is a representative already.
        symmetry = {r: np.zeros(len(i), np.int64), s: self.index.orbits[s].symmetry[at_s]}
        # Squares on which the receiver failed come first, then those on which the source did.
        keys = (failed[r] & placed[s], failed[s] & placed[r])
        code = {
            p: codes_of(placed[p], failed[p], self.sides[p].counts.hidden, keys, self.index.group, symmetry[p])
            for p in (r, s)
        }
        number = self._operators(placed, failed, code, keys)
        patterns, start, cell = self._patterns(placed, failed, code, mover, number)
        actions = {
            p: np.where(mover == p, self._action_masks(p, placed[p] | failed[p], winning, symmetry[p]), 0)
            for p in (r, s)
        }
        mine_first = (view[i], number, patterns[:, 0], actions[r])
        theirs = (self.index.orbits[s].view[at_s], patterns[:, 1], actions[s])
        table = np.stack([*mine_first, *theirs], axis=1).astype(np.int32)
        return table[np.lexsort(table.T[::-1])], start, cell

    def _action_masks(self, player: int, tried: Ints, squares: Ints, symmetry: Ints) -> Ints:
        """Numbers of the actions that attempt the images of `squares`, at the images of views, as bit masks."""
        taken = self.images[symmetry, tried] | self.game.setup_mask(player)
        wanted, mask = self.images[symmetry, squares], np.zeros_like(squares)
        for square in range(self.game.squares):
            mask |= ((wanted & ~taken) >> square & 1) << number_below(~taken, square)
        return mask

    def _operators(self, placed: Ints, failed: Ints, code: dict[int, Ints], keys: tuple[Ints, Ints]) -> Ints:
        """Number of the operator of each pair of patterns; new operators are built."""
        received = np.bitwise_count(keys[0]).astype(np.int64)
        shape = np.bitwise_count(keys[0] | keys[1]) << 4 | received
        for p in (self.receiver, self.source):
            hidden = self.sides[p].counts.hidden
            for squares in (failed[p] & ~hidden, placed[p], failed[p] & hidden):
                shape = shape << 4 | np.bitwise_count(squares)
        first, number = first_seen(shape)
        for i in first:
            cut = self._cut(placed[:, i], failed[:, i])
            source, receiver = (self._cells(p, code[p][i], cut) for p in (self.source, self.receiver))
            self.cells.append((source, receiver))
            self._add_factors(source, receiver, int(received[i]))
        return number

    def _cut(self, placed: Ints, failed: Ints) -> int:
        """The time at which the operator of two views is split: half-way, unless the views are small."""
        longest = int(np.bitwise_count(placed | failed).max())
        if longest <= 4:
            return BASE  # everything is prefix
        if self.game.turn_rule == "classical":
            longest = int(np.bitwise_count(placed).max())
        return (longest + 1) // 2

    def _cells(self, player: int, code: np.int64, cut: int) -> Cells:
        [keys], [kinds] = keys_of(np.array([code])), kinds_of(np.array([code]))
        return Cells(self.sides[player].orders(int(kinds), cut), keys, cut)

    def _patterns(
        self, placed: Ints, failed: Ints, code: dict[int, Ints], mover: Ints, number: Ints
    ) -> tuple[Ints, Ints, NDArray[np.unsignedinteger[Any]]]:
        """Numbers of the patterns of receiver and source, shape (pairs, 2); `pattern_start` and `order_cell`.

        By the classical rule, the turn passes only after a placement: whoever is not to move has
        no order that ends with a failure.
        """
        players = np.array([self.receiver, self.source])
        codes = np.stack([code[p] for p in players], axis=1)
        ends_placed = (mover[:, None] != players) & (self.game.turn_rule == "classical")
        _, same = np.unique(codes, return_inverse=True)
        users = (number[:, None] * 2 + np.arange(2)) * 2 + ends_placed
        first, found = first_seen((same.reshape(codes.shape) * (users.max(initial=0) + 1) + users).ravel())
        found = found.reshape(codes.shape)
        pair, side = first // 2, first % 2
        orders = np.empty(len(first), np.int64)
        for k, p in enumerate(players):
            of_side = pair[side == k]
            orders[side == k] = self.sides[p].counts.of(placed[p, of_side], failed[p, of_side])
        start = np.concatenate([[0], np.cumsum(orders)])
        most = max((cells.size for both in self.cells for cells in both), default=0)
        cell = np.empty(start[-1], np.uint16 if most <= np.iinfo(np.uint16).max else np.uint32)
        codes = codes.ravel()[first]
        # By the classical rule a failure after the last placement has the number of placements for its time.
        placements = np.bitwise_count(placed[players[side], pair]).astype(np.int64)
        ends_at = np.where(ends_placed[pair, side], placements, _NEVER).tolist()
        keys, kinds, operator = keys_of(codes), kinds_of(codes), number[pair]
        cuts = np.array([source.cut for source, _ in self.cells], np.int64)[operator]
        # Patterns of the same kinds of squares share their orders.
        for i in np.lexsort((cuts, kinds, side)).tolist():
            own = int(side[i])
            cut_orders = self.sides[players[own]].orders(int(kinds[i]), int(cuts[i]))
            cells, prefix_major = self.cells[operator[i]][1 - own], self.prefix_first[operator[i]] == bool(own)
            find_cells(cut_orders, keys[i], cells.tables, prefix_major, ends_at[i], cell[start[i] : start[i + 1]])
        return found, start, cell

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
        # What the sum over prefixes costs, if factors share it that have the same source, or the same receiver.
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

        def shared(codes: Ints) -> Ints:
            times = times_of(codes, cells.keys)
            return np.where(times < 0, -1, 2 * times + late)

        tables = cells.tables
        columns, rows = shared(tables.column_code), shared(tables.row_code)
        return Clocks(cells.sets, columns, tables.first_column, rows, tables.first_row)

    def _store(self, matrix: NDArray[np.uint64], sources: int) -> int:
        """Place in `matrix` of one with so many of the source's indices."""
        known = (sources, matrix.tobytes())
        if known not in self._matrices:
            self._matrices[known] = self._matrix_size
            self.matrix.append(matrix.copy())
            self._matrix_size += len(matrix)
        return self._matrices[known]
