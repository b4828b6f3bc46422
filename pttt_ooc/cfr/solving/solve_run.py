"""The run of a solver: iterations until a target or a budget is reached, with evaluations, commits and progress."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.solving.arrays import AverageStrategy, SolverArrays, solver_arrays, state_arrays
from pttt_ooc.cfr.solving.evaluation import ProfileEvaluator
from pttt_ooc.cfr.solving.regret import Rule
from pttt_ooc.cfr.solving.schedule import (
    ENDS,
    KEEPS,
    choose_run,
    is_evaluated,
    is_reached,
    seconds_between_saves,
    start_sentences,
)
from pttt_ooc.cfr.solving.solver import Solver
from pttt_ooc.cfr.sweep.engine import Engine
from pttt_ooc.config import SolveConfig
from pttt_ooc.disk.commits import ResumableState
from pttt_ooc.disk.files import atomic_write_text
from pttt_ooc.disk.memory import in_memory, leaves
from pttt_ooc.disk.snapshot_record import Commit
from pttt_ooc.games.structure.strategy import SlicedStrategy

ConvergenceRow = dict[str, Any]
WorkShare = dict[str, Any]
"""Progress of a piece of work: ``what`` it is, the finished ``share``, the processed ``bytes`` of the state, and the
``elapsed_seconds`` before it."""

LOG = "convergence.jsonl"  # in the work directory: one row for each evaluation so far


@dataclass(frozen=True)
class SolverResult:
    """The result of a solve.

    Attributes
    ----------
    strategies
        The average strategies of player 0 and 1: float32 probabilities, computed on demand from the solver's arrays.
    iteration
        Number of iterations.
    seconds
        Wall time of the iterations, all runs together.
    rows
        One row for each evaluation, as in the log; the last one evaluates `strategies`.
    stopped_by
        ``"target_nashconv"``, ``"max_iterations"`` or ``"max_minutes"``.
    """

    strategies: tuple[AverageStrategy, AverageStrategy]
    iteration: int
    seconds: float
    rows: list[ConvergenceRow]
    stopped_by: str


def solve(
    engine: Engine,
    config: SolveConfig,
    work: Path,
    fingerprint: str,
    on_progress: Callable[[ConvergenceRow], None] = lambda row: None,
    arrays: SolverArrays | None = None,
    on_start: Callable[[str], None] = lambda sentence: None,
    keeper: SnapshotKeeper | None = None,
    on_part: Callable[[WorkShare], None] = lambda part: None,
    state_in_memory: bool = False,
) -> SolverResult:
    """Solve, or continue a solve, until the target or a budget of the configuration is reached.

    Except for `max_minutes`, the result is that of a fresh run.  So this configuration cannot use a saved run beyond
    its own last iteration; such a run is kept for a configuration that goes further.

    Parameters
    ----------
    engine
        An engine of the configured precision.
    config
        Algorithm and budgets.
    work
        Directory of the resumable state.
    fingerprint
        Identifies everything that the iterates depend on.
    on_progress
        Called after every iteration with a row: ``iteration``, ``seconds``, ``cpu_seconds``, ``elapsed_seconds``,
        ``iterations_per_second``; after an evaluation also ``value``, ``best_response_0``,
        ``best_response_1``, ``nashconv``, ``value_lower``, ``value_upper``.
    arrays
        Arrays as described by :func:`solver_arrays`; default: new ones in memory.
    on_start
        Called with sentences for the user: the iteration at which it starts, and the other kept runs.
    keeper
        Saves snapshots of average strategies.  A saved run with missing snapshots is not used.
    on_part
        Called after each slice of iterations and evaluations.
    state_in_memory
        Whether the state is in memory; if not, it is mapped from files.

    Raises
    ------
    StoreError
        See :class:`pttt_ooc.disk.commits.ResumableState`; or if too many runs are saved already.
    """

    # A saved run can be continued only if all its snapshots are still there.
    def choose(saved: Sequence[Commit]) -> tuple[Commit | None, Sequence[Commit]]:
        return choose_run(config, saved, work, lambda run: keeper is None or keeper.has_all(run.iteration))

    # The state on disk: all zeros, or a saved run that this configuration can continue.
    wanted = leaves(state_arrays(engine.index, config))
    with ResumableState.open(work, wanted, fingerprint, choose, state_in_memory) as state:
        state.mover = engine.mover
        arrays = arrays or in_memory(solver_arrays(engine.index, config))
        # The user is told where the iterations begin; they go on until the target or a budget is reached.
        run = SolveRun(engine, config, state, arrays, on_progress=on_progress, keeper=keeper, on_part=on_part)
        for sentence in start_sentences(state, config):
            on_start(sentence)
        return run.finish()


class SnapshotKeeper(Protocol):
    """Saves snapshots of average strategies."""

    def is_due(self, iteration: int) -> bool:
        """Whether a snapshot is saved after this iteration, which then has an evaluation."""

    def keep(self, row: ConvergenceRow, strategies: tuple[SlicedStrategy, SlicedStrategy]) -> None:
        """Save the strategies of an evaluation, which change later."""

    def make_space(self, iteration: int) -> None:
        """Delete snapshots to save space; the state of this iteration has been committed."""

    def has_all(self, iteration: int) -> bool:
        """Whether no snapshot up to this iteration is missing."""


class Iterates(Protocol):
    """The state of a :class:`SolveRun`: a :class:`~pttt_ooc.disk.commits.ResumableState` or a :class:`MemoryState`."""

    @property
    def path(self) -> Path | None:
        """Directory of the log, if any."""

    @property
    def arrays(self) -> Mapping[str, Any]:
        """The arrays by name, see :func:`state_arrays`; changed in place."""

    @property
    def iteration(self) -> int:
        """The last committed iteration."""

    @property
    def extra(self) -> dict[str, Any]:
        """The JSON values committed with the arrays."""

    def commit(self, iteration: int, extra: dict[str, Any], unchanged: Collection[str]) -> None:
        """Save the present arrays, to continue from; `unchanged` ones are as they were at first."""


class MemoryState:
    """A state that ends with the process.

    Parameters
    ----------
    arrays
        Name to an array of the required shape and dtype, from :func:`state_arrays`.
    """

    path = None
    iteration = 0

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.arrays = {name: np.zeros(array.shape, array.dtype) for name, array in arrays.items()}
        self.extra: dict[str, Any] = {}

    def commit(self, iteration: int, extra: dict[str, Any], unchanged: Collection[str]) -> None:
        """Save nothing."""


Work = Literal["iteration", "evaluation", "saving"]


@dataclass
class SolveTimes:
    """Seconds that a solve has spent, without the loading of compiled code.

    Attributes
    ----------
    seconds, cpu_seconds
        Iterations only: wall time, and time of all processors together.
    elapsed_seconds
        Wall time of iterations, evaluations and saving.
    latest
        Wall time of the last work of each kind, of this run.
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    elapsed_seconds: float = 0.0

    def __post_init__(self) -> None:
        self._shortest: dict[Work, float] = {}
        self.latest: dict[Work, float] = {}

    @classmethod
    def of_record(cls, record: dict[str, Any], iterations: int) -> Self:
        """The times of a record by :meth:`as_record`, after a number of iterations."""
        times = cls(**{name: float(record.get(name, 0)) for name in asdict(cls())})
        if iterations:
            times._shortest["iteration"] = times.seconds / iterations
        if evaluations := len(record.get("rows", ())):  # with saving
            times._shortest["evaluation"] = (times.elapsed_seconds - times.seconds) / evaluations
        return times

    def as_record(self) -> dict[str, float]:
        """The numbers by name, for :meth:`of_record`."""
        return asdict(self)

    @contextmanager
    def of(self, work: Work) -> Iterator[None]:
        """Add the time of the block."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        spent = self.latest[work] = time.perf_counter() - wall
        self._shortest[work] = min(spent, self._shortest.get(work, spent))
        self.elapsed_seconds += spent
        if work == "iteration":
            self.seconds += spent
            self.cpu_seconds += time.process_time() - cpu

    def allows(self, limit: float) -> bool:
        """Whether one more iteration can be finished, evaluated and saved before `limit` seconds have elapsed."""
        return self.elapsed_seconds < limit and self.elapsed_seconds + sum(self._shortest.values()) <= limit


class SolveRun:
    """The loop over a solver's iterations; :func:`solve` describes most parameters.

    Parameters
    ----------
    state
        Its arrays are those of the solver.
    rule
        See :class:`.Solver`.
    """

    def __init__(
        self,
        engine: Engine,
        config: SolveConfig,
        state: Iterates,
        arrays: SolverArrays,
        rule: Rule | None = None,
        on_progress: Callable[[ConvergenceRow], None] = lambda row: None,
        keeper: SnapshotKeeper | None = None,
        on_part: Callable[[WorkShare], None] = lambda part: None,
    ) -> None:
        self.config, self.state, self.keeper = config, state, keeper
        self.on_progress, self.on_part = on_progress, on_part
        self.solver = Solver(engine, config, state.arrays, arrays, rule, state.iteration, self._report_pass)
        self.evaluator = ProfileEvaluator(engine, arrays.evaluation(engine.index))
        self.rows: list[ConvergenceRow] = state.extra.get("rows", [])
        self.times = SolveTimes.of_record(state.extra, state.iteration)
        # Bytes of regrets and predictions, and of sums of strategies, by player and slice.
        self._bytes: tuple[Counter[tuple[int, int]], ...] = (Counter(), Counter())
        for path, array in state.arrays.items():
            name, player, n, *_ = path.split("/")
            self._bytes[name == "strategy_sums"][int(player), int(n)] += int(array.nbytes)

    def finish(self) -> SolverResult:
        """Iterate until the target or a budget is reached."""
        for row in self.steps():
            self.on_progress(row)
        if not self.rows or self.rows[-1]["iteration"] != self.solver.iteration:
            self._evaluate(self._progress())
        solver = self.solver
        return SolverResult(solver.averages, solver.iteration, self.times.seconds, self.rows, self._stopped_by())

    def steps(self) -> Iterator[ConvergenceRow]:
        """As :meth:`finish`, with a row after every iteration; the time between rows is not counted."""
        self._resumed_at = (self.solver.iteration, self.times.seconds)
        stopped_by = self._stopped_by()
        if not stopped_by:
            self.solver.load_kernels()
        committed = time.perf_counter()
        while not stopped_by:
            with self.times.of("iteration"):
                self._iterate()
            row = self._progress()
            if is_evaluated(self.solver.iteration, self.config.evaluate_every):
                row = self._evaluate(row)
            stopped_by = self._stopped_by()
            keeper = self.keeper if self.keeper and self.keeper.is_due(self.solver.iteration) else None
            if (stopped_by or keeper) and "nashconv" not in row:
                row = self._evaluate(row)
            if keeper:
                keeper.keep(row, self.solver.averages)
            if time.perf_counter() - committed >= self._commit_seconds() or stopped_by or keeper:
                with self.times.of("saving"):
                    self._commit()
                committed = time.perf_counter()
            if keeper:
                keeper.make_space(self.solver.iteration)
            yield row

    def _iterate(self) -> None:
        """Do one iteration of the solver, and report its passes over the state."""
        regrets, sums = (sum(each.values()) for each in self._bytes)
        self._done, self._to_do = 0, (2 if self.solver.has_reaches else 3) * regrets + sums
        self._at_work = f"iteration {self.solver.iteration + 1}"
        self._tell(self._at_work, 0.0)
        self.solver.iterate()

    def _report_pass(self, player: int, n: int, sums: bool) -> None:
        """Report that a pass over regrets and predictions, perhaps also over sums of strategies, has done a slice."""
        self._done += self._bytes[0][player, n] + (self._bytes[1][player, n] if sums else 0)
        self._tell(self._at_work, self._done / self._to_do)

    def _tell(self, what: str, share: float) -> None:
        self.on_part({"what": what, "share": share, "bytes": self._done, "elapsed_seconds": self.times.elapsed_seconds})

    def _stopped_by(self) -> str:
        last, iteration = self.rows[-1] if self.rows else {"iteration": -1}, self.solver.iteration
        # An evaluation off the schedule, at the end of an earlier budget, must not end this run.
        counts = last["iteration"] == iteration and is_evaluated(iteration, self.config.evaluate_every)
        if counts and is_reached(self.config, last["nashconv"]):
            return "target_nashconv"
        if iteration >= self.config.max_iterations:
            return "max_iterations"
        return "" if self.times.allows(60 * self.config.max_minutes) else "max_minutes"

    def _commit_seconds(self) -> float:
        if self.config.commit_seconds is not None:
            return self.config.commit_seconds
        # The next iteration may be the one that is lost.
        return seconds_between_saves(self.times.latest.get("saving", 0.0)) - self.times.latest["iteration"]

    def _commit(self) -> None:
        ends = {key: getattr(self.config, key) for key in (*ENDS, *KEEPS)}
        extra = {"rows": self.rows, **self.times.as_record(), **ends}
        self.state.commit(self.solver.iteration, extra, self.solver.unchanged)

    def _progress(self) -> ConvergenceRow:
        iterations, seconds = self.solver.iteration - self._resumed_at[0], self.times.seconds - self._resumed_at[1]
        speed = iterations / seconds if seconds else 0.0
        return {"iteration": self.solver.iteration, **self.times.as_record(), "iterations_per_second": speed}

    def _evaluate(self, row: ConvergenceRow) -> ConvergenceRow:
        self.solver.has_reaches = False  # an evaluation uses their buffer
        self._done = 0
        with self.times.of("evaluation"):
            found = asdict(self.evaluator(*self.solver.averages, on_share=partial(self._tell, "evaluation")))
        names = ("value", "best_response_0", "best_response_1", "nashconv")
        row = {**row, **self.times.as_record(), **{name: found[name] for name in names}}
        row |= {"value_lower": -found["best_response_1"], "value_upper": found["best_response_0"]}
        self.rows = [r for r in self.rows if r["iteration"] < self.solver.iteration] + [row]
        if self.state.path:
            atomic_write_text(self.state.path / LOG, "".join(json.dumps(r, sort_keys=True) + "\n" for r in self.rows))
        return row
