"""The engine: runs the kernels over views, slice by slice, on all threads.

Work is divided into runs of views.  Each view is written by one run only, so that results do not
depend on the number of threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pttt_ooc.cfr.sweep import gradient, tree, vectors
from pttt_ooc.cfr.sweep.blocks import Block, blocks_of, places_of, sources_of
from pttt_ooc.cfr.sweep.gradient import Scratch
from pttt_ooc.cfr.sweep.tree import Downward, Extents, Floats, Reach, Slice, Upward
from pttt_ooc.disk.block_mover import BlockMover, Step, Use, perform_steps
from pttt_ooc.disk.memory import (
    arrays_within,
    buffer_for,
    in_memory,
    thread_needs,
    virtual_array,
)
from pttt_ooc.disk.resources import cores
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure.building import build_timing
from pttt_ooc.games.structure.index import Index, PlayerIndex, PlayerLayout, build_index
from pttt_ooc.games.structure.strategy import SlicedStrategy, Strategy
from pttt_ooc.games.structure.timing import Factors, Timing
from pttt_ooc.games.structure.views import Ints, find_pairs
from pttt_ooc.types import Symmetry

_Tree = TypeVar("_Tree", Downward, Upward, Extents)
_GradientRuns = list[tuple[Ints, Ints]]
_Places = tuple[list[slice], ...]
"""Of a gradient: parts of the opponent's sequences and nodes, and of its own."""

RUNS = 16  # per slice, at most: enough for an even share among four threads
RUNS_A_THREAD = 4  # the same for more threads
CACHE_LINE = 64  # bytes
PLAN_TOLERANCE = 1e-5  # rounding of a realization plan's sum
_USUAL_SUM = 600  # cells of the matrix between the two steps of an operator, in the 3x3 games
RUN_WORK = 30_000  # nodes and cells, at least: less work takes longer to hand over than to do
_MOVED_SWEEPS = 4  # runs of a joint sweep for each other one, as a run uses parts of all that the opponent has
_MOVED_NUMBERS = 20  # for each node of a block: those of its sequences, parents and children, and what lies between
_STEPS = 3  # blocks that the room for them holds: that of a step, that of the next one, and what both leave unused


def reach_arrays(players: Iterable[PlayerLayout], dtype: DTypeLike) -> Reach:
    """Virtual arrays that are long enough for the realization plan of any of these players."""
    sizes = np.array([(i.sequences, i.nodes, len(i.placed)) for i in players]).max(axis=0)
    sequences, nodes, views = (int(size) for size in sizes)
    return Reach(virtual_array(sequences, dtype), virtual_array(nodes, dtype), virtual_array(views, np.bool_))


def reach_part(reach: Reach, index: PlayerIndex) -> Reach:
    """One player's part of a :class:`Reach` that is long enough for either player."""
    views = len(index.placed)
    return Reach(reach.sequences[: index.sequences], reach.nodes[: index.nodes], reach.view_is_reached[:views])


@dataclass(frozen=True)
class SliceArrays:
    """Arrays for the upward passes, which work on one slice at a time.

    Attributes
    ----------
    sequences
        Long enough for any slice.
    nodes
        Long enough for any even and any odd slice: the slice above still needs a slice's nodes.
    """

    sequences: Floats
    nodes: tuple[Floats, Floats]

    def of(self, index: PlayerIndex, n: int) -> Slice:
        """The parts for slice `n`.

        Arrays are reused: `nodes` still contain slice `n` + 2, `sequences` slice `n` + 1; `child_values` are valid.
        """
        last = n + 1 == index.slices
        mine, theirs = index.nodes_of(n), index.sequences_of(n)
        below = slice(mine.stop, mine.stop) if last else index.nodes_of(n + 1)
        return Slice(
            self.sequences[: theirs.stop - theirs.start],
            self.nodes[n % 2][: mine.stop - mine.start],
            self.nodes[1 - n % 2][: below.stop - below.start],
            *(theirs.start, mine.start, below.start),
        )


def slice_arrays(players: Iterable[PlayerLayout], dtype: DTypeLike) -> SliceArrays:
    """Virtual arrays for the slices of any of these players."""
    nodes, sequences = [0, 0], 0
    for i in players:
        for n in range(i.slices):
            nodes[n % 2] = max(nodes[n % 2], i.nodes_of(n).stop - i.nodes_of(n).start)
            sequences = max(sequences, i.sequences_of(n).stop - i.sequences_of(n).start)
    both = (virtual_array(nodes[0], dtype), virtual_array(nodes[1], dtype))
    return SliceArrays(virtual_array(sequences, dtype), both)


class Workers:
    """The threads of one or more engines; they end with the last of these engines.

    Parameters
    ----------
    count
        Number of threads, with the one that hands out the work.
    """

    def __init__(self, count: int) -> None:
        self.count, self.pool = count, ThreadPoolExecutor(max(1, count - 1))

    def limit(self, count: int) -> None:
        """Limit the number of threads from now on; the present ones finish their work."""
        if count < self.count:
            self.count, self.pool = count, ThreadPoolExecutor(max(1, count - 1))


class Engine:
    """Both players' indices and timing operators, ready to sweep.

    Parameters
    ----------
    index, timings
        Tables of one game under one symmetry group; ``timings[p]`` is for the gradient of player `p`.
    dtype
        Type of reach, gradients and values: float32 or float64.
    threads
        Number of threads, 1 or more; default: the number of cores.
    workers
        Threads of another engine, to share; default: own threads.

    Raises
    ------
    ValueError
        If `dtype` or `threads` has another value.
    """

    def __init__(
        self,
        index: Index,
        timings: tuple[Timing, Timing],
        dtype: type[np.floating[Any]],
        threads: int | None = None,
        workers: Workers | None = None,
    ) -> None:
        self.index, self.timings, self.dtype = index, timings, np.dtype(dtype)
        if self.dtype not in (np.float32, np.float64):
            raise ValueError(f"an engine computes with float32 or float64, not with {self.dtype}")
        if threads is not None and threads < 1:
            raise ValueError(f"an engine has 1 thread or more, not {threads}")
        self.workers = workers or Workers(cores() if threads is None else threads)
        self._local = threading.local()  # of each thread: its buffer, and the arrays in it in either precision
        self.mover: BlockMover | None = None  # for arrays that do not fit into memory
        self._ends = ExitStack()
        self._parts: dict[tuple[str, int, int], list[tuple[_GradientRuns, _Places]]] = {}  # of slices that are moved

    @classmethod
    def of_game(
        cls,
        game: Game,
        symmetry: Symmetry = "none",
        dtype: type[np.floating[Any]] = np.float64,
        threads: int | None = None,
    ) -> Engine:
        """Build all tables in memory: a moment for a small game, about a minute for the full one."""
        pairs = find_pairs(game)
        index = build_index(game, symmetry, pairs)
        return cls(index, (build_timing(index, pairs, 0), build_timing(index, pairs, 1)), dtype, threads)

    def in_precision(self, dtype: type[np.floating[Any]]) -> Engine:
        """An engine that computes with `dtype` on the same threads: this one, if it has that precision."""
        if self.dtype == dtype:
            return self
        other = Engine(self.index, self.timings, dtype, workers=self.workers)
        # A thread works in one precision at a time.
        other._local, other.mover, other._parts = self._local, self.mover, self._parts
        return other

    def idle(self) -> Engine:
        """An engine whose slices have no views: it loads kernels by calling them, and they change nothing."""
        other = Engine(self.index, self.timings, self.dtype.type, workers=self.workers)
        other._local, other._trees = self._local, self._trees
        other._runs = tuple(
            [[(i.views_of(n).start, i.views_of(n).start)] for n in range(i.slices)] for i in self.index.players
        )
        other._gradient_runs = tuple(
            [[(views[:0], groups[:0])] for (views, groups), *_ in runs] for runs in self._gradient_runs
        )
        return other

    def close(self) -> None:
        """End the threads, also for the engines that share them."""
        self._ends.close()
        self.workers.pool.shutdown()

    def move_mapped(self, room: int) -> None:
        """From now on move mapped arrays block by block through so many bytes of memory, if there are any."""
        if room:
            self.mover = self._ends.enter_context(BlockMover(room))

    @property
    def threads(self) -> int:
        """Number of threads."""
        return self.workers.count

    @property
    def _most_runs(self) -> int:
        """Most runs of views per slice.  The division into runs does not change a bit of the result."""
        return max(RUNS, RUNS_A_THREAD * self.threads)

    @cached_property
    def _runs(self) -> tuple[list[list[tuple[int, int]]], ...]:
        """For each player and slice, the runs of views for a pass over the tree."""
        return tuple(
            [_share_out(i.node_start, i.views_of(n), self._most_runs) for n in range(i.slices)]
            for i in self.index.players
        )

    @cached_property
    def _blocks(self) -> tuple[list[list[Block]], ...]:
        """For each player and slice, its blocks: one, or many if they are moved."""
        if self.mover is None:
            return tuple(
                [[Block(i, run)] for run in runs] for i, runs in zip(self.index.players, self._runs, strict=True)
            )
        found = []
        most = max(1, self.mover.most // (_STEPS * _MOVED_NUMBERS * self.dtype.itemsize))  # nodes of a block
        for i in self.index.players:
            nodes = [i.nodes_of(n).stop - i.nodes_of(n).start for n in range(i.slices)]
            runs = [
                _share_out(i.node_start, i.views_of(n), 1 + self.threads * nodes[n] // most) for n in range(i.slices)
            ]
            found.append([blocks_of(i, each, self.threads) for each in runs])
        return tuple(found)

    def blocks(self, player: int, n: int) -> list[Block]:
        """The blocks of a slice."""
        return self._blocks[player][n]

    @cached_property
    def _gradient_runs(self) -> tuple[list[_GradientRuns], ...]:
        """For each receiver and slice, the runs of views for a joint sweep, and their groups by operator."""
        most = self._most_runs * (1 if self.mover is None else _MOVED_SWEEPS)
        return tuple(
            [_share_out_groups(player, timing, n, most) for n in range(player.slices)]
            for player, timing in zip(self.index.players, self.timings, strict=True)
        )

    @cached_property
    def _trees(self) -> tuple[tuple[Downward, Upward, Extents], ...]:
        def gather_tree(player: PlayerIndex, tree: type[_Tree]) -> _Tree:
            return tree(*(getattr(player, name) for name in tree._fields))

        return tuple(
            (gather_tree(p, Downward), gather_tree(p, Upward), gather_tree(p, Extents)) for p in self.index.players
        )

    def run(self, player: int, n: int, kernel: Callable[..., None], *arguments: Any) -> None:
        """Call ``kernel(first_view, last_view, tree, *arguments)`` for all views of a slice, on all threads."""
        self._run(player, self._runs[player][n], kernel, *arguments)

    def run_views(self, player: int, views: range, kernel: Callable[..., None], *arguments: Any) -> None:
        """As :meth:`run`, for some adjacent views of a slice."""
        runs = _share_out(self.index.players[player].node_start, views, self._most_runs)
        self._run(player, runs, kernel, *arguments)

    def run_block(self, player: int, block: Block, kernel: Callable[..., None], *arguments: Any) -> None:
        """As :meth:`run`, for the views of a block."""
        self._run(player, block.runs, kernel, *arguments)

    def _run(self, player: int, runs: list[tuple[int, int]], kernel: Callable[..., None], *arguments: Any) -> None:
        mine = self.tree_of(player, kernel)
        self._call([(kernel, *run, mine, *arguments) for run in runs])

    def perform(self, steps: Iterable[Step]) -> None:
        """Do some steps in order, each when what it uses is in memory."""
        perform_steps(steps, self.mover)

    def gradient_steps(self, player: int, n: int, opponent: Reach, into: Slice) -> Iterator[Step]:
        """The steps that do :meth:`gradient_slice`: one, or several if it uses too much to be moved at once."""
        if self.mover is None:
            yield Step((), partial(self.gradient_slice, player, n, opponent, into))
            return
        place = (self.dtype.name, player, n)
        if place not in self._parts:
            self._parts[place] = list(self._divide_gradient(player, self._gradient_runs[player][n]))
        for runs, places in self._parts[place]:
            work = partial(self._call_gradient, player, runs, opponent, into)
            yield Step(_uses_of_gradient(places, opponent, into), work)

    def _divide_gradient(self, player: int, runs: _GradientRuns) -> Iterator[tuple[_GradientRuns, _Places]]:
        """Runs of a slice that are done together, as what they use can be moved at once, and where that is."""
        assert self.mover is not None
        views, groups = (np.concatenate(each) for each in zip(*runs, strict=True))
        i, source = self.index.players[player], self.index.players[1 - player]
        own = (places_of(views, i.sequence_start), places_of(views, i.node_start))
        places = (*sources_of(self.timings[player], source, groups), *own)
        numbers = sum(part.stop - part.start for parts in places for part in parts)
        moved = numbers * self.dtype.itemsize + len(source.placed)
        if moved * _STEPS <= self.mover.most or len(runs) == 1:
            yield runs, places
            return
        by_view, half = sorted(runs, key=lambda run: int(run[0][0])), len(runs) // 2
        for part in (by_view[:half], by_view[half:]):
            yield from self._divide_gradient(player, part)

    def tree_of(self, player: int, kernel: Callable[..., None]) -> Downward | Upward:
        """The part of a player's tree that a kernel takes."""
        downward, upward, _ = self._trees[player]
        return downward if kernel in tree.GOING_DOWN else upward

    def _call(self, calls: list[tuple[Any, ...]]) -> None:
        left = iter(calls)  # each thread, this one included, takes the next call when it has done one

        def work() -> None:
            for kernel, *arguments in left:
                kernel(*arguments)

        others = [self.workers.pool.submit(work) for _ in range(min(self.threads, len(calls)) - 1)]
        try:
            work()
        finally:
            for other in others:
                other.result()

    def _scratch_arrays(self, dtype: DTypeLike) -> Scratch:
        """Virtual arrays for one thread."""
        source, receiver = (max(int(t.operator_cells[:, side].max(initial=1)) for t in self.timings) for side in (0, 1))
        return scratch_arrays(source, receiver, max(_largest_sum(t) for t in self.timings), dtype)

    def _buffer(self) -> NDArray[np.uint8]:
        """A virtual array for the buffer of a thread, large enough for either precision."""
        buffer: NDArray[np.uint8] = buffer_for(self._scratch_arrays(np.float64))
        return buffer

    def _scratch(self) -> Scratch:
        mine = self._local.__dict__
        if self.dtype.name not in mine:
            if "buffer" not in mine:
                mine["buffer"] = _align_buffer(self._buffer())
            mine[self.dtype.name] = arrays_within(mine["buffer"], self._scratch_arrays(self.dtype))
        scratch: Scratch = mine[self.dtype.name]
        return scratch

    def reach(self, player: int, weights: Floats, into: Reach | None = None) -> Reach:
        """Realization plan of a strategy.

        Parameters
        ----------
        weights
            float, shape (sequences,): the engine scales them to sum to 1 at every infoset.
        into
            The arrays to write to; default: new ones.

        Raises
        ------
        ValueError
            If `weights` have another shape.
        """
        i = self.index.players[player]
        if weights.shape != (i.sequences,):
            raise ValueError(f"player {player} has {i.sequences:,} sequences, but weights have shape {weights.shape}")
        reach = into or in_memory(reach_arrays([i], self.dtype))
        self.perform(self.reach_steps(Strategy(self.index, player, weights), reach))
        return reach

    def reach_steps(self, weights: SlicedStrategy, into: Reach) -> Iterator[Step]:
        """The steps that do :meth:`reach`, with weights that come part by part."""
        i = self.index.players[weights.player]
        for n in range(i.slices):
            for block in self.blocks(weights.player, n):
                uses = chain(weights.uses(block.views), uses_of_reach(block, into))
                yield Step(uses, partial(self._reach_of_block, weights, block, into))
        yield Step([Use(into.sequences[i.sequences_of(0)])], partial(_check_root, into.sequences[i.sequences_of(0)]))

    def _reach_of_block(self, weights: SlicedStrategy, block: Block, into: Reach) -> None:
        rest = (into, block.sequences.start, weights.of_views(block.views))
        self.run_block(weights.player, block, tree.reach_of_strategy, *rest)

    def gradient_slice(self, player: int, n: int, opponent: Reach, into: Slice) -> None:
        """Gradient of the nodes and sequences of slice `n` of `player`, against a realization plan."""
        self._call_gradient(player, self._gradient_runs[player][n], opponent, into)

    def _call_gradient(self, player: int, runs: _GradientRuns, opponent: Reach, into: Slice) -> None:
        self._call([(self._receive, *run, player, into, opponent) for run in runs])

    def _receive(self, views: Ints, groups: Ints, player: int, into: Slice, source: Reach) -> None:
        extents = (self._trees[player][-1], self._trees[1 - player][-1])
        gradient.receive(views, groups, *extents, source, *self.timings[player].tables(), self._scratch(), into)

    def gradient(self, player: int, opponent: Reach) -> tuple[Floats, Floats]:
        """Gradient of all nodes and sequences of `player`, against a realization plan."""
        i, runs = self.index.players[player], self._gradient_runs[player]
        nodes, sequences = np.empty(i.nodes, self.dtype), np.empty(i.sequences, self.dtype)
        rest = (player, Slice(sequences, nodes, nodes[:0], 0, 0, 0), opponent)
        # The deepest slices come first, as they have most of the work.
        self._call([(self._receive, *run, *rest) for n in reversed(range(i.slices)) for run in runs[n]])
        return nodes, sequences


def _uses_of_gradient(places: _Places, opponent: Reach, into: Slice) -> Iterator[Use]:
    """What some runs of a joint sweep need."""
    arrays = (opponent.sequences, opponent.nodes, into.sequences, into.nodes)
    firsts = (0, 0, into.first_sequence, into.first_node)
    for k, (array, first, parts) in enumerate(zip(arrays, firsts, places, strict=True)):
        for part in parts:
            yield Use(array[part.start - first : part.stop - first], k > 1)
    yield Use(opponent.view_is_reached)


def uses_of_reach(block: Block, reach: Reach) -> Iterator[Use]:
    """What a pass downward over a block needs of a player's reach."""
    yield Use(reach.nodes[block.nodes], True)
    yield Use(reach.sequences[block.sequences], True)
    yield Use(reach.view_is_reached[block.views.start : block.views.stop], True)
    for part in block.parents:
        yield Use(reach.sequences[part])


def uses_of_values(block: Block, s: Slice, changes: bool) -> Iterator[Use]:
    """What a pass upward over a block needs of a slice's values; it changes nodes, and sequences if told so."""
    yield Use(s.sequences[block.sequences_from(s.first_sequence)], changes)
    yield Use(s.nodes[block.nodes_from(s.first_node)], True)
    for part in block.children:
        yield Use(s.child_values[part.start - s.first_child : part.stop - s.first_child])


def _check_root(sequences: Floats) -> None:
    assert not len(sequences) or abs(sequences.sum() - 1) < PLAN_TOLERANCE, "a realization plan sums to 1 at the root"


def scratch_arrays(source: int, receiver: int, matrix: int, dtype: DTypeLike) -> Scratch:
    """Virtual arrays for one thread.

    Parameters
    ----------
    source, receiver
        Most cells of either side of an operator.
    matrix
        Most cells of the matrix between the two steps of an operator.
    """
    cells = gradient.padded_size(max(source, receiver))  # of either side, as each temporarily takes the other's place
    z, x, turned = (virtual_array(size * vectors.LANES, dtype) for size in (cells, cells, matrix))
    state, z_rows = (virtual_array(source, kind) for kind in (np.uint8, np.uint64))
    turned_rows, members = virtual_array(matrix, np.uint64), virtual_array(vectors.LANES, np.int64)
    return Scratch(z, x, turned, state, z_rows, turned_rows, members)


def needs_of_cells(source: int, receiver: int) -> dict[str, int]:
    """As :func:`engine_needs`, from the largest numbers of cells."""
    return thread_needs(cells=buffer_for(scratch_arrays(source, receiver, _USUAL_SUM, np.float64)).nbytes)


def engine_needs(engine: Engine) -> dict[str, int]:
    """Bytes that each thread of an engine needs, in either precision, by purpose."""
    return thread_needs(cells=engine._buffer().nbytes)


def _share_out(work: NDArray[np.int64], views: range, most: int) -> list[tuple[int, int]]:
    """Divide `views` into at most `most` runs of about equal work; ``work[v]`` is the work of all views before `v`."""
    runs = int(np.clip((work[views.stop] - work[views.start]) // RUN_WORK, 1, most))
    ends = np.linspace(work[views.start], work[views.stop], runs + 1)[1:-1]
    edges = np.searchsorted(work[views.start : views.stop], ends) + views.start
    edges = np.unique(np.concatenate([[views.start], edges, [views.stop]]))
    return [(int(a), int(b)) for a, b in zip(edges[:-1], edges[1:], strict=True)]


def _share_out_groups(player: PlayerIndex, timing: Timing, n: int, most: int) -> _GradientRuns:
    """Runs of views for the joint sweep, each with its groups by operator; runs with most work come first.

    Views with the same number of placed squares share their operators.  They stay together, and
    runs are divided where no lane remains empty.
    """
    cells = np.concatenate([[0], np.cumsum(timing.operator_cells.sum(axis=1)[timing.group_operator])])
    work = np.diff(player.node_start + cells[timing.group_start])
    views = np.array(player.views_of(n))
    enough = max(int(work[views].sum()) // most, RUN_WORK)
    placed = np.bitwise_count(player.placed[views])
    shares: list[list[int]] = [[]]
    for count in np.unique(placed):
        same = views[placed == count].tolist()
        for k in range(0, len(same), vectors.LANES):
            if work[shares[-1]].sum() >= enough:
                shares.append([])
            shares[-1] += same[k : k + vectors.LANES]
    runs = []
    for share in sorted(shares, key=lambda share: -work[share].sum()):
        groups = np.concatenate([np.arange(timing.group_start[v], timing.group_start[v + 1]) for v in share])
        runs.append((np.array(share), groups[np.argsort(timing.group_operator[groups], kind="stable")]))
    return runs


def _align_buffer(buffer: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Memory for a virtual buffer that begins at a cache line, so that no vector crosses two lines."""
    raw = np.empty(buffer.nbytes + CACHE_LINE, np.uint8)
    start = -raw.ctypes.data % CACHE_LINE
    return raw[start : start + buffer.nbytes]


def _largest_sum(timing: Timing) -> int:
    """Number of cells of the largest matrix between the two steps of an operator."""
    f = Factors(*timing.factor.astype(np.int64))
    before, after = f.source_suffixes * f.receiver_prefixes, f.receiver_suffixes * f.source_prefixes
    return int(np.maximum(before, after).max(initial=1))
