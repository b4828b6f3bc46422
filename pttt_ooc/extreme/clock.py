"""The clocks of a bot's move: what its process computes, and the time that passes less what it is kept waiting.

The system tells how long a process computed, and how long it was ready to and waited for a processor.  Nothing that a
bot does makes either number wrong, so it is given back exactly what it lost, and nothing that it used.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

TICK = 0.1  # seconds between two looks at a process that thinks, at most
_AGAIN = 0.001  # seconds between two looks at whether a process has been given a processor


class Meter:
    """What the system tells of a process, all its threads together.

    Behind walls a bot's process can start no other; what one without walls has started is not counted.

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
        """Seconds that it has computed; what was known last, if it has ended."""
        with suppress(OSError):
            self._processor = time.clock_gettime(self._clock)
        return self._processor

    def waited(self) -> float:
        """Seconds that it has waited for a processor; a wait counts when it is over, and nothing where none is told."""
        with suppress(OSError, ValueError, IndexError):
            self._waited = int(Path(f"/proc/{self._pid}/schedstat").read_text().split()[1]) / 1e9
        return self._waited

    def state(self) -> str:
        """The letter of its state: R for running or ready to, T for stopped, D for waiting for a disk."""
        return self._fields()[0]

    def is_ending(self) -> bool:
        """Whether it has begun to end, by its own will or not."""
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
        Of the process that is asked.
    limit
        Seconds for the answer.
    charged
        Seconds of processor time that the process had used when it was charged last: what it computed since, before it
        was asked, counts.
    stalls
        Seconds that may be given back for waits in the system, as a bot can bring them about.

    Attributes
    ----------
    processor
        Seconds that the process has computed for this question.
    waited
        Seconds that it was kept waiting: for a processor, stopped, in the system, or while the referee did not run.
    stalls
        What is left of them.
    """

    def __init__(self, meter: Meter, limit: float, charged: float, stalls: float = 0.0) -> None:
        self._meter, self.limit, self.stalls = meter, limit, stalls
        self._charged, self._queued = charged, meter.waited()
        self.tick = min(TICK, limit / 10)
        self._begin = self._last = time.monotonic()
        self.processor = self.waited = self._lost = 0.0

    def look(self) -> None:
        """Look at the process; to be called every `tick` seconds, and when it has answered."""
        now = time.monotonic()
        since, self._last = now - self._last, now
        processor = self._meter.processor() - self._charged
        queued = self._meter.waited() - self._queued
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
        """Seconds that count, when it was looked at last."""
        return max(self.processor, self._last - self._begin - self.waited)

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.limit - self.seconds

    def is_over(self) -> bool:
        """Whether there was no answer in time; not as long as the process waits for a processor."""
        self.look()
        return self.left <= 0 and not self._is_waiting()

    def _is_waiting(self) -> bool:
        """Whether the process is ready to run and does not for a tick, a wait that the system has not told of yet."""
        before, end = self._meter.processor(), time.monotonic() + self.tick
        while self._meter.state() == "R" and self._meter.processor() == before:
            if time.monotonic() > end:
                return True
            time.sleep(_AGAIN)
        self.look()
        return self.left > 0
