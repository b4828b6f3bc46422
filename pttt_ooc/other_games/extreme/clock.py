"""The clocks of a bot's move: processor time, and elapsed time less the time that the bot was kept waiting.

The system counts how long a process computed, and how long it waited for a processor.  A bot can falsify neither
number, so that it gets back exactly the time it lost.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from pathlib import Path

from pttt_ooc.errors import CaughtError

TICK = 0.1  # maximum seconds between two looks at a process that thinks
_STATE_SECONDS = 0.001  # seconds between two looks at whether a process got a processor


class StoppedError(CaughtError):
    """The wait for an answer was ended."""


class Meter:
    """The system's counters of a process, all its threads together.

    Behind walls a bot cannot start processes; those that a bot without walls starts are not counted.

    Parameters
    ----------
    pid
        The process.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._clock = ~pid << 3 | 2  # as clock_getcpuclockid(3) makes it
        self._processor = self._waited = 0.0

    def processor(self) -> float:
        """Seconds of processor time; the last known number if it has ended."""
        with suppress(OSError):
            self._processor = time.clock_gettime(self._clock)
        return self._processor

    def wait_time(self) -> float:
        """Seconds of completed waits for a processor; 0 if the system does not tell."""
        with suppress(OSError, ValueError, IndexError):
            self._waited = int(Path(f"/proc/{self._pid}/schedstat").read_text().split()[1]) / 1e9
        return self._waited

    def state(self) -> str:
        """The letter of its state: R for running or ready, T for stopped, D for waiting for a disk."""
        return self._fields()[0]

    def is_ending(self) -> bool:
        """Whether it has begun to end."""
        fields = self._fields()
        return fields[0] in "ZX?" or bool(int(fields[6]) & 4)  # the kernel's PF_EXITING

    def _fields(self) -> list[str]:
        try:
            return Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return ["?"]


class Clock:
    """The time of one question.

    Parameters
    ----------
    meter
        Counters of the process that is asked.
    limit
        Seconds for the answer.
    charged
        Processor time up to the last charge, in seconds: what the process computed between its last answer and this
        question counts.
    stalls
        Seconds that may still be given back for waits in the system, which a bot can cause.
    stopping
        Ends the wait for the answer once it is set; None: the wait is not ended.

    Attributes
    ----------
    processor
        Seconds that the process computed for this question.
    waited
        Seconds that it was kept waiting: for a processor, stopped, in the system, or while the referee did not run.
    stalls
        What is left of these seconds.
    """

    def __init__(
        self,
        meter: Meter,
        limit: float,
        charged: float,
        stalls: float = 0.0,
        stopping: threading.Event | None = None,
    ) -> None:
        self._meter, self.limit, self.stalls, self._stopping = meter, limit, stalls, stopping
        self._charged, self._queued = charged, meter.wait_time()
        self.tick = min(TICK, limit / 10)
        self._begin = self._last = time.monotonic()
        self.processor = self.waited = self._lost = 0.0

    def look(self) -> None:
        """Read the counters; call it every `tick` seconds, and when the process has answered.

        Raises
        ------
        StoppedError
            If the wait for the answer was ended.
        """
        if self._stopping is not None and self._stopping.is_set():
            raise StoppedError
        now = time.monotonic()
        since, self._last = now - self._last, now
        processor = self._meter.processor() - self._charged
        queued = self._meter.wait_time() - self._queued
        idle = since - (processor - self.processor) - (queued + self._lost - self.waited)
        if idle > self.tick / 2:
            state = self._meter.state()
            if state in "Tt":
                self._lost += idle
            elif state == "D":
                stalled = min(idle, self.stalls)
                self._lost += stalled
                self.stalls -= stalled
            elif state == "S" and since > 2 * self.tick:  # the referee did not run; the answer may have been there
                self._lost += idle - self.tick
        self.processor, self.waited = processor, queued + self._lost

    @property
    def seconds(self) -> float:
        """Seconds that count, up to the last look."""
        return max(self.processor, self._last - self._begin - self.waited)

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.limit - self.seconds

    def is_over(self) -> bool:
        """Whether the time is over; not while the process waits for a processor."""
        self.look()
        return self.left <= 0 and not self._is_waiting()

    def _is_waiting(self) -> bool:
        """Whether the process is ready but does not run for a tick; the system counts a wait when it is over."""
        before, end = self._meter.processor(), time.monotonic() + self.tick
        while self._meter.state() == "R" and self._meter.processor() == before:
            if time.monotonic() > end:
                return True
            time.sleep(_STATE_SECONDS)
        self.look()
        return self.left > 0
