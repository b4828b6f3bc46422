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
from pttt_ooc.index import Index, PlayerIndex
from pttt_ooc.timing import Timing

Floats = NDArray[np.floating[Any]]
RUNS = 64  # per slice: enough to share out evenly, few enough to cost nothing


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

    def in_precision(self, dtype: type[np.floating[Any]]) -> Engine:
        """The same engine, computing with floats of another size."""
        return Engine(self.index, self.timings, dtype, self.threads)

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown()

    @cached_property
    def _operators(self) -> tuple[Floats, Floats]:
        return self.timings[0].u.astype(self.dtype), self.timings[1].u.astype(self.dtype)

    @cached_property
    def _runs(self) -> tuple[list[list[tuple[int, int]]], ...]:
        return tuple([_share_out(player, timing, n) for n in range(player.slices)] for player, timing in self._both())

    def _both(self) -> list[tuple[PlayerIndex, Timing]]:
        return [(self.index.players[p], self.timings[p]) for p in (0, 1)]

    def run(self, player: int, n: int, kernel: Callable[..., None], *arguments: Any) -> None:
        """Call ``kernel(first_view, last_view, *arguments)`` for all views of a slice, on all threads."""
        runs = self._runs[player][n]
        if self.threads == 1 or len(runs) == 1:
            for first, last in runs:
                kernel(first, last, *arguments)
            return
        for done in [self._pool.submit(kernel, first, last, *arguments) for first, last in runs]:
            done.result()

    def _scratch(self) -> tuple[Floats, Floats, Floats]:
        if not hasattr(self._local, "arrays"):
            cells = max(int(t.class_cells.max(initial=1)) for t in self.timings)
            self._local.arrays = tuple(np.zeros(cells, self.dtype) for _ in range(3))
        arrays: tuple[Floats, Floats, Floats] = self._local.arrays
        return arrays

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
        self.run(
            player, n, self._receive, player, nodes.start, sequences.start, node_gradient, sequence_gradient, opponent
        )
        return node_gradient, sequence_gradient

    def _receive(
        self,
        first: int,
        last: int,
        player: int,
        node: int,
        sequence: int,
        nodes: Floats,
        sequences: Floats,
        source: Reach,
    ) -> None:
        mine, theirs, t = self.index.players[player], self.index.players[1 - player], self.timings[player]
        gradient.receive(
            *(first, last, mine.node_start, mine.sequence_start, node, sequence, nodes, sequences),
            *(theirs.node_start, theirs.sequence_start, source.nodes, source.sequences, source.view_is_reached),
            *(t.group_start, t.group_class, t.group_pattern, t.group_actions),
            *(t.source_start, t.source_view, t.source_pattern, t.source_actions),
            *(t.pattern_start, t.block_first, t.block_length, t.block_row, t.block_map, t.columns),
            *(t.class_start, t.class_cells, t.class_prefix_first),
            *(t.factor, t.v_start, t.v_rows, self._operators[player]),
            *self._scratch(),
        )

    def gradient(self, player: int, opponent: Reach) -> tuple[Floats, Floats]:
        """Gradient of all nodes and of all sequences of `player`, against a realization plan."""
        slices = [self.gradient_slice(player, n, opponent) for n in range(self.index.players[player].slices)]
        return np.concatenate([s[0] for s in slices]), np.concatenate([s[1] for s in slices])

    def add_child_values(self, player: int, n: int, child_values: Floats | None, sequence_values: Floats) -> None:
        """Add the values of slice `n` + 1's nodes to the sequences of slice `n` that lead to them."""
        i = self.index.players[player]
        if child_values is None:
            return
        offsets = (i.sequences_of(n).start, i.nodes_of(n + 1).start)
        tables = (i.node_start, i.sequence_start, i.child_start, i.child_map, i.relabelling)
        self.run(player, n, tree.add_child_values, *tables, *offsets, child_values, sequence_values)


def _share_out(player: PlayerIndex, timing: Timing, n: int) -> list[tuple[int, int]]:
    """Cut the views of a slice into runs of about the same work."""
    views = player.views_of(n)
    cells = np.concatenate([[0], np.cumsum(timing.class_cells.sum(axis=1)[timing.group_class])])
    work = np.diff(cells[timing.group_start[views.start : views.stop + 1]])
    work = np.cumsum(work + np.diff(player.node_start[views.start : views.stop + 1]))
    edges = np.unique(np.searchsorted(work, np.linspace(0, work[-1], RUNS + 1)[1:-1]))
    edges = np.unique(np.concatenate([[0], edges, [len(views)]])) + views.start
    return [(int(a), int(b)) for a, b in zip(edges[:-1], edges[1:], strict=True)]
