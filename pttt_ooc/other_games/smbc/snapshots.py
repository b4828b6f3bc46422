"""Snapshots of a running solver of a round: regrets, current and average strategies.

They are in ``work/FINGERPRINT/snapshots/A-B/N.zarr``: after ``N`` iterations, single precision, compressed.  They are
kept at the first check, the second, the fourth, the eighth and so on, and at the last.  When the rounds restart with
better values of the outcomes, earlier snapshots are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pttt_ooc.disk.files import fresh_store, make_directory, remove
from pttt_ooc.disk.store import read_array, write_array
from pttt_ooc.errors import StoreError
from pttt_ooc.other_games.smbc.round import Floats, Solver

_PARTS = ("regrets", "current", "average")


@dataclass(frozen=True)
class Snapshot:
    """The state of a round's solver after some iterations.

    Attributes
    ----------
    regrets, current, average
        Sums of regrets, and both strategies: shape (nodes, 3), see
        :class:`pttt_ooc.other_games.smbc.round.RoundProfile`.
    """

    iteration: int
    regrets: Floats
    current: Floats
    average: Floats


def is_due(checks: int) -> bool:
    """Whether a snapshot is kept at a check, counted from 1."""
    return checks & (checks - 1) == 0


def keep(directory: Path, solver: Solver) -> None:
    """Keep a snapshot of a round in the round's own directory."""
    make_directory(directory)
    parts = (solver.regrets, solver.current.strategy, solver.average().strategy)
    with fresh_store(directory / f"{solver.iteration}.zarr") as store:
        for name, array in zip(_PARTS, parts, strict=True):
            write_array(store, name, array.astype(np.float32), compress=True)


def drop(directory: Path) -> None:
    """Drop all snapshots of a round."""
    remove(directory)


def list_iterations(directory: Path) -> list[int]:
    """The iterations with snapshots of a round, and 0, in order."""
    return sorted({0, *(int(store.stem) for store in directory.glob("*.zarr") if store.stem.isdecimal())})


def read(directory: Path, iteration: int, nodes: int) -> Snapshot:
    """The snapshot of an iteration; at iteration 0 the strategy is uniform.

    Raises
    ------
    StoreError
        If there is none; the sentence lists those that exist.
    """
    known = list_iterations(directory)
    if iteration not in known:
        existing = ", ".join(map(str, known))
        raise StoreError(f"There is no snapshot of iteration {iteration}; there are snapshots of {existing}.")
    if iteration == 0:
        zeros = np.zeros((nodes, 3))
        return Snapshot(0, zeros, zeros, zeros)
    store = directory / f"{iteration}.zarr"
    regrets, current, average = (read_array(store, name).astype(np.float64) for name in _PARTS)
    return Snapshot(iteration, regrets, current, average)
