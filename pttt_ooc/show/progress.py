"""Live progress: of a solve, a line for each evaluation, or one line that is renewed; of other work, its share."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from rich.console import Console
from rich.status import Status

from pttt_ooc.disk.files import explained
from pttt_ooc.show.numbers import duration

Event = Mapping[str, Any]
FEWEST = 8
"""Evaluations, from which on the time that is left is estimated."""

DISAGREE = 4.0
"""Estimates that are this many times apart say nothing."""

LINE_EVERY = 30.0
"""Seconds between two lines in a log, at most, as long as a solve is at work."""

_BAR = 20  # characters
_SHORT = 2.0  # seconds: what takes no longer has no bar


def seconds_left(events: list[Event], target: float, max_iterations: int, max_seconds: float) -> tuple[float, float]:
    """Estimate the time to the first of the three ends: at least, and at most.

    The gap is taken to go on shrinking as a power of the number of iterations, as it did since one of the evaluations
    before; several of these are tried.  An iteration is taken to last as long as since the middle one of the
    evaluations, everything counted.  As long as there are few of them, or they disagree widely, nothing is known but
    that the other two ends come: then the least is 0.
    """
    last, middle = events[-1], events[len(events) // 2]
    made, spent = last["iteration"] - middle["iteration"], last["elapsed_seconds"] - middle["elapsed_seconds"]
    pace = spent / made if made else last["elapsed_seconds"] / last["iteration"]
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
    """How many more iterations bring the gap to the target, if it goes on as it did between two evaluations."""
    if not before["nashconv"] > last["nashconv"] > 0:
        return math.inf
    power = math.log(before["nashconv"] / last["nashconv"]) / math.log(last["iteration"] / before["iteration"])
    # Logarithms, because a gap that has all but stopped shrinking would take more than a float of iterations.
    growth = math.log(max(last["nashconv"] / target, 1)) / power
    return float(last["iteration"] * math.expm1(growth)) if growth < 50 else math.inf


class Shares:
    """Tells which share of a piece of work is done: a line now and then, on stderr and in a log.

    Parameters
    ----------
    log
        A file that gets every line too.
    seconds
        Between two lines, at least.  Work that takes less tells nothing.
    """

    def __init__(self, log: Path | None = None, seconds: float = 10.0) -> None:
        self._log, self._seconds, self._told = log, seconds, time.monotonic()

    def of(self, what: str) -> Callable[[float], None]:
        """What to call with the share of `what` that is done, 0 to 1."""

        def tell(share: float) -> None:
            if time.monotonic() - self._told < self._seconds:
                return
            self._told = time.monotonic()
            line = f"{what}: {share:.0%}"
            print(line, file=sys.stderr, flush=True)
            if self._log:
                with explained(f"write the log {self._log}"), open(self._log, "a", encoding="utf-8") as file:
                    print(line, file=file)

        return tell


class Progress:
    """Shows the solver's events as they come; a context manager, called with each row.

    There is a line for each evaluation, and one every :data:`LINE_EVERY` seconds, within long iterations too.  On a
    terminal, one line is renewed instead.

    Parameters
    ----------
    target, max_iterations, max_minutes
        The budgets, for the time that is left.
    log
        A file that gets every line too.
    stream
        Where to show them; by default stderr.
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
        """Write a line that stays."""
        if self._status:
            self._status.console.print(line, highlight=False)
        else:
            print(line, file=self._stream, flush=True)
        self._write_log(line)

    def __call__(self, row: Event) -> None:
        """Show that an iteration has been made."""
        self._row = dict(row)
        if "nashconv" in row:
            self._events.append(self._row)
        if self._events:
            self._show(self._line(row), "nashconv" in row)

    def part(self, part: Event) -> None:
        """Show how far an iteration or an evaluation has come, if it takes long.

        Parameters
        ----------
        part
            As :data:`pttt_ooc.solving.solver.WorkShare`; the first of a piece of work has the share 0.
        """
        now = time.monotonic()
        if part["share"] == 0:
            self._begun = now
        lasted = now - self._begun
        if lasted < _SHORT:
            return
        told = [f"{part['what']}: {part['share']:.0%}"]
        if part["bytes"]:
            told.append(f"{part['bytes'] / lasted / 1e9:.2g} GB/s of the state")
        told.append(f"{duration(part['elapsed_seconds'] + lasted)} so far")
        if self._status:
            done = round(_BAR * part["share"])
            told.insert(0, "\u2501" * done + "\u254c" * (_BAR - done))
        if self._events:
            told.append(f"gap {self._events[-1]['nashconv']:.2e}")
        self._show(", ".join(told), False)

    def _show(self, line: str, stays: bool) -> None:
        """Renew the line of a terminal; write the line elsewhere if it `stays`, or if the last one was long ago."""
        if self._status:
            self._status.update(line)
        if stays or time.monotonic() - self._written >= LINE_EVERY:
            if not self._status:
                print(line, file=self._stream, flush=True)
            self._write_log(line)

    def _write_log(self, line: str) -> None:
        self._written = time.monotonic()
        if self._log:
            with explained(f"write the log {self._log}"), open(self._log, "a", encoding="utf-8") as file:
                print(line, file=file)

    def _line(self, row: Event) -> str:
        last, target = self._events[-1], self._ends[0]
        parts = [
            f"iteration {row['iteration']}",
            f"gap {last['nashconv']:.2e}" + (f" (target {target:.0e})" if target else ""),
            f"value in {last['value_lower']:.5f} .. {last['value_upper']:.5f}",
            f"{row['iterations_per_second']:.3g} iterations/s",
            f"{duration(row['elapsed_seconds'])} so far",
            self._left(row["elapsed_seconds"] - last["elapsed_seconds"]),
        ]
        return ", ".join(parts)

    def _left(self, since: float) -> str:
        """The time that is left, so many seconds after the last evaluation."""
        least, most = (max(0.0, seconds - since) for seconds in seconds_left(self._events, *self._ends))
        low, high = duration(least), duration(most)
        if not least < most:
            return f"about {high} left"
        return f"about {low} to {high} left" if least else f"at most {high} left"
