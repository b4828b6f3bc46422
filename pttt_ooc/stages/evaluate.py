"""Stage "evaluate": value, best responses and exploitability, of the solution and of uniform play."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

from pttt_ooc.aliases import Symmetry
from pttt_ooc.disk.memory import MemoryNeeds, process_needs
from pttt_ooc.products.solution import read_solution
from pttt_ooc.rules.catalogue import reference_value
from pttt_ooc.solving.evaluation import EvaluationArrays, ProfileEvaluator, evaluation_arrays, intersected
from pttt_ooc.stages.engines import open_engine
from pttt_ooc.stages.stage_context import digests, inputs, stage, workspace_of
from pttt_ooc.structure.index import Layout
from pttt_ooc.structure.strategy import Floats, strategy_arrays, uniform_strategy
from pttt_ooc.sweep.engine import engine_needs


def needs(layout: Layout, thread: Mapping[str, int]) -> MemoryNeeds[tuple[EvaluationArrays, tuple[Floats, Floats]]]:
    """The stage's memory needs; for `thread` see :func:`pttt_ooc.sweep.engine.engine_needs`."""
    arrays = (evaluation_arrays(layout), strategy_arrays(layout))
    return MemoryNeeds(process_needs(), arrays, thread)


def run(
    game: str,
    symmetry: Symmetry,
    directory: Path,
    threads: int = 1,
    memory_mb: float = math.inf,
    log: Path | None = None,
) -> None:
    """Write the manifest with the evaluations of the solution and, for comparison, of uniform play.

    Exploitability is measured against the value of the game.  Its interval is the intersection of the bounds that
    the solution's best responses prove with the package's reference.

    Raises
    ------
    MemoryBudgetError
        If `memory_mb` is too small.
    StoreError
        If an input is missing or damaged, or the manifest cannot be written.
    """
    with stage("evaluate", directory, []) as facts:
        before = inputs(directory, "enumerate", "index", "solve")
        facts.update(game=game, symmetry=symmetry, made_from=digests(before))
        with open_engine(directory, game, symmetry, np.float64, threads) as engine:
            index = engine.index
            wanted = needs(index, engine_needs(engine))
            workspace = workspace_of("evaluate", wanted, memory_mb, directory, facts, threads, log)
            engine.workers.limit(workspace.threads)
            own, probabilities = workspace.allocate()
            evaluator = ProfileEvaluator(engine, own)
            solution = read_solution(directory / "solution.zarr", index, probabilities)
            found = evaluator(*solution)
            proved = (-found.best_response_1, found.best_response_0)
            value = intersected(proved, reference_value(index.game))
            facts["solution"] = asdict(found.against(value))
            uniform = [uniform_strategy(index, s.player, into=s.probabilities) for s in solution]
            facts["uniform"] = asdict(evaluator(uniform[0], uniform[1], value))
