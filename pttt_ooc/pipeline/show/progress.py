"""Live progress: lines or a live status for a solve; the finished share for other work."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from rich.console import Console
from rich.progress import Progress as Bars
from rich.status import Status

from pttt_ooc.disk.files import explain_errors
from pttt_ooc.disk.numbers import duration, gap

Event = Mapping[str, Any]
FEWEST = 8
"""Number of evaluations before the remaining time is estimated."""

DISAGREE = 4.0
"""Estimates that differ by more than this factor are not used."""

LINE_EVERY = 30.0
"""Most seconds between two lines in a log during a solve."""

_BAR = 20  # characters
_SHORT = 2.0  # seconds: shorter work has no bar


def seconds_left(events: list[Event], target: float, max_iterations: int, max_seconds: float) -> tuple[float, float]:
    """Estimate the time to the first of the three limits: a lower and an upper bound, in seconds.

    The gap is assumed to shrink as a power of the number of iterations, as it did since an earlier evaluation; several
    earlier evaluations are tried.  An iteration is assumed to take the mean time since the middle evaluation,
    evaluations included.  With few evaluations, or estimates that differ widely, only the other two limits are known,
    and the lower bound is 0.
    """
    last, middle = events[-1], events[len(events) // 2]
    made_since, spent = last["iteration"] - middle["iteration"], last["elapsed_seconds"] - middle["elapsed_seconds"]
    pace = spent / made_since if made_since else last["elapsed_seconds"] / last["iteration"]
    latest: float = max(0.0, min(max_seconds - last["elapsed_seconds"], (max_iterations - last["iteration"]) * pace))
    if target <= 0:
        return latest, latest
    before = [events[len(events) * quarter // 4] for quarter in (1, 2, 3)] if len(events) >= FEWEST else []
    found = [pace * iterations for iterations in (_iterations_left(each, last, target) for each in before)]
    least, most = min(found, default=0.0), max(found, default=math.inf)
    if least >= latest:
        return latest, latest
    return (least if most <= DISAGREE * least else 0.0), min(most, latest)


def _iterations_left(before: Event, last: Event, target: float) -> float:
    """The number of iterations until the gap reaches the target, if it shrinks as between the two evaluations."""
    if not before["nashconv"] > last["nashconv"] > 0:
        return math.inf
    power = math.log(before["nashconv"] / last["nashconv"]) / math.log(last["iteration"] / before["iteration"])
    # Logarithms, because a gap that hardly shrinks would need more iterations than a float can hold.
    growth = math.log(max(last["nashconv"] / target, 1)) / power
    return float(last["iteration"] * math.expm1(growth)) if growth < 50 else math.inf


class Shares:
    """Reports the finished share of some work: a line from time to time, on stderr and in a log.

    Parameters
    ----------
    log
        A file that gets every line too.
    seconds
        Least time between two lines.  Shorter work prints nothing.
    """

    def __init__(self, log: Path | None = None, seconds: float = 10.0) -> None:
        self._log, self._seconds, self._reported = log, seconds, time.monotonic()

    def of(self, what: str) -> Callable[[float], None]:
        """A function to be called with the finished share of `what`, 0 to 1."""

        def tell(share: float) -> None:
            if time.monotonic() - self._reported < self._seconds:
                return
            self._reported = time.monotonic()
            line = f"{what}: {share:.0%}"
            print(line, file=sys.stderr, flush=True)
            if self._log:
                with explain_errors(f"write the log {self._log}"), open(self._log, "a", encoding="utf-8") as file:
                    print(line, file=file)

        return tell


class ShareBar:
    """A bar with the finished share of some work and the time left, on a terminal or in a notebook; silent elsewhere.

    A context manager that is called with the finished share, 0 to 1, from any thread.  Short work has no bar.

    Parameters
    ----------
    what
        What is being done, such as ``"Asking the policy"``.
    """

    def __init__(self, what: str) -> None:
        self._what, self._begun = what, time.monotonic()
        self._bar: Bars | None = None
        console = Console(stderr=True)
        # In a notebook, rich draws with ipywidgets, and complains if they are missing.
        if console.is_terminal or (console.is_jupyter and find_spec("ipywidgets")):
            self._bar = Bars(*Bars.get_default_columns(), console=console, transient=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *of_error: object) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, share: float) -> None:
        """Show the finished share."""
        if self._bar is None or time.monotonic() - self._begun < _SHORT:
            return
        if not self._bar.tasks:
            self._bar.add_task(self._what, total=1.0)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=share)


class Progress:
    """Shows the solver's progress; a context manager that is called with each row.

    It prints a line for each evaluation, and one every :data:`LINE_EVERY` seconds, within long iterations too.  On a
    terminal, it updates one line instead.

    Parameters
    ----------
    target, max_iterations, max_minutes
        The budgets, for the estimate of the remaining time.
    log
        A file that gets every line too.
    stream
        Default: stderr.
    """

    def __init__(
        self,
        target: float,
        max_iterations: int,
        max_minutes: float,
        log: Path | None = None,
        stream: IO[str] | None = None,
    ) -> None:
        self._ends = (target, max_iterations, 60 * max_minutes)
        self._log = log
        self._stream = sys.stderr if stream is None else stream
        self._events: list[Event] = []
        self._row: Event | None = None
        self._written = self._begun = time.monotonic()
        self._status: Status | None = None
        if self._stream.isatty():
            self._status = Status("Preparing ...", console=Console(file=self._stream))

    def __enter__(self) -> Self:
        if self._status:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._status:
            self._status.stop()
            if self._events and self._row:
                print(self._line(self._row), file=self._stream)

    def note(self, line: str) -> None:
        """Write a permanent line."""
        if self._status:
            self._status.console.print(line, highlight=False)
        else:
            print(line, file=self._stream, flush=True)
        self._write_log(line)

    def __call__(self, row: Event) -> None:
        """Show a finished iteration."""
        self._row = dict(row)
        if "nashconv" in row:
            self._events.append(self._row)
        if self._events:
            self._show(self._line(row), "nashconv" in row)

    def part(self, part: Event) -> None:
        """Show the progress within a long iteration or evaluation.

        Parameters
        ----------
        part
            See :data:`pttt_ooc.cfr.solving.solve_run.WorkShare`; the first part of each has the share 0.
        """
        now = time.monotonic()
        if part["share"] == 0:
            self._begun = now
        lasted = now - self._begun
        if lasted < _SHORT:
            return
        parts = [f"{part['what']}: {part['share']:.0%}"]
        if part["bytes"]:
            parts.append(f"{part['bytes'] / lasted / 1e9:.2g} GB/s of the state")
        parts.append(f"{duration(part['elapsed_seconds'] + lasted)} so far")
        if self._status:
            done = round(_BAR * part["share"])
            parts.insert(0, "\u2501" * done + "\u254c" * (_BAR - done))
        if self._events:
            parts.append(f"gap {gap(self._events[-1]['nashconv'])}")
        self._show(", ".join(parts), False)

    def _show(self, line: str, stays: bool) -> None:
        """Update the line on a terminal; elsewhere write it if it `stays`, or if the last one was long ago."""
        if self._status:
            self._status.update(line)
        if stays or time.monotonic() - self._written >= LINE_EVERY:
            if not self._status:
                print(line, file=self._stream, flush=True)
            self._write_log(line)

    def _write_log(self, line: str) -> None:
        self._written = time.monotonic()
        if self._log:
            with explain_errors(f"write the log {self._log}"), open(self._log, "a", encoding="utf-8") as file:
                print(line, file=file)

    def _line(self, row: Event) -> str:
        last, target = self._events[-1], self._ends[0]
        parts = [
            f"iteration {row['iteration']}",
            f"gap {gap(last['nashconv'])}" + (f" (target {gap(target)})" if target else ""),
            f"value in {last['value_lower']:.5f} .. {last['value_upper']:.5f}",
            f"{row['iterations_per_second']:.3g} iterations/s",
            f"{duration(row['elapsed_seconds'])} so far",
            self._time_left(row["elapsed_seconds"] - last["elapsed_seconds"]),
        ]
        return ", ".join(parts)

    def _time_left(self, since: float) -> str:
        """The remaining time, `since` seconds after the last evaluation."""
        least, most = (max(0.0, seconds - since) for seconds in seconds_left(self._events, *self._ends))
        low, high = duration(least), duration(most)
        if not least < most:
            return f"about {high} left"
        return f"about {low} to {high} left" if least else f"at most {high} left"
