"""The precision of a solver's state between iterations: the engine's, or 16 bits.

Both states do the same three passes over a slice.  A :class:`NarrowState` widens one part of a slice at a time; a
thread runs the same kernels on that part and narrows it again.  So no array of a whole slice is ever wide.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from pttt_ooc.cfr.solving.arrays import Codes, StateArrays, block_start
from pttt_ooc.cfr.sweep import tree
from pttt_ooc.cfr.sweep.engine import Engine
from pttt_ooc.cfr.sweep.sixteen import narrow, widen
from pttt_ooc.cfr.sweep.tree import Discounts, Floats, Reach, Regrets, Slice
from pttt_ooc.games.structure.index import PlayerLayout

PART = 1 << 20
"""Sequences that are widened at a time, or one view if it has more."""

_SPREAD = 0x9E3779B1  # neighbouring numbers, times this, differ in all bits

Views = tuple[int, int]  # the first, and the one after the last

_NAMES = ("regrets", "strategy_sums", "predictions")  # each has a buffer in every thread


class SolverState(Protocol):
    """The state of a solver between iterations, and the passes over a slice that use it."""

    arrays: StateArrays

    def __init__(self, engine: Engine, arrays: StateArrays) -> None: ...

    def update_regrets(
        self, player: int, n: int, part: Slice, look_ahead: Any, discounts: Discounts, iteration: int
    ) -> None:
        """As :func:`pttt_ooc.cfr.sweep.tree.update_regrets`."""

    def reach_of_regrets(
        self, player: int, n: int, reach: Reach, look_ahead: Any, discount: Any, iteration: int | None
    ) -> None:
        """As :func:`pttt_ooc.cfr.sweep.tree.reach_of_regrets`; if `iteration` is None, nothing is added to the sums."""

    def average_strategy(self, player: int, n: int, into: Floats) -> None:
        """As :func:`pttt_ooc.cfr.sweep.tree.average_strategy`."""

    def numbers(self, name: str, player: int, n: int) -> Floats:
        """Numbers of a slice, by their name in ``StateArrays``; do not change them."""


class WideState:
    """A state in the engine's precision."""

    def __init__(self, engine: Engine, arrays: StateArrays) -> None:
        self.engine, self.arrays = engine, arrays

    def _regrets(self, player: int, n: int, look_ahead: Any) -> Regrets:
        predictions = self.arrays.predictions[player][n] if self.arrays.predictions else np.empty(0, self.engine.dtype)
        return Regrets(self.arrays.regrets[player][n], predictions, look_ahead)

    def update_regrets(
        self, player: int, n: int, part: Slice, look_ahead: Any, discounts: Discounts, iteration: int
    ) -> None:
        """See :class:`SolverState`."""
        self.engine.run(player, n, tree.update_regrets, part, self._regrets(player, n, look_ahead), discounts)

    def reach_of_regrets(
        self, player: int, n: int, reach: Reach, look_ahead: Any, discount: Any, iteration: int | None
    ) -> None:
        """See :class:`SolverState`."""
        sums = self.arrays.strategy_sums[player][n]
        first = self.engine.index.players[player].sequences_of(n).start
        rest = (first, self._regrets(player, n, look_ahead), discount, sums[: 0 if iteration is None else None])
        self.engine.run(player, n, tree.reach_of_regrets, reach, *rest)

    def average_strategy(self, player: int, n: int, into: Floats) -> None:
        """See :class:`SolverState`."""
        first = self.engine.index.players[player].sequences_of(n).start
        self.engine.run(player, n, tree.average_strategy, first, self.arrays.strategy_sums[player][n], into)

    def numbers(self, name: str, player: int, n: int) -> Floats:
        """See :class:`SolverState`."""
        found: Floats = getattr(self.arrays, name)[player][n]
        return found


class NarrowState:
    """A state in 16 bits."""

    def __init__(self, engine: Engine, arrays: StateArrays) -> None:
        self.engine, self.arrays, self.players = engine, arrays, engine.index.players
        self.blocks = [block_start(mine) for mine in self.players]
        self._local = threading.local()

    def _buffer(self, name: str) -> Floats:
        """Where a thread puts widened numbers."""
        if not hasattr(self._local, "buffers"):
            self._local.buffers = np.empty((len(_NAMES), longest_part(self.players)), np.float32)
        buffer: Floats = self._local.buffers[_NAMES.index(name)]
        return buffer

    def _part(self, name: str, player: int, n: int, views: Views) -> Codes:
        """The stored numbers of some views."""
        mine, codes = self.players[player], getattr(self.arrays, name)[player][n]
        sequences = mine.sequence_start[list(views)] - mine.sequences_of(n).start
        blocks = (self.blocks[player] - self.blocks[player][mine.slice_start[n]])[list(views)]
        return Codes(codes.codes[slice(*sequences)], codes.scales[slice(*blocks)])

    def _widen_part(self, name: str, player: int, n: int, views: Views, into: Floats | None = None) -> Floats:
        into = self._buffer(name) if into is None else into
        if not getattr(self.arrays, name):
            return into[:0]
        part = self._part(name, player, n, views)
        numbers = into[: len(part.codes)]
        widen(*views, self.players[player].sequence_start, part.codes, part.scales, numbers)
        return numbers

    def _narrow(self, name: str, player: int, n: int, views: Views, numbers: Floats, iteration: int) -> None:
        if getattr(self.arrays, name):
            draw = 2 * (len(_NAMES) * iteration + _NAMES.index(name)) + player  # another number for each array
            seed = np.uint32(draw * _SPREAD % (1 << 32))
            part = self._part(name, player, n, views)
            start, bits = self.players[player].sequence_start, numbers.view(np.uint32)
            narrow(*views, start, numbers, bits, seed, part.codes, part.scales)

    def _regrets(self, player: int, n: int, views: Views, look_ahead: Any) -> Regrets:
        regrets, predictions = (self._widen_part(name, player, n, views) for name in ("regrets", "predictions"))
        return Regrets(regrets, predictions, look_ahead)

    def _share(self, player: int, n: int, work: Callable[[Views], None]) -> None:
        mine = self.players[player]

        def parts_of_run(first: int, last: int) -> None:
            for views in parts(mine, first, last):
                work(views)

        self.engine.share(player, n, parts_of_run)

    def update_regrets(
        self, player: int, n: int, part: Slice, look_ahead: Any, discounts: Discounts, iteration: int
    ) -> None:
        """See :class:`SolverState`."""
        start, upward = self.players[player].sequence_start, self.engine.tree_of(player, tree.update_regrets)

        def work(views: Views) -> None:
            state = self._regrets(player, n, views, look_ahead)
            begin, end = start[list(views)].tolist()
            values = part.sequences[begin - part.first_sequence : end - part.first_sequence]
            own = part._replace(sequences=values, first_sequence=begin)
            tree.update_regrets(*views, upward, own, state, discounts)
            self._narrow("regrets", player, n, views, state.regrets, iteration)
            self._narrow("predictions", player, n, views, state.predictions, iteration)

        self._share(player, n, work)

    def reach_of_regrets(
        self, player: int, n: int, reach: Reach, look_ahead: Any, discount: Any, iteration: int | None
    ) -> None:
        """See :class:`SolverState`."""
        start, downward = self.players[player].sequence_start, self.engine.tree_of(player, tree.reach_of_regrets)

        def work(views: Views) -> None:
            state, begin = self._regrets(player, n, views, look_ahead), int(start[views[0]])
            sums = self._buffer("strategy_sums")[:0]
            if iteration is not None:
                sums = self._widen_part("strategy_sums", player, n, views)
            tree.reach_of_regrets(*views, downward, reach, begin, state, discount, sums)
            if iteration is not None:
                self._narrow("strategy_sums", player, n, views, sums, iteration)

        self._share(player, n, work)

    def average_strategy(self, player: int, n: int, into: Floats) -> None:
        """See :class:`SolverState`."""
        mine, upward = self.players[player], self.engine.tree_of(player, tree.average_strategy)
        slice_begin = mine.sequences_of(n).start

        def work(views: Views) -> None:
            begin, end = mine.sequence_start[list(views)].tolist()
            sums = self._widen_part("strategy_sums", player, n, views)
            tree.average_strategy(*views, upward, begin, sums, into[begin - slice_begin : end - slice_begin])

        self._share(player, n, work)

    def numbers(self, name: str, player: int, n: int) -> Floats:
        """See :class:`SolverState`."""
        views, mine = self.players[player].views_of(n), self.players[player].sequences_of(n)
        return self._widen_part(
            name, player, n, (views.start, views.stop), np.empty(mine.stop - mine.start, np.float32)
        )


def parts(mine: PlayerLayout, first: int, last: int) -> Iterator[Views]:
    """Divide a run of views into parts of at most :data:`PART` sequences or one view; an empty run is one part."""
    while True:
        most = mine.sequence_start[first] + PART
        stop = int(np.searchsorted(mine.sequence_start[first : last + 1], most, side="right")) - 1
        following = min(first + max(stop, 1), last)
        yield first, following
        if following == last:
            return
        first = following


def longest_part(players: tuple[PlayerLayout, ...]) -> int:
    """Largest number of sequences of a part."""
    slices = max(int(mine.sequences_by_slice().max(initial=0)) for mine in players)
    return max(min(PART, slices), *(int(np.diff(mine.sequence_start).max(initial=0)) for mine in players))


def part_bytes(players: tuple[PlayerLayout, ...]) -> int:
    """Bytes of each thread's buffers, with a state in 16 bits."""
    return len(_NAMES) * 4 * longest_part(players)
