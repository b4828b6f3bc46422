"""Timing operators: which orders of two players are consistent with each other.

Two views that fit together constrain each other's orders only through the *key squares*, on which
one player failed because the other had placed there before.  The *timing operator* takes a vector
over the source's key times to a vector over the receiver's key times by adding up what is
consistent.

An operator is kept in two factors.  The game is cut at a moment; each key square falls, for each
player, before the cut (the *prefix*) or after it (the *suffix*).  Given which key squares are in
the source's prefix (``B``) and in the receiver's (``A``), the condition splits into one on prefix
times and one on suffix times, so that the operator is a Kronecker product of two small 0/1
matrices, or zero.  A *cell* is one tuple of key times; the cells of one prefix set are a matrix,
suffixes as rows and prefixes as columns, and the operator is ``X_A = sum_B V_AB Z_B U_AB``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cells import BASE, NO_KEY, Cells, Pattern, Side, count_of, keys_of, split
from pttt_ooc.index import Index, actions_of, kinds_of, read_only, squares_of
from pttt_ooc.views import Ints, Pairs, image_of

ClassKey = tuple[int, ...]
WORD = 64  # bits of a row of a matrix that are one number


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


class Operators(NamedTuple):
    """The operators of a :class:`Timing`, as kernels take them."""

    start: Ints
    cells: Ints
    prefix_first: NDArray[np.bool_]
    factor: NDArray[np.int32]
    matrix: NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Timing:
    """Everything that the joint sweep needs to receive the gradient of one player.

    A *group* is a sum over sources that share the operator and the receiver's key squares.

    Attributes
    ----------
    group_start : int64 (receiver's views + 1,)
        Groups of each of the receiver's views.
    group_view, group_class, group_pattern : int32 (groups,)
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
        The cell of each order.  Orders that do not take part have one of their own, after all others.
    class_start : int64 (classes + 1,)
        Factors of each operator.
    class_cells : int64 (classes, 2)
        Number of cells of the source and of the receiver.
    class_prefix_first : bool (classes,)
        Whether prefixes are added up before suffixes are.  What is added up first is the major
        index of the source's matrices, what is added up last that of the receiver's.
    factor : int32 (factors, 8)
        ``source cell, source suffixes, source prefixes, receiver cell, receiver suffixes, receiver
        prefixes, V, U`` of each pair (B, A); V and U are places in `matrix`.  Pairs that can share
        the sum over prefixes stand together.
    matrix : uint64 (any,)
        The 0/1 matrices V and U, by the receiver's index: in each row, the source's indices to add
        up are the bits of one number, or of several if there are more than 64.
    """

    group_start: Ints
    group_view: NDArray[np.int32]
    group_class: NDArray[np.int32]
    group_pattern: NDArray[np.int32]
    group_actions: NDArray[np.int32]
    source_start: Ints
    source_view: NDArray[np.int32]
    source_pattern: NDArray[np.int32]
    source_actions: NDArray[np.int32]
    pattern_start: Ints
    order_cell: NDArray[np.unsignedinteger[Any]]
    class_start: Ints
    class_cells: Ints
    class_prefix_first: NDArray[np.bool_]
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
                *(self.group_class, self.group_view, self.group_pattern, self.group_actions),
                *(self.source_start, self.source_view, self.source_pattern, self.source_actions),
            ),
            Patterns(self.pattern_start, self.order_cell),
            Operators(self.class_start, self.class_cells, self.class_prefix_first, self.factor, self.matrix),
        )


def build_timing(index: Index, pairs: Pairs, receiver: int) -> Timing:
    """Build the groups, patterns and operators for the gradient of `receiver`."""
    return _Builder(index, pairs, receiver).build()


def _consistent(source: Ints, receiver: Ints, received: int) -> NDArray[np.bool_]:
    """Which tuples of clock times (source, receiver) agree on the key squares that both have (the others are -1)."""
    s, r = source[:, None, :], receiver[None, :, :]
    in_time = np.where(np.arange(source.shape[1]) < received, s < r, r < s)
    agree: NDArray[np.bool_] = np.all(in_time | (s < 0) | (r < 0), axis=2)
    return agree


def packed(matrix: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """The bits of a matrix (source, receiver): for each index of the receiver, one word or more."""
    padded = np.zeros((matrix.shape[1], -(-matrix.shape[0] // WORD) * WORD), np.bool_)
    padded[:, : matrix.shape[0]] = matrix.T
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64).ravel()


class _Builder:
    def __init__(self, index: Index, pairs: Pairs, receiver: int) -> None:
        self.index, self.game = index, index.game
        self.receiver, self.source = receiver, 1 - receiver
        self.pairs = pairs
        every_mask = np.arange(1 << self.game.squares)
        self.images = [image_of(every_mask, symmetry).tolist() for symmetry in index.group]
        self.sides = (Side(self.game, 0), Side(self.game, 1))
        self.classes: dict[ClassKey, int] = {}
        self.cells: list[tuple[Cells, Cells]] = []  # of the source, of the receiver
        self.factors: list[list[int]] = []
        self.class_start = [0]
        self.prefix_first: list[bool] = []
        self.matrix: list[int] = []
        self._matrices: dict[bytes, int] = {}
        self._weights: dict[int, int] = {}  # number of ones of each matrix
        self.patterns: dict[tuple[int, bool, Pattern, bool], int] = {}
        self.pattern_cells: list[NDArray[np.unsignedinteger[Any]]] = []

    def build(self) -> Timing:
        table = self._sources()
        first = np.flatnonzero(np.diff(table[:, :4], axis=0, prepend=-1).any(axis=1))  # of each group
        views = len(self.index.players[self.receiver].placed)
        return Timing(
            group_start=np.searchsorted(table[first, 0], np.arange(views + 1)),
            group_view=table[first, 0],
            group_class=table[first, 1],
            group_pattern=table[first, 2],
            group_actions=table[first, 3],
            source_start=np.append(first, len(table)).astype(np.int64),
            source_view=table[:, 4].copy(),
            source_pattern=table[:, 5].copy(),
            source_actions=table[:, 6].copy(),
            pattern_start=np.cumsum([0, *[len(cells) for cells in self.pattern_cells]], dtype=np.int64),
            order_cell=np.concatenate([np.zeros(0, np.uint16), *self.pattern_cells]),
            class_start=np.array(self.class_start, np.int64),
            class_cells=np.array([(s.size, r.size) for s, r in self.cells], np.int64).reshape(-1, 2),
            class_prefix_first=np.array(self.prefix_first, np.bool_),
            factor=np.array(self.factors, np.int32).reshape(-1, 8),
            matrix=np.array(self.matrix, np.uint64),
        )

    def _sources(self) -> NDArray[np.int32]:
        """All sources, sorted: receiver's view, class, pattern, winning actions; source's view, pattern, actions."""
        pairs, size = self.pairs, self.game.squares
        r, s = self.receiver, self.source
        at_r = self.index.orbits[r].find(pairs.placed[r] << size | pairs.failed[r])
        at_s = self.index.orbits[s].find(pairs.placed[s] << size | pairs.failed[s])
        mine = self.index.players[r]
        view = np.where(at_r >= 0, self.index.orbits[r].view[at_r], 0)
        chosen = (mine.placed[view] == pairs.placed[r]) & (mine.failed[view] == pairs.failed[r])
        chosen &= (pairs.winning_squares != 0) & (at_r >= 0)
        table = np.empty((np.count_nonzero(chosen), 7), np.int32)
        for row, i in zip(table, np.flatnonzero(chosen), strict=True):
            row[:] = self._one_pair(int(i), int(view[i]), int(at_s[i]))
        return table[np.lexsort(table.T[::-1])]

    def _one_pair(self, i: int, view: int, at_s: int) -> tuple[int, ...]:
        r, s = self.receiver, self.source
        placed, failed = self.pairs.placed[:, i].tolist(), self.pairs.failed[:, i].tolist()
        winning, mover = int(self.pairs.winning_squares[i]), int(self.pairs.mover[i])
        theirs = self.index.orbits[s]
        symmetry = self.index.group[int(theirs.symmetry[at_s])]
        # Squares on which the receiver failed come first, then those on which the source did.
        numbers = {sq: k for k, sq in enumerate(squares_of(failed[r] & placed[s]) + squares_of(failed[s] & placed[r]))}
        squares_s = [q for _, q in sorted((symmetry[q], q) for q in squares_of(placed[s] | failed[s]))]
        pattern_r = self._numbered(r, placed[r], squares_of(placed[r] | failed[r]), numbers)
        pattern_s = self._numbered(s, placed[s], squares_s, numbers)
        number = self._class(pattern_r, pattern_s, (failed[r] & placed[s]).bit_count())
        mask_r = self._action_mask(r, placed[r] | failed[r], winning) if mover == r else 0
        mask_s = 0
        if mover == s:
            images = self.images[int(theirs.symmetry[at_s])]
            mask_s = self._action_mask(s, images[placed[s] | failed[s]], images[winning])
        mine = self._pattern(number, False, pattern_r, mover == r)
        source = (int(theirs.view[at_s]), self._pattern(number, True, pattern_s, mover == s), mask_s)
        return (view, number, mine, mask_r, *source)

    def _numbered(self, player: int, placed: int, squares: list[int], numbers: dict[int, int]) -> Pattern:
        kinds = kinds_of(placed, self.sides[player].counts.opening, squares)
        return tuple((kind, numbers.get(square, NO_KEY)) for kind, square in zip(kinds, squares, strict=True))

    def _action_mask(self, player: int, tried: int, squares: int) -> int:
        actions = actions_of(self.game, player, tried)
        return sum(1 << j for j, square in enumerate(actions) if squares >> square & 1)

    def _cut(self, pattern_r: Pattern, pattern_s: Pattern) -> int:
        """The time at which the operator is split: half-way, unless the views are small."""
        longest = max(len(pattern_r), len(pattern_s))
        if longest <= 4:
            return BASE  # everything is prefix
        if self.game.turn_rule == "classical":
            return (max(count_of(pattern_r, 1), count_of(pattern_s, 1)) + 1) // 2
        return (longest + 1) // 2

    def _class(self, pattern_r: Pattern, pattern_s: Pattern, received: int) -> int:
        """Number of the operator between two patterns; `received` keys are squares that the source placed."""
        shape = [count_of(pattern, kind) for pattern in (pattern_r, pattern_s) for kind in (0, 1, 2)]
        keys = sum(key != NO_KEY for _, key in pattern_r)
        key = (*shape, keys, received)
        if key not in self.classes:
            self.classes[key] = len(self.classes)
            cut = self._cut(pattern_r, pattern_s)
            source = Cells(self.sides[self.source].times(pattern_s), pattern_s, cut)
            receiver = Cells(self.sides[self.receiver].times(pattern_r), pattern_r, cut)
            self.cells.append((source, receiver))
            self._operator(source, receiver, received)
        return self.classes[key]

    def _operator(self, source: Cells, receiver: Cells, received: int) -> None:
        first_kind = (1 << received) - 1  # placed by the source, failed by the receiver
        second_kind = ((1 << source.keys) - 1) & ~first_kind
        theirs = [
            [self._clock(self.source, source.times_of(b, rows)) for rows in (False, True)]
            for b in range(len(source.sets))
        ]
        mine = [
            [self._clock(self.receiver, receiver.times_of(a, rows)) for rows in (False, True)]
            for a in range(len(receiver.sets))
        ]
        factors = []
        for b, set_b in enumerate(source.sets.tolist()):
            for a, set_a in enumerate(receiver.sets.tolist()):
                if (set_a & first_kind) & ~set_b or (set_b & second_kind) & ~set_a:
                    continue
                u, v = (_consistent(s, r, received) for s, r in zip(theirs[b], mine[a], strict=True))
                if not u.any() or not v.any():
                    continue
                dimensions = [source.base[b], source.heights[b], source.widths[b]]
                dimensions += [receiver.base[a], receiver.heights[a], receiver.widths[a]]
                factors.append([*(int(d) for d in dimensions), self._store(v), self._store(u)])
                self._weights[factors[-1][7]] = int(u.sum())
        prefix_first = self._prefix_cost(factors, 0, 1) <= self._prefix_cost(factors, 3, 4)
        self.prefix_first.append(prefix_first)
        shared = 0 if prefix_first else 3
        self.factors.extend(sorted(factors, key=lambda f: (f[shared], f[7], f[3 - shared])))
        self.class_start.append(len(self.factors))

    def _clock(self, player: int, times: Ints) -> Ints:
        """Times on a clock common to both players; -1 stays."""
        return np.where(times < 0, -1, 2 * times + int(player != self.game.first_player))

    def _prefix_cost(self, factors: list[list[int]], shared: int, suffixes: int) -> int:
        """Additions over prefixes, if the sums are shared by factors with the same column `shared`."""
        return sum({(f[shared], f[7]): f[suffixes] * self._weights[f[7]] for f in factors}.values())

    def _store(self, matrix: NDArray[np.bool_]) -> int:
        """Place of a matrix (source, receiver) in `matrix`."""
        known = str(matrix.shape).encode() + matrix.tobytes()
        if known not in self._matrices:
            self._matrices[known] = len(self.matrix)
            self.matrix.extend(packed(matrix).tolist())
        return self._matrices[known]

    def _pattern(self, number: int, is_source: bool, pattern: Pattern, to_move: bool) -> int:
        """Number of the pattern of one side of an operator.

        By the classical rule, the turn passes only after a placement: whoever is not to move has
        no order that ends with a failure.
        """
        ends_placed = self.game.turn_rule == "classical" and not to_move
        key = (number, is_source, pattern, ends_placed)
        if key not in self.patterns:
            self.patterns[key] = len(self.patterns)
            player = self.source if is_source else self.receiver
            times = self.sides[player].times(pattern)
            prefix_major = self.prefix_first[number] == is_source
            cells = self.cells[number][0 if is_source else 1]
            self.pattern_cells.append(self._order_cells(times, pattern, cells, prefix_major, ends_placed))
        return self.patterns[key]

    def _order_cells(
        self, times: NDArray[np.int8], pattern: Pattern, cells: Cells, prefix_major: bool, ends_placed: bool
    ) -> NDArray[np.unsignedinteger[Any]]:
        sets, early, late = split(times, keys_of(pattern), cells.cut)
        found = cells.locate(sets, early, late, prefix_major)
        if ends_placed:
            # By the classical rule a failure after the last placement has the number of placements for its time.
            found[(times == count_of(pattern, 1)).any(axis=1)] = cells.size
        return found.astype(np.uint16 if cells.size <= np.iinfo(np.uint16).max else np.uint32)
