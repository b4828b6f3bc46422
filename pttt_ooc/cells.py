"""Cells of the timing operators: tuples of key times, cut into prefixes and suffixes.

See :mod:`pttt_ooc.timing` for what they are good for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.game import Game
from pttt_ooc.jit import kernel
from pttt_ooc.orders import all_orders, order_counts
from pttt_ooc.views import Ints

BASE = 16  # of the codes that tell tuples of times apart; times stay below BASE - 1
NO_KEY = -1

Kinds = tuple[int, ...]  # see `kinds_of`
Pattern = tuple[tuple[int, int], ...]  # for each square of a view, ascending: kind, key number


@kernel
def _times(table, placed, classical):
    """Time of every square (by square number) in every order of `table`; see `order_times`."""
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
            placed, opening = (sum(1 << i for i, kind in enumerate(kinds) if kind == k) for k in (1, 2))
            failed = (1 << len(kinds)) - 1 & ~placed
            table = all_orders(placed, failed, opening, self.counts.orders, self.counts.ending_failed)
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
        for k in range(len(keys)):
            time = int(times[rank, keys[k]])
            if time < cut:
                codes[0, rank] |= 1 << k
                codes[1, rank] += (time + 1) << (4 * k)
            else:
                codes[2, rank] += (time + 1) << (4 * k)
    return codes


def keys_of(pattern: Pattern) -> Ints:
    """Position, among a view's squares, of key 0, 1, ..."""
    return np.array([i for _, i in sorted((key, i) for i, (_, key) in enumerate(pattern) if key != NO_KEY)], np.int64)


class Cells:
    """The cells of one side of an operator: for each prefix set a matrix (suffixes, prefixes)."""

    def __init__(self, times: NDArray[np.int8], pattern: Pattern, cut: int) -> None:
        self.cut = cut
        self.keys = sum(key != NO_KEY for _, key in pattern)
        self._shift = 4 * self.keys
        sets, early, late = split(times, keys_of(pattern), cut)
        self.sets = np.unique(sets)
        self.columns = np.unique(sets << self._shift | early)
        self.rows = np.unique(sets << self._shift | late)
        column_set, row_set = self.columns >> self._shift, self.rows >> self._shift
        self.first_column = np.searchsorted(column_set, self.sets)
        self.first_row = np.searchsorted(row_set, self.sets)
        self.widths = np.searchsorted(column_set, self.sets, side="right") - self.first_column
        self.heights = np.searchsorted(row_set, self.sets, side="right") - self.first_row
        self.base = np.concatenate([[0], np.cumsum(self.widths * self.heights)])

    @property
    def size(self) -> int:
        """Number of cells."""
        return int(self.base[-1])

    def locate(self, sets: Ints, early: Ints, late: Ints, prefix_major: bool) -> Ints:
        """The cells of orders given by their codes (see `split`)."""
        at = np.searchsorted(self.sets, sets)
        column = np.searchsorted(self.columns, sets << self._shift | early) - self.first_column[at]
        row = np.searchsorted(self.rows, sets << self._shift | late) - self.first_row[at]
        place: Ints = column * self.heights[at] + row if prefix_major else row * self.widths[at] + column
        return self.base[at] + place

    def times_of(self, which: int, rows: bool) -> Ints:
        """Times of the keys for every row (or column) of the `which`-th set; -1 where elsewhere."""
        codes = self.rows if rows else self.columns
        first = (self.first_row if rows else self.first_column)[which]
        count = (self.heights if rows else self.widths)[which]
        return (codes[first : first + count, None] >> 4 * np.arange(self.keys)) % BASE - 1


def count_of(pattern: Pattern, kind: int) -> int:
    """Number of a view's squares of one kind."""
    return sum(k == kind for k, _ in pattern)
