"""What is measured: sweeps, iterations of a solve, an evaluation, the memory's speed and the baseline.

A function here takes an engine or a trie and returns rows.  A row's `seconds` is the median over
several goes, after one that does not count (it compiles, and touches the memory for the first time).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

from benchmarks.walk import build_trie, uniform_reach, walk_all
from pttt_ooc.cfr.solving.arrays import state_arrays
from pttt_ooc.cfr.solving.evaluation import evaluate
from pttt_ooc.cfr.solving.solve_run import solve
from pttt_ooc.cfr.sweep.engine import Engine
from pttt_ooc.cfr.sweep.tree import Reach, Slice
from pttt_ooc.config import SolveConfig
from pttt_ooc.disk.commits import ResumableState
from pttt_ooc.disk.memory import leaves
from pttt_ooc.disk.resources import cores
from pttt_ooc.errors import StoreError
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure.strategy import Strategy, uniform_strategy
from pttt_ooc.games.structure.views import Pairs
from pttt_ooc.pipeline.stages import enumerate as enumerate_stage
from pttt_ooc.pipeline.stages import index as index_stage
from pttt_ooc.pipeline.stages.engines import open_engine
from pttt_ooc.pipeline.stages.stage_context import inputs
from pttt_ooc.types import Symmetry

PART = 64  # starting points of the baseline's walk: enough to share out, and to be typical of all
START_LENGTH = 4  # attempts before a starting point; on the full board about five million histories follow each
COPIED = 1 << 28  # bytes, more than any cache holds


@dataclass(frozen=True)
class Spent:
    """Median time of one go: elapsed, and of all processors together."""

    seconds: float
    cpu_seconds: float


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes
    ----------
    name
        What was measured.
    seconds, cpu_seconds
        Median time, elapsed and of all processors.
    sweeps
        How many players' gradients it contains: 2 stand for all histories of the game, visited once.
    memory
        Bytes that those gradients must read and write at least; 0 if it does not matter.
    """

    name: str
    seconds: float
    cpu_seconds: float
    sweeps: int = 0
    memory: int = 0


def timed(work: Callable[[], Any], repeats: int) -> Spent:
    """Median time of `work`, after one go that is not counted."""
    work()
    found = []
    for _ in range(repeats):
        begun, cpu = time.perf_counter(), time.process_time()
        work()
        found.append((time.perf_counter() - begun, time.process_time() - cpu))
    return Spent(median(f[0] for f in found), median(f[1] for f in found))


@contextmanager
def prepared(
    data: Path,
    game: str,
    symmetry: Symmetry,
    dtype: type[np.floating[Any]],
    note: Callable[[str], None],
    threads: int | None = None,
) -> Iterator[Engine]:
    """An engine from the products of the stages in ``data/game/symmetry``, which are made where they are missing.

    By default, it has a thread for each core.
    """
    directory = data / game / symmetry
    try:
        inputs(directory, "enumerate", "index")
    except StoreError:
        note(f"Making the index (symmetry {symmetry}) ...")
        enumerate_stage.run(game, directory)
        index_stage.run(game, symmetry, directory)
    with open_engine(directory, game, symmetry, dtype, threads or cores()) as engine:
        yield engine


# ---------------------------------------------------------------------------------------------
# The yardsticks


def memory_speed(repeats: int) -> float:
    """Bytes read and written per second when all cores copy a large array."""
    source, target = np.ones(COPIED, np.uint8), np.ones(COPIED, np.uint8)
    edges = np.linspace(0, COPIED, cores() + 1).astype(int)
    parts = [slice(a, b) for a, b in zip(edges[:-1], edges[1:], strict=True)]

    def copy(part: slice) -> None:
        np.copyto(target[part], source[part])

    with ThreadPoolExecutor(len(parts)) as pool:
        return 2 * COPIED / timed(lambda: list(pool.map(copy, parts)), repeats).seconds


class Baseline:
    """The walk over histories, on a part of the tree that is spread evenly over it.

    Parameters
    ----------
    game, pairs
        The game and all its pairs of views.

    Attributes
    ----------
    histories
        Number of histories of the whole game.
    visited
        Number of histories of the part.
    threads
        One for each core, or fewer if memory is short: each has its own gradients.
    """

    def __init__(self, game: Game, pairs: Pairs) -> None:
        self.trie = build_trie(game, pairs)
        self.histories = pairs.decision_histories + pairs.terminal_histories
        self.visited = 0
        self.reach = uniform_reach(self.trie, np.float32)
        room = psutil.virtual_memory().available // (2 * self.reach.nbytes)  # how many fit into half of it
        self.threads = max(1, min(cores(), int(room)))
        length = next(n for n in (START_LENGTH, 2, 0) if self.trie.starts(n))
        starts = self.trie.starts(length)
        self._starts = starts[:: max(1, len(starts) // PART)]
        self._goes: list[Spent] = []

    def measure(self, repeats: int) -> None:
        """Time some more goes."""
        gradients = [np.zeros_like(self.reach) for _ in range(self.threads)]

        def go() -> None:
            self.visited = walk_all(self.trie, self._starts, self.reach, gradients)

        go()
        self._goes += [timed(go, 1) for _ in range(repeats)]

    def row(self) -> Row:
        """The whole game's time: the part's, multiplied by the number of histories."""
        scale = self.histories / self.visited
        seconds, cpu = (median(getattr(go, name) for go in self._goes) for name in ("seconds", "cpu_seconds"))
        return Row("baseline: walk over histories", seconds * scale, cpu * scale, sweeps=2)


# ---------------------------------------------------------------------------------------------
# Sweeps


def _bytes_of_sweep(engine: Engine, player: int) -> int:
    """Bytes of the opponent's reach, to be read, and of the player's gradient, to be written."""
    return sum(i.nodes + i.sequences for i in engine.index.players) * engine.dtype.itemsize


def sweeps(engine: Engine, name: str, reaches: tuple[Reach, Reach], repeats: int) -> list[Row]:
    """Each player's gradient against a realization plan, and both together."""
    rows = []
    for player in (0, 1):
        spent = timed(partial(engine.gradient, player, reaches[1 - player]), repeats)
        memory = _bytes_of_sweep(engine, player)
        rows.append(Row(f"{name}, player {player}", spent.seconds, spent.cpu_seconds, 1, memory))
    return [*rows, total(f"{name}, both", rows)]


def total(name: str, rows: list[Row]) -> Row:
    """The sum of some rows."""
    sums = [sum(getattr(row, key) for row in rows) for key in ("seconds", "cpu_seconds", "sweeps", "memory")]
    return Row(name, *sums)


def uniform_reaches(engine: Engine) -> tuple[Reach, Reach]:
    """Both players' reach under uniform play."""
    plans = [engine.reach(p, uniform_strategy(engine.index, p, engine.dtype).probabilities) for p in (0, 1)]
    return plans[0], plans[1]


# ---------------------------------------------------------------------------------------------
# A solve


class Stopwatch(Engine):
    """An engine that adds up the time it spends on sweeps, and keeps the opponents' reach of the last ones."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine.index, engine.timings, engine.dtype.type, engine.threads)
        self.spent = np.zeros((2, 2))  # player, elapsed and of all processors
        self.opponents: dict[int, Reach] = {}

    def gradient_slice(self, player: int, n: int, opponent: Reach, into: Slice) -> None:
        """As the engine's."""
        begun = np.array(_clocks())
        super().gradient_slice(player, n, opponent, into)
        self.spent[player] += _clocks() - begun
        self.opponents[player] = opponent


def _clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


@dataclass(frozen=True)
class Solve:
    """What a solve leaves: measured rows, its result, and the reach of the last strategies."""

    rows: list[Row]
    strategies: tuple[Strategy, Strategy]
    reaches: tuple[Reach, Reach]

    def reached(self) -> list[float]:
        """For each player, the part of the sequences whose reach is not zero."""
        return [np.count_nonzero(reach.sequences) / max(1, reach.sequences.size) for reach in self.reaches]


def solving(engine: Engine, iterations: int, data: Path) -> Solve:
    """Iterations of dcfr, by phase, medians over the last half of them; and a commit of the state to the disk."""
    watch = Stopwatch(engine)
    marks: list[NDArray[Any]] = []

    def on_progress(row: dict[str, Any]) -> None:
        marks.append(np.vstack([watch.spent, _clocks()]))

    # In the last half, only the last iteration has an evaluation and a commit after it; it is left out below.
    config = SolveConfig(
        algorithm="dcfr",
        max_iterations=iterations,
        max_minutes=1e9,
        target_nashconv=0,
        evaluate_every=1e9,
        commit_seconds=1e9,
    )
    data.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="benchmark-", dir=data) as name:
        work = Path(name) / "work"
        strategies = solve(watch, config, work, "benchmark", on_progress).strategies
        commit = _commit(engine, config, work)
    watch.close()
    spent = np.diff(np.array(marks), axis=0)[iterations // 2 - 1 : -1]  # iteration, player or whole, clock
    phases = {"gradients": spent[:, :2].sum(axis=1), "whole iteration": spent[:, 2]}
    phases["tree passes, update and average"] = phases["whole iteration"] - phases["gradients"]
    memory = sum(_bytes_of_sweep(engine, player) for player in (0, 1))
    rows = []
    for phase, counts in (
        ("gradients", (2, memory)),
        ("tree passes, update and average", ()),
        ("whole iteration", (2,)),
    ):
        elapsed, cpu = np.median(phases[phase], axis=0).tolist()
        rows.append(Row(f"solve: {phase}", elapsed, cpu, *counts))
    reaches = (watch.opponents[1], watch.opponents[0])
    return Solve([*rows, commit], strategies, reaches)


def _commit(engine: Engine, config: SolveConfig, work: Path) -> Row:
    with ResumableState.open(work, leaves(state_arrays(engine.index, config)), "benchmark") as state:
        spent = timed(lambda: state.commit(state.iteration, state.extra), 1)
    return Row("solve: a commit to the disk", spent.seconds, spent.cpu_seconds)


def evaluating(engine: Engine, strategies: tuple[Strategy, Strategy], repeats: int) -> Row:
    """Value and both best responses, in double precision."""
    exact = engine.in_precision(np.float64)
    spent = timed(lambda: evaluate(*strategies, exact), repeats)
    exact.close()
    memory = sum(_bytes_of_sweep(exact, player) for player in (0, 1))
    return Row("evaluation, float64", spent.seconds, spent.cpu_seconds, 2, memory)
