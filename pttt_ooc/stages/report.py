"""Stage "report": a page with the results of all stages, its pictures, and a page with measurements."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pttt_ooc.config import Config, ReportConfig
from pttt_ooc.disk.manifests import read_manifest
from pttt_ooc.disk.memory import MemoryNeeds, process_needs, thread_needs
from pttt_ooc.disk.resources import MB
from pttt_ooc.errors import InfosetFileError
from pttt_ooc.products.infosets import parse_infoset
from pttt_ooc.products.solution import Strategies, read_solution
from pttt_ooc.products.structure_store import read_index
from pttt_ooc.rules.catalogue import named_game
from pttt_ooc.rules.play import first_infoset
from pttt_ooc.show.report import (
    FIGURES,
    MEASUREMENTS,
    PAGE,
    InfosetPicture,
    ReportData,
    StageFacts,
    save_figures,
    write_report,
)
from pttt_ooc.stages import STAGES
from pttt_ooc.stages.comparison import read_comparison
from pttt_ooc.stages.directories import DEFAULT_RUN, INDEX, manifest_of, run_of, structure_of
from pttt_ooc.stages.stage_context import Facts, allocated, contents, digests, inputs, stage
from pttt_ooc.structure.index import Index, Layout
from pttt_ooc.structure.strategy import Floats, Strategy, strategy_arrays
from pttt_ooc.structure.symmetry import probabilities_at

_NEEDED = {"pictures": 80 * MB}


def needs(layout: Layout) -> MemoryNeeds[tuple[Floats, Floats]]:
    """The stage's memory needs."""
    return MemoryNeeds({**process_needs(), **_NEEDED}, strategy_arrays(layout), thread_needs())


def run(config: Config, directory: Path, memory_mb: float = math.inf) -> None:
    """Write ``report.html``, its pictures, and ``measurements.html``.

    Raises
    ------
    PtttError
        If `memory_mb` is too small, an input is missing or damaged, or the disk cannot be written to.
    """
    with stage("report", directory, [PAGE, MEASUREMENTS, *FIGURES]) as facts:
        read = inputs(directory, "index", "solve")
        # Only the manifests of the other stages are read, so their files need no check.
        before = {name: read.get(name) or read_manifest(manifest_of(directory, name), name) for name in STAGES[:-1]}
        facts.update(game=config.game, symmetry=config.symmetry, settings=config.report.model_dump(mode="json"))
        runs, others = read_comparison(directory, config.report.compare, before["solve"])
        facts["made_from"] = {**digests(before), **others}
        index = read_index(structure_of(directory) / INDEX, config.game, config.symmetry)
        arrays = allocated(needs(index), memory_mb, directory, facts)
        solution = read_solution(directory / "solution.zarr", index, arrays)
        data = replace(_data(config, directory, before, solution), runs=runs)
        write_report(data, directory)
        save_figures(data, directory)


def _data(config: Config, directory: Path, before: Mapping[str, Facts], solution: Strategies) -> ReportData:
    whole = read_index(structure_of(directory) / INDEX, config.game, "none")
    chosen = [(s, text) for text in config.report.infosets for s in solution if _has(whole, s.player, text)]
    pictures = [_picture(s, whole, text) for s, text in chosen]
    openings = [_picture(s, whole, first_infoset(whole.game, s.player)).probabilities for s in solution]
    rows = (directory / "convergence.jsonl").read_text(encoding="utf-8").splitlines()
    return ReportData(
        game=named_game(config.game),
        config=in_force(before, _settings(config.report), run_of(directory)),
        evaluation=before["evaluate"]["solution"],
        uniform_evaluation=before["evaluate"]["uniform"],
        convergence=[json.loads(row) for row in rows],
        openings=(openings[0], openings[1]),
        infosets=pictures,
        stages=[_spent(name, facts) for name, facts in before.items()],
        counts=_counts(before),
        parameters=before["solve"]["parameters"],
        digests=contents(before),
        machine=_machine(before["solve"]),
        title=config.report.title,
    )


def _settings(report: ReportConfig) -> Facts:
    return report.model_dump(mode="json", exclude=None if report.compare else {"compare"})


def in_force(before: Mapping[str, Facts], report: Facts, run: str = DEFAULT_RUN) -> Facts:
    """The configuration of the products, from their manifests, without the memory budget."""
    solve = before["solve"]
    sections = {"solve": solve["settings"], "export": before["export"]["settings"], "report": report}
    named = {} if run == DEFAULT_RUN else {"run": run}
    return {"game": solve["game"], "symmetry": solve["symmetry"], **named, **sections}


def _has(whole: Index, player: int, text: str) -> bool:
    try:
        parse_infoset(whole, player, text)
    except InfosetFileError:
        return False
    return True


def _picture(strategy: Strategy, whole: Index, text: str) -> InfosetPicture:
    node = parse_infoset(whole, strategy.player, text)
    return InfosetPicture(strategy.player, text, [float(p) for p in probabilities_at(strategy, whole, node)])


def _spent(name: str, facts: Facts) -> StageFacts:
    usage = facts["usage"]
    projected = facts["memory"]["projected_mb"]
    return StageFacts(name, usage["seconds"], usage["peak_anonymous_mb"], projected, usage["threads"])


def _machine(solve: Facts) -> Facts:
    budget = solve["memory"]["budget_mb"]
    return {**solve["versions"], **({} if budget is None else {"memory budget": f"{budget:g} MB"})}


def _counts(before: Mapping[str, Facts]) -> dict[str, Any]:
    counts, sizes = before["enumerate"]["counts"], before["index"]["sizes"]
    found = {"histories": counts["histories"], "of these at the end of a game": counts["terminal_histories"]}
    for player in (0, 1):
        found[f"infosets of player {player}"] = counts["total_infosets"][player]
    for player in (0, 1):
        found[f"infosets of player {player} that are stored"] = sizes[player]["infosets"]
    return found
