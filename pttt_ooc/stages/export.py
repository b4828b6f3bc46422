"""Stage "export": the files for the course, and the bundle for everybody else."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pttt_ooc.bundle import write_bundle
from pttt_ooc.config import ExportConfig, Symmetry
from pttt_ooc.files import remove
from pttt_ooc.formats import export_strategy
from pttt_ooc.index import Index
from pttt_ooc.infosets import default_rows, read_infosets, row_arrays, write_infosets
from pttt_ooc.memory import MemoryPlan, Room, process_needs
from pttt_ooc.resources import MB
from pttt_ooc.solution import Strategies, read_solution
from pttt_ooc.stages.common import Facts, digests, inputs, room_for, stage
from pttt_ooc.strategy import Strategy, strategy_arrays, unfold
from pttt_ooc.tables import read_index
from pttt_ooc.views import Ints

BUNDLE = "strategies.h5"
_NEEDED = {"blocks of rows": 60 * MB}


def run(game: str, symmetry: Symmetry, settings: ExportConfig, directory: Path, memory_mb: float = math.inf) -> None:
    """Write, for both players, the zip with the tensor and the list of its rows' infosets, and the bundle.

    Raises
    ------
    PtttError
        If it cannot be done with `memory_mb` MB, an input is missing or damaged, an infoset file of the user is
        refused, or the disk cannot be written to.
    """
    files = [f"pttt_pl{p}.zip" for p in (0, 1)] + [f"player{p}-infosets.txt" for p in (0, 1)]
    with stage("export", directory, files + [BUNDLE] * settings.bundle) as facts:
        before = inputs(directory, "enumerate", "index", "solve", "evaluate")
        facts.update(game=game, symmetry=symmetry, settings=settings.model_dump(mode="json"))
        facts["made_from"] = digests(before)
        folded, whole = (
            read_index(directory / "index.zarr", game, symmetry),
            read_index(directory / "index.zarr", game, "none"),
        )
        arrays = {**strategy_arrays(folded, "solution"), **row_arrays(whole)}
        if symmetry != "none":
            arrays |= strategy_arrays(whole, "unfolded strategy")
        plan = MemoryPlan({**process_needs(), **_NEEDED}, arrays)
        room = room_for(plan, memory_mb, directory, facts)
        strategies = _unfolded(read_solution(directory / "solution.zarr", folded, room), whole, room)
        rows = (_rows(whole, 0, settings.infosets_0, room), _rows(whole, 1, settings.infosets_1, room))
        for strategy in strategies:
            _export(strategy, rows[strategy.player], settings, directory)
        remove(directory / BUNDLE)
        if settings.bundle:
            write_bundle(directory / BUNDLE, whole, strategies, _told(before), rows, settings.dtype)


def _unfolded(solution: Strategies, whole: Index, room: Room) -> Strategies:
    if solution[0].index.symmetry == "none":
        return Strategy(whole, 0, solution[0].probabilities), Strategy(whole, 1, solution[1].probabilities)
    into = [room.take(f"unfolded strategy of player {p}") for p in (0, 1)]
    return unfold(solution[0], whole, into[0]), unfold(solution[1], whole, into[1])


def _rows(index: Index, player: int, order: Path | None, room: Room) -> Ints:
    into = room.take(f"rows of player {player}")
    return read_infosets(index, player, order, into) if order else default_rows(index, player, into)


def _told(before: Mapping[str, Facts]) -> dict[str, Any]:
    """What the bundle says of itself."""
    solve = before["solve"]
    return {
        "evaluation": before["evaluate"]["solution"],
        "solve": {name: solve[name] for name in ("game", "symmetry", "settings", "parameters", "result", "versions")},
        "digests": digests(before),
    }


def _export(strategy: Strategy, rows: Ints, settings: ExportConfig, directory: Path) -> None:
    index, player = strategy.index, strategy.player
    write_infosets(index, player, directory / f"player{player}-infosets.txt", rows)
    file = directory / f"pttt_pl{player}.zip"
    export_strategy(strategy, rows, file, settings.dtype, settings.compression_level)
