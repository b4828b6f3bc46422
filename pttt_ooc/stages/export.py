"""Stage "export": the files for the course, and the bundle for everybody else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pttt_ooc.bundle import write_bundle
from pttt_ooc.config import ExportConfig
from pttt_ooc.files import remove
from pttt_ooc.formats import export_strategy
from pttt_ooc.game import named_game
from pttt_ooc.index import Index, build_index
from pttt_ooc.infosets import default_rows, read_infosets, write_infosets
from pttt_ooc.solution import read_solution
from pttt_ooc.stages.common import Facts, digests, inputs, stage
from pttt_ooc.strategy import Strategy, unfold
from pttt_ooc.tables import read_index, read_pairs
from pttt_ooc.views import Ints

BUNDLE = "strategies.h5"


def run(game: str, settings: ExportConfig, directory: Path) -> None:
    """Write, for both players, the zip with the tensor and the list of its rows' infosets, and the bundle.

    Raises
    ------
    PtttError
        If an input is missing or damaged, an infoset file of the user is refused, or the disk cannot be written to.
    """
    files = [f"pttt_pl{p}.zip" for p in (0, 1)] + [f"player{p}-infosets.txt" for p in (0, 1)]
    with stage("export", directory, files + [BUNDLE] * settings.bundle) as facts:
        before = inputs(directory, "enumerate", "index", "solve", "evaluate")
        facts.update(game=game, settings=settings.model_dump(mode="json"))
        full = build_index(named_game(game), "none", read_pairs(directory / "views.zarr", game))
        solution = read_solution(directory / "solution.zarr", read_index(directory / "index.zarr", game))
        strategies = (unfold(solution[0], full), unfold(solution[1], full))
        rows = (_rows(full, 0, settings.infosets_0), _rows(full, 1, settings.infosets_1))
        for strategy in strategies:
            _export(strategy, rows[strategy.player], settings, directory)
        remove(directory / BUNDLE)
        if settings.bundle:
            write_bundle(directory / BUNDLE, full, strategies, _told(before), rows, settings.dtype)


def _rows(index: Index, player: int, order: Path | None) -> Ints:
    return read_infosets(index, player, order) if order else default_rows(index, player)


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
