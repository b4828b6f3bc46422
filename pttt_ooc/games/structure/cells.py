"""Cells of the timing operators: tuples of key times, cut into prefixes and suffixes.

See :mod:`pttt_ooc.games.structure.timing` for their use.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure.orders import all_orders, order_counts
from pttt_ooc.games.structure.patterns import FAILED, FAILED_ON_SETUP, PLACED, squares_of
from pttt_ooc.games.structure.views import Ints
from pttt_ooc.jit import kernel, piece

BASE = 16  # base of the codes of tuples of times, whose digits are the times plus 1, or 0; times are below BASE - 1
_DIGIT = 4  # bits
_CACHED_BYTES = 24_000_000  # cut orders kept for the next views with the same kinds of squares
_SLOTS = 4096  # slots of a hash table; a code replaces the previous one in its slot
_MULTIPLIER = 0x9E3779B1


class CutOrders(NamedTuple):
    """The orders of a view, cut at a time into prefixes and suffixes.

    Many orders share a prefix or a suffix, so there are few of either.

    Attributes
    ----------
    prefix, suffix : int32 (orders,)
        Number of each order's prefix and suffix.  Equal ones may have several numbers.
    prefix_code, suffix_code : int64 (prefixes,), (suffixes,)
        Times of the view's squares, which are numbered 0, 1, 2, ...; 0 for squares of the other part.
    """

    prefix: NDArray[np.int32]
    suffix: NDArray[np.int32]
    prefix_code: Ints
    suffix_code: Ints


@kernel
def cut_orders(table, placed, classical, cut):
    """Cut all orders of a view; see :class:`CutOrders`.

    By the abrupt rule, the time of a square is the number of own attempts before it; by the classical rule, the number
    of own placements before it.
    """
    count, n = table.shape
    prefix, suffix = np.empty(count, np.int32), np.empty(count, np.int32)
    prefix_code, suffix_code = np.empty(count, np.int64), np.empty(count, np.int64)
    known = np.empty((_SLOTS, 2), np.int64)  # a hash table of codes of prefixes, plus 1, and their numbers
    known[:] = 0
    prefixes, suffixes = 0, 0
    for rank in range(count):
        early, late, placements = 0, 0, 0
        for slot in range(n):
            square = int(table[rank, slot])
            time = placements if classical else slot
            if time < cut:
                early |= (time + 1) << _DIGIT * square
            else:
                late |= (time + 1) << _DIGIT * square
            placements += placed >> square & 1
        slot = (early * _MULTIPLIER >> 32) % _SLOTS
        if known[slot, 0] != early + 1:
            known[slot, 0], known[slot, 1] = early + 1, prefixes
            prefix_code[prefixes] = early
            prefixes += 1
        prefix[rank] = known[slot, 1]
        if not suffixes or suffix_code[suffixes - 1] != late:  # consecutive orders mostly have the same suffix
            suffix_code[suffixes] = late
            suffixes += 1
        suffix[rank] = suffixes - 1
    return prefix, suffix, prefix_code[:prefixes], suffix_code[:suffixes]


@kernel
def at_keys(codes, keys):
    """For each code, the keys that have a time, as a bit mask, and the code of the times of keys 0, 1, ... alone."""
    found, times = np.empty(len(codes), np.int64), np.empty(len(codes), np.int64)
    for i in range(len(codes)):
        found[i], times[i] = 0, 0
        for k in range(len(keys)):
            digit = codes[i] >> _DIGIT * keys[k] & BASE - 1
            found[i] |= int(digit > 0) << k
            times[i] |= digit << _DIGIT * k
    return found, times


class PlayerOrders:
    """The orders of one player's views."""

    def __init__(self, game: Game, player: int) -> None:
        self.game, self.player = game, player
        self.counts = order_counts(game, player)
        self._cache: dict[tuple[int, int], CutOrders] = {}
        self._cached = 0  # bytes

    def orders(self, kinds: int, cut: int) -> CutOrders:
        """All orders of views with these kinds of squares (a pattern without keys)."""
        if (kinds, cut) not in self._cache:
            # Only the kinds of squares matter, so squares are numbered 0, 1, 2, ...
            failed, placed, hidden = (squares_of(kinds, kind) for kind in (FAILED, PLACED, FAILED_ON_SETUP))
            table = all_orders(placed, failed | hidden, hidden, self.counts.orders, self.counts.ending_failed)
            classical = self.game.turn_rule == "classical"
            # Copies free the longer arrays that the kernel made.
            found = CutOrders(*(part.copy() for part in cut_orders(table, placed, classical, cut)))
            size = sum(part.nbytes for part in found)
            if self._cached + size > _CACHED_BYTES:
                self._cache.clear()
                self._cached = 0
            self._cache[kinds, cut] = found
            self._cached += size
        return self._cache[kinds, cut]


class CellTables(NamedTuple):
    """The cells of one side of an operator, for kernels; see :class:`Cells`."""

    number: Ints  # of a prefix set; -1 where it does not occur
    column_code: Ints
    first_column: Ints
    row_code: Ints
    first_row: Ints
    base: Ints


@piece
def position(values, first, last, value):
    """The number of entries of the ascending ``values[first:last]`` that are smaller than `value`."""
    low = first
    while low < last:
        middle = (low + last) // 2
        if values[middle] < value:
            low = middle + 1
        else:
            last = middle
    return low - first


@piece
def _has_time(code, time):
    """Whether a square has this time."""
    while code:
        if code % BASE == time + 1:
            return True
        code >>= _DIGIT
    return False


@kernel
def find_cells(orders, keys, tables, prefix_major, ends_at, out):
    """Write the cell of each order; orders in which a square has the time `ends_at` get a cell after all others."""
    nowhere = -1
    first, step = np.empty(len(orders.prefix_code), np.int64), np.empty(len(orders.prefix_code), np.int64)
    found, times = at_keys(orders.prefix_code, keys)
    for i in range(len(first)):
        at = tables.number[found[i]]
        column = position(tables.column_code, tables.first_column[at], tables.first_column[at + 1], times[i])
        height = tables.first_row[at + 1] - tables.first_row[at]
        width = tables.first_column[at + 1] - tables.first_column[at]
        first[i] = tables.base[at] + (column * height if prefix_major else column)
        step[i] = 1 if prefix_major else width
        if _has_time(orders.prefix_code[i], ends_at):
            first[i] = nowhere
    row = np.empty(len(orders.suffix_code), np.int64)
    found, times = at_keys(orders.suffix_code, keys)
    for i in range(len(row)):
        at = tables.number[(1 << len(keys)) - 1 - found[i]]
        row[i] = position(tables.row_code, tables.first_row[at], tables.first_row[at + 1], times[i])
        if _has_time(orders.suffix_code[i], ends_at):
            row[i] = nowhere
    for rank in range(len(out)):
        prefix, suffix = orders.prefix[rank], orders.suffix[rank]
        if first[prefix] == nowhere or row[suffix] == nowhere:
            out[rank] = tables.base[-1]
        else:
            out[rank] = first[prefix] + step[prefix] * row[suffix]


class Cells:
    """The cells of one side of an operator: for each prefix set a matrix (suffixes, prefixes).

    Attributes
    ----------
    sets : int64 (sets,)
        The prefix sets that occur, as bit masks of keys, ascending.
    heights, widths : int64 (sets,)
        Number of rows and columns of each set's matrix.
    tables : CellTables
        Codes of each set's columns and rows, ascending, and the starts of its columns, rows and cells.
    """

    def __init__(self, orders: CutOrders, keys: Ints, cut: int) -> None:
        self.cut, self.keys = cut, len(keys)
        shift = _DIGIT * self.keys
        sets, early = at_keys(orders.prefix_code, keys)
        others, late = at_keys(orders.suffix_code, keys)
        columns = np.unique(sets << shift | early)
        rows = np.unique((1 << self.keys) - 1 - others << shift | late)
        self.sets = np.unique(columns >> shift)
        first_column = np.append(np.searchsorted(columns >> shift, self.sets), len(columns))
        first_row = np.append(np.searchsorted(rows >> shift, self.sets), len(rows))
        self.widths, self.heights = np.diff(first_column), np.diff(first_row)
        number = np.full(1 << self.keys, -1)
        number[self.sets] = np.arange(len(self.sets))
        base = np.concatenate([[0], np.cumsum(self.widths * self.heights)])
        code = (1 << shift) - 1
        self.tables = CellTables(number, columns & code, first_column, rows & code, first_row, base)

    @property
    def size(self) -> int:
        """Number of cells."""
        return int(self.tables.base[-1])

    def matrices(self) -> list[tuple[int, int, int]]:
        """First cell, number of rows and number of columns of each set's matrix."""
        return list(zip(self.tables.base[:-1].tolist(), self.heights.tolist(), self.widths.tolist(), strict=True))


def times_of(codes: Ints, keys: int) -> Ints:
    """Times of the keys: int64, shape (codes, keys); -1 where a key has none."""
    return (codes[:, None] >> _DIGIT * np.arange(keys)) % BASE - 1
