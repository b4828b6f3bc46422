"""Stage "report": one page with everything that the stages found, and its pictures."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pttt_ooc.config import Config
from pttt_ooc.errors import InfosetFileError
from pttt_ooc.formats import tensor_from_strategy
from pttt_ooc.game import named_game
from pttt_ooc.index import build_index
from pttt_ooc.infosets import parse_infoset
from pttt_ooc.report import InfosetPicture, ReportData, StageFacts, save_figures, write_report
from pttt_ooc.solution import read_solution
from pttt_ooc.stages.common import Facts, digests, inputs, stage
from pttt_ooc.strategy import Strategy, unfold
from pttt_ooc.tables import read_index, read_pairs

PICTURES = ("convergence.svg", "opening.svg")


def run(config: Config, directory: Path) -> None:
    """Write ``report.html`` and its pictures.

    Raises
    ------
    StoreError
        If an input is missing or damaged, or the disk cannot be written to.
    """
    with stage("report", directory, ["report.html", *PICTURES]):
        before = inputs(directory, "enumerate", "index", "solve", "evaluate", "export")
        data = _data(config, directory, before)
        write_report(data, directory / "report.html")
        with tempfile.TemporaryDirectory(dir=directory) as drawn:
            save_figures(data, Path(drawn))
            for name in PICTURES:
                shutil.move(Path(drawn, name), directory / name)


def _data(config: Config, directory: Path, before: Mapping[str, Facts]) -> ReportData:
    strategies = _strategies(config.game, directory)
    pictures = [_picture(s, text) for text in config.report.infosets for s in strategies if _has(s, text)]
    openings = [_picture(s, _opening_text(s)).probabilities for s in strategies]
    rows = (directory / "convergence.jsonl").read_text(encoding="utf-8").splitlines()
    return ReportData(
        game=named_game(config.game),
        config=config.model_dump(mode="json"),
        evaluation=before["evaluate"]["solution"],
        uniform_evaluation=before["evaluate"]["uniform"],
        convergence=[json.loads(row) for row in rows],
        openings=(openings[0], openings[1]),
        infosets=pictures,
        stages=[_spent(name, facts["usage"]) for name, facts in before.items()],
        counts=_counts(before),
        parameters=before["solve"]["parameters"],
        versions=before["solve"]["versions"],
        digests=digests(before),
        title=config.report.title,
    )


def _strategies(game: str, directory: Path) -> list[Strategy]:
    full = build_index(named_game(game), "none", read_pairs(directory / "views.zarr", game))
    solution = read_solution(directory / "solution.zarr", read_index(directory / "index.zarr", game))
    return [unfold(strategy, full) for strategy in solution]


def _opening_text(strategy: Strategy) -> str:
    return "|" + "".join(f"{square}*" for square in strategy.index.game.opening[strategy.player])


def _has(strategy: Strategy, text: str) -> bool:
    try:
        parse_infoset(strategy.index, strategy.player, text)
    except InfosetFileError:
        return False
    return True


def _picture(strategy: Strategy, text: str) -> InfosetPicture:
    index, player = strategy.index, strategy.player
    node = parse_infoset(index, player, text)
    row = next(tensor_from_strategy(index, player, strategy.probabilities, np.array([node]), np.float64))[0]
    return InfosetPicture(player, text, [float(p) for p in row])


def _spent(name: str, usage: Mapping[str, Any]) -> StageFacts:
    return StageFacts(name, usage["seconds"], usage["peak_anonymous_mb"], usage["threads"])


def _counts(before: Mapping[str, Facts]) -> dict[str, Any]:
    counts, sizes = before["enumerate"]["counts"], before["index"]["sizes"]
    found = {"histories": counts["histories"], "of these at the end of a game": counts["terminal_histories"]}
    for player in (0, 1):
        found[f"infosets of player {player}"] = counts["total_infosets"][player]
    for player in (0, 1):
        found[f"infosets of player {player} that are stored"] = sizes[player]["infosets"]
    return found
