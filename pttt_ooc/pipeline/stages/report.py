"""Stage "report": a page with the results of all stages, its pictures, and a page with measurements."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from pttt_ooc.config import Config, ReportConfig
from pttt_ooc.disk.manifests import read_manifest
from pttt_ooc.disk.memory import MemoryNeeds, process_needs, thread_needs
from pttt_ooc.disk.numbers import size
from pttt_ooc.disk.resources import MB
from pttt_ooc.games.rules.catalogue import EXACT_VALUES, named_game
from pttt_ooc.games.structure.index import Layout
from pttt_ooc.games.structure.strategy import Floats, strategy_arrays
from pttt_ooc.pipeline.files.file_headers import solution_attrs, solution_dtype
from pttt_ooc.pipeline.files.solution import read_solution
from pttt_ooc.pipeline.files.structure_store import read_index
from pttt_ooc.pipeline.show.report_page import (
    FIGURES,
    MEASUREMENTS,
    PAGE,
    ReportData,
    StageFacts,
    save_figures,
    write_report,
)
from pttt_ooc.pipeline.stages.comparison import read_comparison
from pttt_ooc.pipeline.stages.directories import DEFAULT_RUN, INDEX, manifest_of, run_of, structure_of
from pttt_ooc.pipeline.stages.pictured import ListedPictures, Pictured, PlannedPictures, openings_of
from pttt_ooc.pipeline.stages.saved_rounds import ROUNDS
from pttt_ooc.pipeline.stages.stage_context import Facts, allocate, contents, digests, inputs, stage
from pttt_ooc.pipeline.stages.strategy_store import finish_if_run, store_of

_NEEDED = {"pictures": 80 * MB}


def needs(layout: Layout, dtype: DTypeLike = np.float64) -> MemoryNeeds[tuple[Floats, Floats]]:
    """The stage's memory needs; the run's strategies have the `dtype` float64 for an equilibrium, else float32."""
    return MemoryNeeds({**process_needs(), **_NEEDED}, strategy_arrays(layout, dtype), thread_needs())


def run(config: Config, directory: Path, memory_mb: float = math.inf) -> None:
    """Write ``report.html``, its pictures, and ``measurements.html``.

    Raises
    ------
    PtttError
        If `memory_mb` is too small, an input is missing or damaged, or the disk cannot be written to.
    """
    with stage("report", directory, [PAGE, MEASUREMENTS, *FIGURES]) as facts:
        listed, finish = config.is_listed, finish_if_run(directory)
        read = inputs(directory, *(("index", "solve") if listed else ()), *finish)
        # Only the manifests of the other stages are read, so their files need no check.
        names = ("enumerate", "index", "solve", *finish, "evaluate", "export") if listed else (*finish, "evaluate")
        before = {name: read.get(name) or read_manifest(manifest_of(directory, name), name) for name in names}
        facts.update(game=config.game, symmetry=config.symmetry, listed=listed)
        facts["settings"] = config.report.model_dump(mode="json")
        runs, others = read_comparison(directory, config.report.compare, before["solve"]) if listed else ([], {})
        facts["made_from"] = {**digests(before), **others}
        store = store_of(directory, before)
        if listed:
            index = read_index(structure_of(directory) / INDEX, config.game, config.symmetry)
            arrays = allocate(needs(index, solution_dtype(solution_attrs(store))), memory_mb, directory, facts)
            strategies: Pictured = ListedPictures(directory, read_solution(store, index, arrays))
        else:
            allocate(MemoryNeeds(process_needs(), (), thread_needs()), memory_mb, directory, facts)
            strategies = PlannedPictures(named_game(config.game), store)
        data = replace(_data(config, directory, before, strategies), runs=runs)
        write_report(data, directory)
        save_figures(data, directory)


def _data(config: Config, directory: Path, before: Mapping[str, Facts], strategies: Pictured) -> ReportData:
    game, evaluation = named_game(config.game), before["evaluate"]
    both = [strategies.picture(p, text) for text in config.report.infosets for p in (0, 1)]
    openings = openings_of(strategies, game)
    return ReportData(
        game=game,
        config=in_force(before, _settings(config.report), run_of(directory)),
        evaluation=evaluation["solution"],
        uniform_evaluation=evaluation.get("uniform", {}),
        convergence=_rows(directory / "convergence.jsonl") if "solve" in before else [],
        rounds=_rows(directory / ROUNDS) if "finish" in before else [],
        finish=before["finish"]["result"] if "finish" in before else {},
        openings=(openings[0].probabilities, openings[1].probabilities),
        infosets=[picture for picture in both if picture],
        stages=[_stage_facts(name, facts) for name, facts in before.items()],
        counts=_counts(before) if "index" in before else {},
        parameters=before["solve"]["parameters"] if "solve" in before else {},
        digests=contents(before),
        machine=_machine(evaluation),
        proven=EXACT_VALUES.get(config.game),
        title=config.report.title,
    )


def _rows(file: Path) -> list[Facts]:
    return [json.loads(row) for row in file.read_text(encoding="utf-8").splitlines()]


def _settings(report: ReportConfig) -> Facts:
    return report.model_dump(mode="json", exclude=None if report.compare else {"compare"})


def in_force(before: Mapping[str, Facts], report: Facts, run: str = DEFAULT_RUN) -> Facts:
    """The configuration of the products, from their manifests, without the memory budget."""
    evaluation = before["evaluate"]
    sections = {stage: before[stage]["settings"] for stage in ("solve", "finish", "export") if stage in before}
    named: Facts = {} if run == DEFAULT_RUN else {"run": run}
    named |= {} if evaluation["listed"] else {"listed": False}
    return {"game": evaluation["game"], "symmetry": evaluation["symmetry"], **named, **sections, "report": report}


def _stage_facts(name: str, facts: Facts) -> StageFacts:
    usage = facts["usage"]
    projected = facts["memory"]["projected_mb"]
    read, written = (round(usage.get(key, 0) * MB) for key in ("read_mb", "written_mb"))
    moved = f"{size(read)} read from the disk, {size(written)} written" if read + written > MB else ""
    return StageFacts(name, usage["seconds"], usage["peak_anonymous_mb"], projected, usage["threads"], moved)


def _machine(evaluation: Facts) -> Facts:
    budget = evaluation["memory"]["budget_mb"]
    return {**evaluation["versions"], **({} if budget is None else {"memory budget": f"{budget:g} MB"})}


def _counts(before: Mapping[str, Facts]) -> dict[str, Any]:
    counts, sizes = before["enumerate"]["counts"], before["index"]["sizes"]
    found = {"histories": counts["histories"], "of these at the end of a game": counts["terminal_histories"]}
    for player in (0, 1):
        found[f"infosets of player {player}"] = counts["total_infosets"][player]
    for player in (0, 1):
        found[f"infosets of player {player} that are stored"] = sizes[player]["infosets"]
    return found
