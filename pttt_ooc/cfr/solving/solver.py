"""The solver: iterations of an update rule, alternating or simultaneous, until the gap is small enough."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.solving.arrays import AverageStrategy, SolverArrays, solver_arrays, state_arrays
from pttt_ooc.cfr.solving.evaluation import ProfileEvaluator
from pttt_ooc.cfr.solving.regret import RULES, Coefficients, Rule
from pttt_ooc.cfr.solving.schedule import (
    ENDS,
    KEEPS,
    choose_run,
    is_reached,
    is_scheduled,
    last_scheduled,
    start_sentences,
)
from pttt_ooc.cfr.solving.times import SolveTimes
from pttt_ooc.cfr.sweep import tree
from pttt_ooc.cfr.sweep.engine import Engine
from pttt_ooc.cfr.sweep.tree import Discounts, Floats, Regrets
from pttt_ooc.config import SolveConfig
from pttt_ooc.disk.commits import ResumableState
from pttt_ooc.disk.files import atomic_write_text
from pttt_ooc.disk.memory import in_memory, leaves, with_leaves
from pttt_ooc.disk.snapshot_record import Commit
from pttt_ooc.games.structure.strategy import SlicedStrategy, Strategy
from pttt_ooc.games.structure.symmetry import Symmetriser

SAVED_A_SECOND = 5_000_000
"""Bytes of the state for each second between two saves, so that saving takes a few percent of the time."""

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

    Raises
    ------
    StoreError
        See :class:`pttt_ooc.disk.commits.ResumableState`; or if too many runs are saved already.
    """

    # A saved run can be continued only if all its snapshots are still there.
    def choose(saved: Sequence[Commit]) -> tuple[Commit | None, Sequence[Commit]]:
        return choose_run(config, saved, work, lambda run: keeper is None or keeper.has_all(run.iteration))

    # The state on disk: all zeros, or a saved run that this configuration can continue.
    with ResumableState.open(work, leaves(state_arrays(engine.index, config)), fingerprint, choose) as state:
        arrays = arrays or in_memory(solver_arrays(engine.index, config))
        # The user hears where the iterations begin, and then they go on until a target or budget is reached.
        loop = Solver(engine, config, state, on_progress, arrays, keeper=keeper, on_part=on_part)
        for sentence in start_sentences(state, config):
            on_start(sentence)
        return loop.run()


class SnapshotKeeper(Protocol):
    """Saves snapshots of average strategies."""

    def is_due(self, iteration: int) -> bool:
        """Whether a snapshot is saved after this iteration, which must have an evaluation."""

    def keep(self, row: ConvergenceRow, strategies: tuple[SlicedStrategy, SlicedStrategy]) -> None:
        """Save the strategies of an evaluation, which change later."""

    def make_room(self, iteration: int) -> None:
        """Delete snapshots to save space; the state of this iteration has been committed."""

    def has_all(self, iteration: int) -> bool:
        """Whether no snapshot up to this iteration is missing."""


class Iterates(Protocol):
    """The state of a :class:`Solver`: a :class:`~pttt_ooc.disk.commits.ResumableState` or a :class:`MemoryState`."""

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

    def commit(self, iteration: int, extra: dict[str, Any]) -> None:
        """Save the present arrays, to continue from."""


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

    def commit(self, iteration: int, extra: dict[str, Any]) -> None:
        """Save nothing."""


class Solver:
    """The loop over iterations; :func:`solve` describes most parameters.

    Parameters
    ----------
    rule
        An update rule that replaces the configured one; its parameters are used where the configuration has none.
    """

    def __init__(
        self,
        engine: Engine,
        config: SolveConfig,
        state: Iterates,
        on_progress: Callable[[ConvergenceRow], None],
        arrays: SolverArrays,
        rule: Rule | None = None,
        keeper: SnapshotKeeper | None = None,
        on_part: Callable[[WorkShare], None] = lambda part: None,
    ) -> None:
        self.keeper, self.on_part = keeper, on_part
        self.engine, self.config, self.state, self.on_progress = engine, config, state, on_progress
        self.arrays = with_leaves(state_arrays(engine.index, config, rule), lambda path, array: state.arrays[path])
        mine = arrays.iteration(engine.index, config.precision)
        self.values, self.reaches, self._probabilities = mine.values, mine.reaches, arrays.probabilities
        self.averages = (
            AverageStrategy(engine.index, 0, partial(self._average_of_slice, 0)),
            AverageStrategy(engine.index, 1, partial(self._average_of_slice, 1)),
        )
        self.evaluator = ProfileEvaluator(engine, arrays.evaluation(engine.index))
        self._has_reaches = False
        self.symmetrisers = tuple(Symmetriser(engine.index, player) for player in (0, 1))
        self.rule = rule or RULES[config.algorithm]
        self.parameters = self.rule.parameters(config)
        self.iteration = state.iteration
        self.rows: list[ConvergenceRow] = state.extra.get("rows", [])
        self.times = SolveTimes.of_record(state.extra, self.iteration)
        # Bytes of regrets and predictions, and of sums of strategies, by player and slice.
        self._bytes: tuple[Counter[tuple[int, int]], ...] = (Counter(), Counter())
        for path, array in state.arrays.items():
            name, player, n, *_ = path.split("/")
            self._bytes[name == "strategy_sums"][int(player), int(n)] += int(array.nbytes)
        self._at_work, self._done, self._to_do = "beginning", 0, sum(self._bytes[0].values())

    def begin(self) -> None:
        """Compute both players' reach under the strategies that the regrets define, before the first iteration."""
        for player in (0, 1):
            self._next_strategy(player, average=False)
        self._has_reaches = True

    def run(self) -> SolverResult:
        """Iterate until the target or a budget is reached."""
        for row in self.steps():
            self.on_progress(row)
        if not self.rows or self.rows[-1]["iteration"] != self.iteration:
            self._evaluate(self._progress())
        return SolverResult(self.averages, self.iteration, self.times.seconds, self.rows, self._stopped_by())

    def steps(self) -> Iterator[ConvergenceRow]:
        """As :meth:`run`, with a row after every iteration; the time between rows is not counted."""
        self._resumed_at = (self.iteration, self.times.seconds)
        stopped_by = self._stopped_by()
        if not stopped_by:
            self._load_kernels()
        committed = time.perf_counter()
        while not stopped_by:
            with self.times.of("iteration"):
                self.iterate()
            row = self._progress()
            if is_scheduled(self.iteration, self.config.evaluate_every):
                row = self._evaluate(row)
            stopped_by = self._stopped_by()
            if stopped_by and "nashconv" not in row:
                row = self._evaluate(row)
            keeper = self.keeper if self.keeper and self.keeper.is_due(self.iteration) else None
            if keeper:
                keeper.keep(row, self.averages)
            if time.perf_counter() - committed >= self._commit_seconds() or stopped_by or keeper:
                with self.times.of("saving"):
                    self._commit()
                committed = time.perf_counter()
            if keeper:
                keeper.make_room(self.iteration)
            yield row

    def _load_kernels(self) -> None:
        """Load compiled code by calling the kernels of an iteration on no views, so that it is not timed."""
        idle = copy(self)
        idle.engine, idle.on_part = self.engine.idle(), lambda part: None
        idle.iterate()

    def iterate(self) -> None:
        """Do one iteration: both players' regrets, next strategies and averages."""
        regrets, sums = (sum(each.values()) for each in self._bytes)
        self._done, self._to_do = 0, (2 if self._has_reaches else 3) * regrets + sums
        self._at_work = f"iteration {self.iteration + 1}"
        self._tell(self._at_work, 0.0)
        if not self._has_reaches:
            self.begin()
        self.iteration += 1
        for players in ((0, 1),) if self.config.updates == "simultaneous" else ((0,), (1,)):
            for player in players:
                self._update(player)
            for player in players:
                self._next_strategy(player, average=True)

    def _stopped_by(self) -> str:
        last = self.rows[-1] if self.rows else {"iteration": -1}
        # An evaluation off the schedule, at the end of an earlier budget, must not end this run.
        counts = last["iteration"] == self.iteration and is_scheduled(self.iteration, self.config.evaluate_every)
        if counts and is_reached(self.config, last["nashconv"]):
            return "target_nashconv"
        if self.iteration >= self.config.max_iterations:
            return "max_iterations"
        return "" if self.times.allows(60 * self.config.max_minutes) else "max_minutes"

    def _commit_seconds(self) -> float:
        if self.config.commit_seconds is not None:
            return self.config.commit_seconds
        size = sum(int(array.nbytes) for array in self.state.arrays.values())
        return max(30.0, size / SAVED_A_SECOND)

    def _report_pass(self, player: int, n: int, sums: bool = False) -> None:
        """Report that a pass over regrets and predictions, perhaps also over sums of strategies, has done a slice."""
        self._done += self._bytes[0][player, n] + (self._bytes[1][player, n] if sums else 0)
        self._tell(self._at_work, self._done / self._to_do)

    def _tell(self, what: str, share: float) -> None:
        self.on_part({"what": what, "share": share, "bytes": self._done, "elapsed_seconds": self.times.elapsed_seconds})

    def _commit(self) -> None:
        ends = {key: getattr(self.config, key) for key in (*ENDS, *KEEPS)}
        self.state.commit(self.iteration, {"rows": self.rows, **self.times.as_record(), **ends})

    def _progress(self) -> ConvergenceRow:
        iterations, seconds = self.iteration - self._resumed_at[0], self.times.seconds - self._resumed_at[1]
        speed = iterations / seconds if seconds else 0.0
        return {"iteration": self.iteration, **self.times.as_record(), "iterations_per_second": speed}

    def _evaluate(self, row: ConvergenceRow) -> ConvergenceRow:
        self._has_reaches = False  # an evaluation uses their buffer
        self._done = 0
        with self.times.of("evaluation"):
            found = asdict(self.evaluator(*self.averages, on_share=partial(self._tell, "evaluation")))
        names = ("value", "best_response_0", "best_response_1", "nashconv")
        row = {**row, **self.times.as_record(), **{name: found[name] for name in names}}
        row |= {"value_lower": -found["best_response_1"], "value_upper": found["best_response_0"]}
        self.rows = [r for r in self.rows if r["iteration"] < self.iteration] + [row]
        if self.state.path:
            atomic_write_text(self.state.path / LOG, "".join(json.dumps(r, sort_keys=True) + "\n" for r in self.rows))
        return row

    def _scalar(self, number: float) -> np.floating[Any]:
        # With a Python float, kernels would compute in double precision.
        scalar: np.floating[Any] = self.engine.dtype.type(number)
        return scalar

    def _coefficients(self, iteration: int) -> tuple[Coefficients, float]:
        """Coefficients of the rule at an iteration, and the discount of the sums of strategies before it."""
        t = max(iteration, 1)
        parameters = self.rule.parameters_at(t, self.parameters, self.config.horizon)
        restart = self.config.restart_average
        age = t - (last_scheduled(t, restart) if restart else 1)
        return self.rule.coefficients(t, parameters), (age / (age + 1)) ** parameters.gamma if age else 0.0

    def _update(self, player: int) -> None:
        """Update the regrets of `player`, upward, against the opponent's current strategy."""
        engine, i = self.engine, self.engine.index.players[player]
        before, (c, _) = self._coefficients(self.iteration - 1)[0], self._coefficients(self.iteration)
        look_ahead = self._scalar(before.look_ahead)
        discounts = Discounts(self._scalar(c.discount_positive), self._scalar(c.discount_negative), c.floor)
        for n in reversed(range(i.slices)):
            s = self.values.of(i, n)
            engine.gradient_slice(player, n, self.reaches[1 - player], s)
            engine.run(player, n, tree.update_regrets, s, self._regrets(player, n, look_ahead), discounts)
            self._report_pass(player, n)

    def _regrets(self, player: int, n: int, look_ahead: Any) -> Regrets:
        predictions = self.arrays.predictions[player][n] if self.arrays.predictions else np.empty(0, self.engine.dtype)
        return Regrets(self.arrays.regrets[player][n], predictions, look_ahead)

    def _next_strategy(self, player: int, average: bool) -> None:
        """Compute the reach of `player` under the strategy that the regrets define; perhaps add it to the average."""
        c, discount = self._coefficients(self.iteration)
        look_ahead, reach, i = self._scalar(c.look_ahead), self.reaches[player], self.engine.index.players[player]
        for n in range(i.slices):
            sums = self.arrays.strategy_sums[player][n][: None if average else 0]
            rest = (i.sequences_of(n).start, self._regrets(player, n, look_ahead), self._scalar(discount), sums)
            self.engine.run(player, n, tree.reach_of_regrets, reach, *rest)
            self._report_pass(player, n, average)

    def current(self) -> tuple[Strategy, Strategy]:
        """The strategies that the regrets define, in new arrays."""
        c, _ = self._coefficients(self.iteration)
        found = []
        for player in (0, 1):
            i = self.engine.index.players[player]
            probabilities = np.empty(i.sequences, np.float32)
            for n in range(i.slices):
                part = i.sequences_of(n)
                total = self.arrays.regrets[player][n] * self.engine.dtype.type(c.look_ahead)
                if self.rule.predicts:
                    total += self.arrays.predictions[player][n]
                arrays = (part.start, np.maximum(total, 0), probabilities[part])
                self.engine.run(player, n, tree.average_strategy, *arrays)
            self.symmetrisers[player](probabilities)
            found.append(Strategy(self.engine.index, player, probabilities))
        return found[0], found[1]

    def average(self) -> tuple[Strategy, Strategy]:
        """The average strategies so far, in new arrays in memory."""
        index, (first, second) = self.engine.index, self.averages
        return Strategy(index, 0, first.probabilities), Strategy(index, 1, second.probabilities)

    def _average_of_slice(self, player: int, n: int) -> Floats:
        part = self.engine.index.players[player].sequences_of(n)
        found = self._probabilities[: part.stop - part.start]
        self.engine.run(player, n, tree.average_strategy, part.start, self.arrays.strategy_sums[player][n], found)
        self.symmetrisers[player].of_slice(n, found)
        return found
