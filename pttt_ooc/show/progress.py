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


def seconds_left(events: list[Event], target: float, max_iterations: int, max_seconds: float) -> float:
    """Estimate the time to the first of the three ends.

    The gap is taken to go on shrinking as a power of time, as it did between the middle one of the
    evaluations so far and the last one.
    """
    last, middle = events[-1], events[len(events) // 2]
    left: float = max_seconds - last["seconds"]
    if last["iterations_per_second"] > 0:
        left = min(left, (max_iterations - last["iteration"]) / last["iterations_per_second"])
    gaps, times = (middle["nashconv"], last["nashconv"]), (middle["seconds"], last["seconds"])
    if target > 0 and gaps[0] > gaps[1] > 0 and times[1] > times[0] > 0:
        power = math.log(gaps[0] / gaps[1]) / math.log(times[1] / times[0])
        # Logarithms, because a gap that has all but stopped shrinking would take more than a float of seconds.
        growth = math.log(max(gaps[1] / target, 1)) / power
        if growth < 50:
            left = min(left, last["seconds"] * math.expm1(growth))
    return max(left, 0.0)


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
    """Shows the solver's events as they come; a context manager, called with each event.

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
            if self._events:
                print(self._line(self._events[-1]), file=self._stream)

    def note(self, line: str) -> None:
        """Write a line that stays."""
        if self._status:
            self._status.console.print(line, highlight=False)
        else:
            print(line, file=self._stream, flush=True)
        self._write_log(line)

    def __call__(self, event: Event) -> None:
        """Show one iteration: on a terminal always, in a file if it was evaluated."""
        evaluated = "nashconv" in event
        if evaluated:
            self._events.append(dict(event))
        if self._status and self._events:
            self._status.update(self._line(event))
        if evaluated:
            if not self._status:
                print(self._line(event), file=self._stream, flush=True)
            self._write_log(self._line(event))

    def _write_log(self, line: str) -> None:
        if self._log:
            with explained(f"write the log {self._log}"), open(self._log, "a", encoding="utf-8") as file:
                print(line, file=file)

    def _line(self, now: Event) -> str:
        last, target = self._events[-1], self._ends[0]
        left = seconds_left(self._events, *self._ends) + last["seconds"] - now["seconds"]
        parts = [
            f"iteration {now['iteration']}",
            f"gap {last['nashconv']:.2e}" + (f" (target {target:.0e})" if target else ""),
            f"value in {last['value_lower']:.5f} .. {last['value_upper']:.5f}",
            f"{now['iterations_per_second']:.3g} iterations/s",
            f"{duration(now['seconds'])} so far",
            f"about {duration(max(left, 0))} left",
        ]
        return ", ".join(parts)
