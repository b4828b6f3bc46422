"""Cells of the timing operators: tuples of key times, cut into prefixes and suffixes.

See :mod:`pttt_ooc.structure.timing` for their use.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.jit import kernel
from pttt_ooc.rules.game import Game
from pttt_ooc.structure.orders import all_orders, order_counts
from pttt_ooc.structure.patterns import NO_KEY, Kinds, Pattern, keys_of
from pttt_ooc.structure.views import Ints

BASE = 16  # of the numbers that stand for tuples of times; times are below BASE - 1
_SLOTS = 1024  # of a hash table; a code replaces another one in the same slot
_MULTIPLIER = 0x9E3779B1


@kernel
def _times(table, placed, classical):
    """Time of every square (by square number) in every order of `table`; see :meth:`Side.times`."""
    count, n = table.shape
    times = np.zeros((count, n), np.int8)
    for rank in range(count):
        placements = 0
        for slot in range(n):
            square = table[rank, slot]
            times[rank, square] = placements if classical else slot
            if placed >> square & 1:
                placements += 1
    return times


class Side:
    """Times and cells of one player's views."""

    def __init__(self, game: Game, player: int) -> None:
        self.game, self.player = game, player
        self.counts = order_counts(game, player)
        self._cache: dict[Kinds, NDArray[np.int8]] = {}

    def times(self, pattern: Pattern) -> NDArray[np.int8]:
        """Time of each square in each order: int8, shape (orders, squares of the view).

        Abrupt rule: the number of own attempts before; classical rule: of own placements before.
        """
        kinds = tuple(kind for kind, _ in pattern)
        if kinds not in self._cache:
            # Only kinds matter, not which squares they are: number them 0, 1, 2, ...
            placed, hidden = (sum(1 << i for i, kind in enumerate(kinds) if kind == k) for k in (1, 2))
            failed = (1 << len(kinds)) - 1 & ~placed
            table = all_orders(placed, failed, hidden, self.counts.orders, self.counts.ending_failed)
            if len(self._cache) > 64:
                self._cache.clear()
            self._cache[kinds] = _times(table, placed, self.game.turn_rule == "classical")
        return self._cache[kinds]


@kernel
def split(times, keys, cut):
    """Prefix set, code of the prefix times and code of the suffix times of each order."""
    count = len(times)
    codes = np.zeros((3, count), np.int64)
    for rank in range(count):
        codes[0, rank], codes[1, rank], codes[2, rank] = _split_one(times[rank], keys, cut)
    return codes


@kernel
def _split_one(times, keys, cut):
    found, early, late = 0, 0, 0
    for k in range(len(keys)):
        time = int(times[keys[k]])
        if time < cut:
            found |= 1 << k
            early |= (time + 1) << (4 * k)
        else:
            late |= (time + 1) << (4 * k)
    return found, early, late


class CellTables(NamedTuple):
    """The cells of one side of an operator, as kernels take them; see :class:`Cells`."""

    number: Ints  # of a prefix set; -1 where it does not occur
    column_code: Ints
    first_column: Ints
    row_code: Ints
    first_row: Ints
    base: Ints


@kernel
def _position(values, first, last, value):
    """How many of the ascending ``values[first:last]`` are smaller than `value`."""
    low = first
    while low < last:
        middle = (low + last) // 2
        if values[middle] < value:
            low = middle + 1
        else:
            last = middle
    return low - first


@kernel
def find_cells(times, keys, cut, tables, prefix_major, ends_at, out):
    """The cell of each order; orders in which a square has the time `ends_at` get a cell after all others."""
    columns = np.zeros((_SLOTS, 2), np.int64)  # a hash table of codes and their columns
    last_set, last_late, row = -1, -1, 0
    for rank in range(len(times)):
        ends = False
        for i in range(times.shape[1] if ends_at >= 0 else 0):
            ends |= times[rank, i] == ends_at
        if ends:
            out[rank] = tables.base[-1]
            continue
        prefix, early, late = _split_one(times[rank], keys, cut)
        at = tables.number[prefix]
        first_row, end_row = tables.first_row[at], tables.first_row[at + 1]
        first_column, end_column = tables.first_column[at], tables.first_column[at + 1]
        if prefix != last_set or late != last_late:  # consecutive orders mostly have the same suffix
            row = _position(tables.row_code, first_row, end_row, late)
            last_set, last_late = prefix, late
        slot = (early * _MULTIPLIER >> 32) % _SLOTS
        if columns[slot, 0] != early + 1:
            column = _position(tables.column_code, first_column, end_column, early)
            columns[slot, 0], columns[slot, 1] = early + 1, column
        column = columns[slot, 1]
        place = column * (end_row - first_row) + row if prefix_major else row * (end_column - first_column) + column
        out[rank] = tables.base[at] + place


class Cells:
    """The cells of one side of an operator: for each prefix set a matrix (suffixes, prefixes).

    Attributes
    ----------
    sets : int64 (sets,)
        The prefix sets that occur, as bit masks of keys, ascending.
    heights, widths : int64 (sets,)
        Number of rows and columns of each set's matrix.
    tables : CellTables
        Codes of each set's columns and rows, ascending, and where its columns, rows and cells begin.
    """

    def __init__(self, times: NDArray[np.int8], pattern: Pattern, cut: int) -> None:
        self.cut = cut
        self.keys = sum(key != NO_KEY for _, key in pattern)
        shift = 4 * self.keys
        sets, early, late = split(times, keys_of(pattern), cut)
        columns, rows = np.unique(sets << shift | early), np.unique(sets << shift | late)
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

    def matrix(self, which: int) -> tuple[int, int, int]:
        """First cell, number of rows and number of columns of the `which`-th set's matrix."""
        return int(self.tables.base[which]), int(self.heights[which]), int(self.widths[which])

    def times_of(self, which: int, rows: bool) -> Ints:
        """Times of the keys for every row (or column) of the `which`-th set; -1 for keys beyond the cut."""
        t = self.tables
        codes, first = (t.row_code, t.first_row) if rows else (t.column_code, t.first_column)
        return (codes[first[which] : first[which + 1], None] >> 4 * np.arange(self.keys)) % BASE - 1
