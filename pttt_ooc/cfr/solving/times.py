"""Time that a solve has spent on iterations, evaluations and saving, in all its runs together."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

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
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    elapsed_seconds: float = 0.0

    def __post_init__(self) -> None:
        self._shortest: dict[Work, float] = {}

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
        spent = time.perf_counter() - wall
        self._shortest[work] = min(spent, self._shortest.get(work, spent))
        self.elapsed_seconds += spent
        if work == "iteration":
            self.seconds += spent
            self.cpu_seconds += time.process_time() - cpu

    def allows(self, limit: float) -> bool:
        """Whether one more iteration can be finished, evaluated and saved before `limit` seconds have elapsed."""
        return self.elapsed_seconds < limit and self.elapsed_seconds + sum(self._shortest.values()) <= limit
