"""Memories of decisions: the newest ones, or a fair sample of all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = dict[str, NDArray[Any]]


class Memory:
    """A table with a limited number of rows.

    Parameters
    ----------
    capacity
        The greatest number of rows.
    fair
        Whether all rows ever added have the same chance to be kept (reservoir sampling, Vitter 1985, algorithm R);
        otherwise the newest are kept.
    columns
        By name: shape and dtype of one row's entry.
    """

    def __init__(self, capacity: int, fair: bool, **columns: tuple[tuple[int, ...], Any]) -> None:
        self.fair, self.added = fair, np.zeros(1, np.int64)
        self.rows: Rows = {name: np.zeros((capacity, *shape), kind) for name, (shape, kind) in columns.items()}

    def __len__(self) -> int:
        return min(int(self.added[0]), self._capacity)

    @property
    def _capacity(self) -> int:
        return len(next(iter(self.rows.values())))

    def add(self, rng: np.random.Generator, **columns: NDArray[Any]) -> None:
        """Add rows, given by their columns."""
        numbers = self.added[0] + np.arange(len(next(iter(columns.values()))))
        if self.fair:
            at = np.where(numbers < self._capacity, numbers, rng.integers(0, numbers + 1))
        else:
            at = numbers % self._capacity
        # Of several rows for one place the last one is kept, as if they were added one by one.
        chosen = np.flatnonzero(at < self._capacity)
        places, last = np.unique(at[chosen][::-1], return_index=True)
        for name, column in columns.items():
            self.rows[name][places] = column[chosen[::-1][last]]
        self.added += len(numbers)

    def clear(self) -> None:
        """Forget all rows."""
        self.added[:] = 0

    def draw(self, rng: np.random.Generator, number: int) -> Rows:
        """Draw rows, with replacement."""
        at = rng.integers(0, len(self), number)
        return {name: column[at] for name, column in self.rows.items()}

    def state(self) -> Rows:
        """All arrays, by name."""
        return {"added": self.added, **self.rows}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore a result of :meth:`state`."""
        for name, array in self.state().items():
            array[:] = state[name]
