"""Checkpoints of a learner, through the core's commits.

A learner's arrays may grow, and a :class:`~pttt_ooc.disk.commits.ResumableState` has arrays of fixed shapes.  So the
directory has a numbered state for each set of shapes; a smaller one is deleted when a larger one has its first commit.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from pttt_ooc.disk.commits import ResumableState
from pttt_ooc.disk.files import explain_errors, make_directory, remove
from pttt_ooc.disk.locks import hold
from pttt_ooc.disk.memory import virtual_array
from pttt_ooc.disk.snapshot_record import SnapshotRecord
from pttt_ooc.learners.learner import Arrays

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
