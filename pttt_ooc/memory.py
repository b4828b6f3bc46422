"""Memory plans: what a computation is going to need, and whether the budget allows it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import DTypeLike

from pttt_ooc.errors import MemoryBudgetError
from pttt_ooc.resources import MB


@dataclass
class MemoryPlan:
    """What a computation is going to hold in memory at its peak, by name, in bytes.

    Made before anything is allocated, so that a budget that is too small is refused at once.
    """

    items: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, shape: tuple[int, ...], dtype: DTypeLike, count: int = 1) -> None:
        """Add `count` arrays of one shape and dtype under `name`."""
        size = np.dtype(dtype).itemsize * int(np.prod(shape, dtype=np.int64))
        self.items[name] = self.items.get(name, 0) + count * size

    @property
    def total_mb(self) -> int:
        """The smallest budget that would do, in MB (10^6 bytes), rounded up."""
        return -(-sum(self.items.values()) // MB)

    def check(self, budget_mb: float) -> None:
        """Raise a MemoryBudgetError, which says what would do, if the plan exceeds `budget_mb` MB."""
        if self.total_mb <= budget_mb:
            return
        largest = sorted(self.items.items(), key=lambda item: -item[1])[:3]
        listed = ", ".join(f"{name} {size / MB:.1f} MB" for name, size in largest)
        raise MemoryBudgetError(
            f"A memory budget of {budget_mb:g} MB is too small: {self.total_mb} MB is the smallest that would do "
            f"(the largest parts: {listed})."
        )
