"""Memory plans: what a computation is going to need, what of it the budget allows, and where the rest goes.

A plan is made before anything is allocated.  Some of the memory is needed in any case; large arrays
may also live in files that are mapped: their pages belong to the operating system, which writes them
out and drops them when it needs the room.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from pttt_ooc.disk.resources import MB
from pttt_ooc.disk.store import Array, scratch_array
from pttt_ooc.errors import MemoryBudgetError

_PROCESS = 235 * MB  # in a job of Snakemake, which brings 40 MB along
_THREAD = 10 * MB  # a stack, and what its C library sets aside

Layout = Mapping[str, tuple[int, DTypeLike]]
"""Names of one-dimensional arrays, each with its length and dtype."""


@dataclass(frozen=True)
class MemoryPlan:
    """What a computation is going to hold at its peak.

    Attributes
    ----------
    needed
        Bytes that have to be in memory, by what they are for.
    arrays
        Arrays that may be in memory or mapped from files: those that gain most from memory first.
    """

    needed: Mapping[str, int]
    arrays: Layout = field(default_factory=dict)

    @property
    def smallest_mb(self) -> int:
        """The smallest budget that will do, MB (10^6 bytes), rounded up."""
        return -(-sum(self.needed.values()) // MB)

    def sizes(self) -> dict[str, int]:
        """Bytes of each array."""
        return {name: length * np.dtype(dtype).itemsize for name, (length, dtype) in self.arrays.items()}

    def room(self, budget_mb: float = math.inf, scratch: Path | None = None) -> Room:
        """Decide which arrays are in memory and which are mapped.

        Parameters
        ----------
        budget_mb
            Most memory that may be used, MB.
        scratch
            Directory for the files of mapped arrays.

        Raises
        ------
        MemoryBudgetError
            If the budget is too small; one sentence that says what would do.
        """
        if self.smallest_mb > budget_mb:
            largest = sorted(self.needed.items(), key=lambda item: -item[1])[:3]
            listed = ", ".join(f"{name} {size / MB:.0f} MB" for name, size in largest)
            raise MemoryBudgetError(
                f"A memory budget of {budget_mb:g} MB is too small: {self.smallest_mb} MB is the smallest that will do "
                f"({listed}); raise memory_mb."
            )
        left = budget_mb * MB - sum(self.needed.values())
        held = {}
        for name, size in self.sizes().items():
            if size <= left:
                held[name] = size
                left -= size
        projected = -(-(sum(self.needed.values()) + sum(held.values())) // MB)
        return Room(self.arrays, frozenset(held), projected, scratch)


@dataclass(frozen=True)
class Room:
    """Where a plan's arrays live.

    Attributes
    ----------
    arrays
        All of them, as in the plan.
    held
        Names of those that are in memory.
    projected_mb
        What the computation is going to hold in memory at its peak, MB.
    scratch
        Directory for the files of the others.
    """

    arrays: Layout
    held: frozenset[str]
    projected_mb: int
    scratch: Path | None

    def take(self, name: str) -> Array:
        """Make the array `name` of the plan; its content is arbitrary.

        Raises
        ------
        StoreError
            If it is to be mapped from a file, and the disk is full or cannot be written to.
        """
        length, dtype = self.arrays[name]
        if name in self.held:
            return np.empty(length, dtype)
        assert self.scratch is not None, "a limited budget needs a place for files"
        return scratch_array(self.scratch, name, length, dtype)


def process_needs(threads: int = 1) -> dict[str, int]:
    """What any computation of the package needs: measured, and tests hold measurements below it."""
    return {"Python, libraries and compiled code": _PROCESS, "threads": threads * _THREAD}


def in_memory(arrays: Layout) -> Room:
    """Room without a limit."""
    return MemoryPlan({}, arrays).room()
