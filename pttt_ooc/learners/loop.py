"""The loop around any learner: when it is evaluated, saved and stopped; and its checkpoints, by the core's commits.

A learner's arrays may grow, and a :class:`~pttt_ooc.disk.commits.ResumableState` has arrays of fixed shapes.  So the
directory of checkpoints has a numbered state for each set of shapes; a smaller one is deleted when a larger one has its
first commit.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from pttt_ooc.cfr.solving.schedule import schedule
from pttt_ooc.disk.commits import ResumableState
from pttt_ooc.disk.files import atomic_write_text, explain_errors, make_directory, remove
from pttt_ooc.disk.locks import hold
from pttt_ooc.disk.memory import virtual_array
from pttt_ooc.disk.snapshot_record import SnapshotRecord
from pttt_ooc.learners.learner import Arrays, Counts, Learner, Pair
from pttt_ooc.learners.learning_game import LearningGame

Shapes = dict[str, Any]


class Checkpoints:
    """The saved states of one run; a context manager that locks out other processes.

    Parameters
    ----------
    path
        The directory; made if missing.
    fingerprint
        Names everything that the states depend on.

    Raises
    ------
    StoreError
        If another process has it open, or it cannot be written to.
    """

    def __init__(self, path: Path, fingerprint: str) -> None:
        self._path, self._fingerprint = path, fingerprint
        self._state: ResumableState | None = None
        self._shapes: Shapes = {}
        with explain_errors(f"open the work directory {path}"):
            make_directory(path)
            self._lock = hold(
                path / "lock", lambda process: f"Another run is at work on {path} (process {process}); wait for it."
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._state:
            self._state.close()
        self._lock.close()

    def _places(self) -> list[Path]:
        """The numbered states, the newest first."""
        return sorted((place for place in self._path.iterdir() if place.name.isdigit()), reverse=True)

    def latest(self) -> tuple[Arrays, dict[str, Any]] | None:
        """The newest saved arrays and JSON values; None if there are none.

        Raises
        ------
        StoreError
            If they are damaged.
        """
        for place in self._places():
            if not (place / "CURRENT.json").exists():
                continue
            saved = SnapshotRecord.read(place).saved
            if saved:
                self._open(place, saved[0].extra["shapes"])
                assert self._state is not None
                return dict(self._state.arrays), self._state.extra["values"]
        return None

    def save(self, iteration: int, arrays: Arrays, values: dict[str, Any]) -> None:
        """Save a state; a kill at any instant leaves this state or the one before.

        Raises
        ------
        StoreError
            If the disk is full or cannot be written to; the state before is then intact.
        """
        shapes = {name: [list(array.shape), array.dtype.str] for name, array in arrays.items()}
        if self._state is None or shapes != self._shapes:
            if self._state:
                self._state.close()
            last = max((int(place.name) for place in self._places()), default=0)
            self._open(self._path / f"{last + 1:06d}", shapes)
        assert self._state is not None
        for name, array in arrays.items():
            self._state.arrays[name][:] = array
        self._state.commit(iteration, {"shapes": shapes, "values": values})
        for place in self._places():
            if place != self._state.path:
                remove(place)

    def _open(self, place: Path, shapes: Shapes) -> None:
        arrays = {name: virtual_array(tuple(shape), np.dtype(kind)) for name, (shape, kind) in shapes.items()}
        self._state = ResumableState.open(place, arrays, self._fingerprint)
        self._shapes = shapes


Row = dict[str, Any]
LOG = "log.jsonl"
STEP_SECONDS = 0.5  # about this much time between two looks at the clock


@dataclass(frozen=True)
class Ends:
    """When a run ends, and how often it is evaluated and saved.

    Attributes
    ----------
    max_minutes
        Processor time of all threads together, in minutes; without evaluations and saves.
    max_iterations, target_nashconv
        Further limits; a target of 0 is never reached.
    evaluate_every
        The pair is evaluated after iteration 1, and whenever the number of iterations has grown by this factor.
    commit_seconds
        Seconds between two saves.
    """

    max_minutes: float = 10.0
    max_iterations: int = 10**12
    target_nashconv: float = 0.0
    evaluate_every: float = 1.25
    commit_seconds: float = 60.0


class Loop:
    """Runs a learner until one of its ends.

    Parameters
    ----------
    learner
        A learner that has been started.
    checkpoints
        Where its states are saved and restored from; None: nowhere.
    log
        A file of all rows, rewritten for each new row; None: no file.
    on_row
        Called with each row.
    """

    def __init__(
        self,
        learner: Learner[Any],
        game: LearningGame,
        ends: Ends,
        checkpoints: Checkpoints | None = None,
        log: Path | None = None,
        on_row: Callable[[Row], None] = lambda row: None,
    ) -> None:
        self.learner, self.game, self.ends = learner, game, ends
        self.checkpoints, self.log, self.on_row = checkpoints, log, on_row
        self.rows: list[Row] = []
        self.seconds = self.wall_seconds = 0.0
        saved = checkpoints.latest() if checkpoints else None
        if saved:
            arrays, values = saved
            learner.counts = Counts(**values["counts"])
            learner.restore(arrays)
            self.rows, self.seconds, self.wall_seconds = values["rows"], values["seconds"], values["wall_seconds"]

    @property
    def iteration(self) -> int:
        """Iterations made so far, all runs together."""
        return self.learner.counts.iterations

    def run(self) -> str:
        """Learn until an end; return its name.

        It is ``max_minutes``, ``max_iterations``, ``target_nashconv``, or ``settled``: more iterations change nothing.
        The last row then describes the learner's present state.
        """
        saved = time.monotonic()
        for due in self._looks():
            stopped_by = self.advance(due)
            if not self.rows or self.rows[-1]["iteration"] != self.iteration:
                self._evaluate()
                if self.ends.target_nashconv and self.rows[-1]["nashconv"] <= self.ends.target_nashconv:
                    stopped_by = "target_nashconv"
            if stopped_by or time.monotonic() - saved >= self.ends.commit_seconds:
                self._save()
                saved = time.monotonic()
            if stopped_by:
                return stopped_by
        raise AssertionError("the schedule has no end")

    def _looks(self) -> Iterator[int]:
        """Iterations at which the pair is evaluated."""
        for due in schedule(self.ends.evaluate_every):
            if due > self.iteration or due >= self.ends.max_iterations:
                yield due

    def advance(self, due: int) -> str:
        """Step up to an iteration, without evaluations; return the name of an end that is reached by then, or ""."""
        size, saved = 1, time.monotonic()
        while True:
            if self.iteration >= self.ends.max_iterations:
                return "max_iterations"
            if self.seconds >= 60 * self.ends.max_minutes:
                return "max_minutes"
            if self.learner.settled:
                return "settled"
            if self.iteration >= due:
                return ""
            if time.monotonic() - saved >= self.ends.commit_seconds:
                self._save()
                saved = time.monotonic()
            steps = min(size, due - self.iteration, self.ends.max_iterations - self.iteration)
            before, begun = time.process_time(), time.monotonic()
            self.learner.step(steps)
            spent = time.process_time() - before
            self.seconds += spent
            self.wall_seconds += time.monotonic() - begun
            if spent < STEP_SECONDS / 2:
                size *= 2
            elif spent > 2 * STEP_SECONDS:
                size = max(size // 2, 1)

    def _evaluate(self) -> None:
        evaluation = self.game.evaluator(*self.learner.strategy())
        row = {**asdict(self.learner.counts), "seconds": self.seconds, "wall_seconds": self.wall_seconds}
        row["iteration"] = row.pop("iterations")
        row |= {"value": evaluation.value, "best_response_0": evaluation.best_response_0}
        row |= {"best_response_1": evaluation.best_response_1, "nashconv": evaluation.nashconv}
        row |= self.learner.facts()
        last = self.learner.last()
        if last is not None:
            row["last_nashconv"] = self.game.evaluator(*last).nashconv
        self.rows = [r for r in self.rows if r["iteration"] < row["iteration"]] + [row]
        if self.log:
            atomic_write_text(self.log, "".join(json.dumps(r, sort_keys=True) + "\n" for r in self.rows))
        self.on_row(row)

    def _save(self) -> None:
        if self.checkpoints:
            values: dict[str, Any] = {"counts": asdict(self.learner.counts), "rows": self.rows}
            values |= {"seconds": self.seconds, "wall_seconds": self.wall_seconds}
            self.checkpoints.save(self.iteration, self.learner.state(), values)

    def result(self) -> Pair:
        """The pair that the learner recommends now."""
        return self.learner.strategy()
