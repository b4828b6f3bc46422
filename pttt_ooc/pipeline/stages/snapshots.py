"""Snapshots of the solver: average strategies during a solve, on a schedule, within a disk budget.

In the solver's work directory, where they outlive an interruption, they have this form:

========================= ================================================================================
``snapshots/<t>.zarr``    both players' average strategies after iteration t, in the form of a solution
``snapshots/sizes.json``  iteration -> bytes of all snapshots ever made, deleted ones included
========================= ================================================================================

The work directory is named by everything that the iterates depend on, so that a snapshot of an iteration has the same
bits in every run.  Which snapshots a run keeps depends on their sizes only, not on interruptions.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

from pttt_ooc.cfr.solving.schedule import schedule
from pttt_ooc.config import SolveConfig
from pttt_ooc.disk.files import atomic_write_text, explain_errors, fresh_store, remove
from pttt_ooc.disk.manifests import read_json
from pttt_ooc.disk.resources import MB
from pttt_ooc.errors import DiskBudgetError
from pttt_ooc.games.structure.index import Index
from pttt_ooc.pipeline.files.solution import SlicedStrategies, write_solution
from pttt_ooc.pipeline.stages.directories import SNAPSHOTS

_SIZES = "sizes.json"
_FLOAT = 4  # bytes of a probability
_METADATA = 4096  # bytes that describe an array, at most

ConvergenceRow = Mapping[str, Any]


def due(settings: SolveConfig) -> Iterator[int]:
    """The iterations after which snapshots are made.

    They are 1 and then, each time, the first evaluation after the number of iterations has grown by the factor
    ``snapshot_every``, so that the gap of each snapshot is known.
    """
    assert settings.snapshot_every is not None
    last = 0
    for iteration in schedule(settings.evaluate_every):
        if iteration >= last * settings.snapshot_every:
            last = iteration
            yield iteration


def thin_out(sizes: Mapping[int, int], budget: int) -> list[int]:
    """The snapshots to keep: all, or every second, or every fourth, ..., until they fit.

    Parameters
    ----------
    sizes
        Iteration -> bytes.
    budget
        Bytes.
    """
    iterations = sorted(sizes)
    while iterations and sum(sizes[iteration] for iteration in iterations) > budget:
        iterations = iterations[::2] if len(iterations) > 1 else []
    return iterations


def most_bytes(index: Index) -> int:
    """The largest possible size of a snapshot: without compression."""
    return sum(_FLOAT * i.sequences + i.sequences // 64 + _METADATA * (i.slices + 1) for i in index.players)


class Snapshots:
    """The snapshots of one run; see :class:`pttt_ooc.cfr.solving.solve_run.SnapshotKeeper`.

    Parameters
    ----------
    work
        The work directory.
    attrs
        Gives the attributes of a snapshot from the row of its evaluation.

    Raises
    ------
    DiskBudgetError
        If two snapshots might not fit into the budget.
    """

    def __init__(
        self, work: Path, index: Index, settings: SolveConfig, attrs: Callable[[ConvergenceRow], dict[str, Any]]
    ) -> None:
        self.directory, self._settings, self._attrs = work / SNAPSHOTS, settings, attrs
        self._budget = int(settings.snapshots_mb * MB)
        most = most_bytes(index)
        if 2 * most > self._budget:
            raise DiskBudgetError(
                f"snapshots_mb is {settings.snapshots_mb:g}, but a snapshot may take {most / MB:.2f} MB and two "
                f"have to fit; set it to {-(-2 * most // MB)} or more, or snapshot_every to null."
            )

    def is_due(self, iteration: int) -> bool:
        """Whether a snapshot is made after this iteration."""
        return iteration in self._due(iteration)

    def keep(self, row: ConvergenceRow, strategies: SlicedStrategies) -> None:
        """Make a snapshot.

        Raises
        ------
        StoreError
            If it cannot be written.
        """
        iteration = int(row["iteration"])
        if not self._path(iteration).exists():  # a killed run may have made it
            with fresh_store(self._path(iteration)) as store:
                write_solution(store, strategies, self._attrs(row))
        sizes = {**self._sizes(), **self._there()}
        text = json.dumps({str(t): sizes[t] for t in sorted(sizes)})
        atomic_write_text(self.directory / _SIZES, text + "\n")  # before any snapshot is deleted

    def make_space(self, iteration: int) -> None:
        """Delete snapshots that are not kept at an iteration, if all together exceed the budget.

        The state of that iteration must be saved already: an earlier state may need the deleted snapshots.

        Raises
        ------
        StoreError
            If they cannot be deleted.
        """
        there = self._there()
        if sum(there.values()) <= self._budget:
            return
        iterations = self._iterations_to_keep(self._sizes(), iteration)
        with explain_errors(f"delete snapshots in {self.directory}"):
            for t in there:
                if t not in iterations:
                    remove(self._path(t))

    def has_all(self, iteration: int) -> bool:
        """Whether all snapshots are there that a run without interruptions has at this iteration."""
        sizes = self._sizes()
        wanted = self._due(iteration)
        if not all(t in sizes for t in wanted):
            return False
        return all(self._path(t).exists() for t in self._iterations_to_keep(sizes, iteration))

    def publish(self, directory: Path, iteration: int) -> None:
        """Make the product: a directory with the snapshots up to an iteration whose state is saved.

        It shares the files with the work directory if the file system allows it.

        Raises
        ------
        StoreError
            If it cannot be written.
        """
        self.make_space(iteration)
        with fresh_store(directory / SNAPSHOTS) as root, explain_errors(f"write {directory / SNAPSHOTS}"):
            for t in self._iterations_to_keep(self._sizes(), iteration):
                shutil.copytree(self._path(t), root / self._path(t).name, copy_function=_link_or_copy)

    def _due(self, iteration: int) -> list[int]:
        return list(takewhile(lambda t: t <= iteration, due(self._settings)))

    def _path(self, iteration: int) -> Path:
        return self.directory / f"{iteration}.zarr"

    def _iterations_to_keep(self, sizes: Mapping[int, int], iteration: int) -> list[int]:
        return thin_out({t: sizes[t] for t in self._due(iteration)}, self._budget)

    def _sizes(self) -> dict[int, int]:
        file = self.directory / _SIZES
        if not file.exists():
            return {}
        content = read_json(file, "the sizes of snapshots", f"delete {self.directory} to begin again")
        return {int(iteration): int(size) for iteration, size in content.items()}

    def _there(self) -> dict[int, int]:
        """Sizes of the snapshots on disk."""
        with explain_errors(f"read {self.directory}"):
            return {int(path.stem): _size(path) for path in self.directory.glob("*.zarr")}


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def _link_or_copy(source: str, target: str) -> None:
    """Make a hard link; a copy if the file system has no hard links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
