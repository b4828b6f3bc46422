"""The engine: runs the kernels over views, slice by slice, on all threads.

Work is cut into runs of views.  Every view is written by one run only, so that results do not
depend on the number of threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc import gradient, tree
from pttt_ooc.game import Game
from pttt_ooc.index import Index, PlayerIndex, Symmetry, build_index
from pttt_ooc.timing import Timing, build_timing
from pttt_ooc.views import Ints, find_pairs

Floats = NDArray[np.floating[Any]]
RUNS = 16  # per slice, at most: enough to share out evenly
CACHE_LINE = 64  # bytes
RUN_WORK = 30_000  # nodes and cells, at least: less is done sooner than it is handed to another thread


@dataclass(frozen=True)
class Reach:
    """A realization plan of one player.

    Attributes
    ----------
    nodes : float (nodes,)
        Product of the player's own probabilities on the way to each node.
    sequences : float (sequences,)
        The same, with the action that follows.
    view_is_reached : bool (views,)
        Whether any node of a view has non-zero reach.
    """

    nodes: Floats
    sequences: Floats
    view_is_reached: NDArray[np.bool_]


class Engine:
    """Both players' indices and timing operators, ready to sweep.

    Parameters
    ----------
    index, timings
        Of one game under one symmetry group; ``timings[p]`` receives the gradient of player `p`.
    dtype
        float32 or float64: of reach, gradients and values.
    threads
        Number of threads; default: all cores.
    """

    def __init__(
        self, index: Index, timings: tuple[Timing, Timing], dtype: type[np.floating[Any]], threads: int | None = None
    ) -> None:
        self.index, self.timings, self.dtype = index, timings, np.dtype(dtype)
        self.threads = threads or len(os.sched_getaffinity(0))
        self._pool = ThreadPoolExecutor(self.threads)
        self._local = threading.local()

    @classmethod
    def of_game(
        cls,
        game: Game,
        symmetry: Symmetry = "none",
        dtype: type[np.floating[Any]] = np.float64,
        threads: int | None = None,
    ) -> Engine:
        """Build everything in memory: a moment for a small game, about a minute for the full one."""
        pairs = find_pairs(game)
        index = build_index(game, symmetry, pairs)
        return cls(index, (build_timing(index, pairs, 0), build_timing(index, pairs, 1)), dtype, threads)

    def in_precision(self, dtype: type[np.floating[Any]]) -> Engine:
        """The same engine, computing with floats of another size."""
        return Engine(self.index, self.timings, dtype, self.threads)

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown()

    @cached_property
    def _runs(self) -> tuple[list[list[tuple[int, int]]], ...]:
        """For each player and slice, the runs of views of a pass over the tree."""
        return tuple([_share_out(i.node_start, i.views_of(n)) for n in range(i.slices)] for i in self.index.players)

    @cached_property
    def _gradient_runs(self) -> tuple[list[list[tuple[Ints, Ints]]], ...]:
        """For each receiver and slice, the runs of views of a joint sweep, and their groups by operator."""
        return tuple(
            [_share_out_groups(player, timing, n) for n in range(player.slices)]
            for player, timing in zip(self.index.players, self.timings, strict=True)
        )

    def run(self, player: int, n: int, kernel: Callable[..., None], *arguments: Any) -> None:
        """Call ``kernel(first_view, last_view, *arguments)`` for all views of a slice, on all threads."""
        self._call([(kernel, *run, *arguments) for run in self._runs[player][n]])

    def _call(self, calls: list[tuple[Any, ...]]) -> None:
        if self.threads == 1 or len(calls) == 1:
            for kernel, *arguments in calls:
                kernel(*arguments)
            return
        for done in [self._pool.submit(*call) for call in calls]:
            done.result()

    def _scratch(self) -> tuple[NDArray[Any], ...]:
        """For this thread: cells one lane after the other, cells of source and receiver, and one matrix of cells."""
        if not hasattr(self._local, "arrays"):
            most = [max(int(t.class_cells[:, side].max(initial=1)) for t in self.timings) for side in (0, 1)]
            cells, matrix = [gradient.room_of(size) for size in most], max(_largest_sum(t) for t in self.timings)
            sizes = [max(cells), *cells, matrix]
            self._local.arrays = (
                *[_aligned_zeros(size * gradient.LANES, self.dtype) for size in sizes],
                np.zeros(most[0], np.uint8),
                *[np.zeros(size, np.uint64) for size in (most[0], matrix)],
            )
        scratch: tuple[NDArray[Any], ...] = self._local.arrays
        return scratch

    def empty_reach(self, player: int) -> Reach:
        """Room for a realization plan of `player`."""
        mine = self.index.players[player]
        views = np.zeros(len(mine.placed), np.bool_)
        return Reach(np.zeros(mine.nodes, self.dtype), np.zeros(mine.sequences, self.dtype), views)

    def pull_reach(self, player: int, n: int, reach: Reach) -> None:
        """Reach of the nodes of slice `n` from that of the sequences of slice `n` - 1."""
        if n == 0:
            reach.nodes[0] = 1
            reach.view_is_reached[0] = True
            return
        i = self.index.players[player]
        tables = (i.node_start, i.block_start, i.parent_start, i.parent_map, i.relabelling)
        self.run(player, n, tree.pull_reach, *tables, reach.sequences, reach.nodes, reach.view_is_reached)

    def reach(self, player: int, probabilities: Floats) -> Reach:
        """Realization plan of a strategy; `probabilities` has shape (sequences,)."""
        i = self.index.players[player]
        reach = self.empty_reach(player)
        for n in range(i.slices):
            self.pull_reach(player, n, reach)
            arrays = (i.node_start, i.sequence_start, 0, reach.nodes, probabilities, reach.sequences)
            self.run(player, n, tree.multiply_reach, *arrays)
        return reach

    def gradient_slice(self, player: int, n: int, opponent: Reach) -> tuple[Floats, Floats]:
        """Gradient of the nodes and of the sequences of slice `n` of `player`."""
        i = self.index.players[player]
        nodes, sequences = i.nodes_of(n), i.sequences_of(n)
        node_gradient = np.empty(nodes.stop - nodes.start, self.dtype)
        sequence_gradient = np.empty(sequences.stop - sequences.start, self.dtype)
        rest = (player, nodes.start, sequences.start, node_gradient, sequence_gradient, opponent)
        self._call([(self._receive, *run, *rest) for run in self._gradient_runs[player][n]])
        return node_gradient, sequence_gradient

    def _receive(
        self,
        views: Ints,
        groups: Ints,
        player: int,
        node: int,
        sequence: int,
        nodes: Floats,
        sequences: Floats,
        source: Reach,
    ) -> None:
        mine, theirs = self.index.players[player], self.index.players[1 - player]
        gradient.receive(
            *(views, groups, mine.node_start, mine.sequence_start, node, sequence, nodes, sequences),
            *(theirs.node_start, theirs.sequence_start, source.nodes, source.sequences, source.view_is_reached),
            *self.timings[player].tables(),
            *self._scratch(),
        )

    def gradient(self, player: int, opponent: Reach) -> tuple[Floats, Floats]:
        """Gradient of all nodes and of all sequences of `player`, against a realization plan."""
        i, runs = self.index.players[player], self._gradient_runs[player]
        nodes, sequences = np.empty(i.nodes, self.dtype), np.empty(i.sequences, self.dtype)
        rest = (player, 0, 0, nodes, sequences, opponent)
        # Most work is in the deepest slices.
        self._call([(self._receive, *run, *rest) for n in reversed(range(i.slices)) for run in runs[n]])
        return nodes, sequences

    def add_child_values(self, player: int, n: int, child_values: Floats | None, sequence_values: Floats) -> None:
        """Add the values of slice `n` + 1's nodes to the sequences of slice `n` that lead to them."""
        i = self.index.players[player]
        if child_values is None:
            return
        offsets = (i.sequences_of(n).start, i.nodes_of(n + 1).start)
        tables = (i.node_start, i.sequence_start, i.child_start, i.child_map, i.relabelling)
        self.run(player, n, tree.add_child_values, *tables, *offsets, child_values, sequence_values)


def _share_out(work: NDArray[np.int64], views: range) -> list[tuple[int, int]]:
    """Cut `views` into runs of about the same work; `work` is the sum of that of all views before each.

    The cut does not depend on the number of threads, so neither does the result.
    """
    runs = int(np.clip((work[views.stop] - work[views.start]) // RUN_WORK, 1, RUNS))
    ends = np.linspace(work[views.start], work[views.stop], runs + 1)[1:-1]
    edges = np.searchsorted(work[views.start : views.stop], ends) + views.start
    edges = np.unique(np.concatenate([[views.start], edges, [views.stop]]))
    return [(int(a), int(b)) for a, b in zip(edges[:-1], edges[1:], strict=True)]


def _share_out_groups(player: PlayerIndex, timing: Timing, n: int) -> list[tuple[Ints, Ints]]:
    """Runs of views for the joint sweep, each with its groups by operator; those with most work come first.

    Views with the same number of placed squares share their operators.  They are kept together, and
    runs are cut where they leave no lane empty.
    """
    cells = np.concatenate([[0], np.cumsum(timing.class_cells.sum(axis=1)[timing.group_class])])
    work = np.diff(player.node_start + cells[timing.group_start])
    views = np.array(player.views_of(n))
    enough = max(int(work[views].sum()) // RUNS, RUN_WORK)
    placed = np.bitwise_count(player.placed[views])
    shares: list[list[int]] = [[]]
    for count in np.unique(placed):
        same = views[placed == count].tolist()
        for k in range(0, len(same), gradient.LANES):
            if work[shares[-1]].sum() >= enough:
                shares.append([])
            shares[-1] += same[k : k + gradient.LANES]
    runs = []
    for share in sorted(shares, key=lambda share: -work[share].sum()):
        groups = np.concatenate([np.arange(timing.group_start[v], timing.group_start[v + 1]) for v in share])
        runs.append((np.array(share), groups[np.argsort(timing.group_class[groups], kind="stable")]))
    return runs


def _aligned_zeros(size: int, dtype: np.dtype[Any]) -> Floats:
    """Zeros that begin with a line of the cache, so that no vector lies across two."""
    raw = np.zeros(size * dtype.itemsize + CACHE_LINE, np.uint8)
    start = -raw.ctypes.data % CACHE_LINE
    found: Floats = raw[start : start + size * dtype.itemsize].view(dtype)
    return found


def _largest_sum(timing: Timing) -> int:
    """Number of cells of the largest matrix between the two steps of an operator."""
    f = timing.factor.astype(np.int64)
    return int(np.maximum(f[:, 1] * f[:, 5], f[:, 4] * f[:, 2]).max(initial=1))
