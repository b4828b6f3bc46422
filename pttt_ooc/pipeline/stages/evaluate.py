"""Stage "evaluate": value, best responses and exploitability, of the run's strategies and of uniform play.

The strategies of a game that is not listed are plans, and the best responses to them visit only what they need.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from pttt_ooc.cfr.solving.evaluation import (
    Evaluation,
    EvaluationArrays,
    ProfileEvaluator,
    evaluation_arrays,
    intersect,
)
from pttt_ooc.cfr.sweep.engine import engine_needs
from pttt_ooc.disk.memory import MemoryNeeds, process_needs
from pttt_ooc.exact.double_oracle.plan_evaluation import evaluate_plans
from pttt_ooc.exact.double_oracle.rule_tables import rule_tables
from pttt_ooc.games.rules.catalogue import named_game, reference_value
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure.index import Layout
from pttt_ooc.games.structure.strategy import Floats, strategy_arrays, uniform_strategy
from pttt_ooc.pipeline.files.equilibrium import read_plans
from pttt_ooc.pipeline.files.file_headers import solution_attrs, solution_dtype
from pttt_ooc.pipeline.files.solution import read_solution
from pttt_ooc.pipeline.stages import finish
from pttt_ooc.pipeline.stages.engines import fit_engine, open_engine
from pttt_ooc.pipeline.stages.stage_context import allocate, digests, inputs, stage
from pttt_ooc.pipeline.stages.strategy_store import finish_if_run, store_of
from pttt_ooc.types import Interval, Symmetry


def needs(
    layout: Layout, thread: Mapping[str, int], dtype: DTypeLike = np.float64
) -> MemoryNeeds[tuple[EvaluationArrays, tuple[Floats, Floats]]]:
    """The stage's memory needs; for `thread` see :func:`pttt_ooc.cfr.sweep.engine.engine_needs`.

    Parameters
    ----------
    dtype
        That of the run's strategies: float64 for an equilibrium, else float32.
    """
    arrays = (evaluation_arrays(layout), strategy_arrays(layout, dtype))
    return MemoryNeeds(process_needs(), arrays, thread)


def run(
    game: str,
    symmetry: Symmetry,
    directory: Path,
    threads: int = 1,
    memory_mb: float = math.inf,
    log: Path | None = None,
    listed: bool = True,
) -> None:
    """Write the manifest with the evaluations of the run's strategies and, for comparison, of uniform play.

    Exploitability is measured against the value of the game.  The value's interval is the intersection of the
    package's reference and the bounds that the strategies' best responses prove.

    Parameters
    ----------
    listed
        Whether the game's infosets are listed; if not, uniform play is not evaluated.

    Raises
    ------
    MemoryBudgetError
        If `memory_mb` is too small.
    StoreError
        If an input is missing or damaged, or the manifest cannot be written.
    """
    with stage("evaluate", directory, []) as facts:
        facts.update(game=game, symmetry=symmetry, listed=listed)
        # What the evaluation is made from: the equilibrium of the stage "finish", or the solver's strategies.
        before = inputs(directory, *(("enumerate", "index", "solve") if listed else ()), *finish_if_run(directory))
        facts["made_from"], store = digests(before), store_of(directory, before)
        # Without a list of infosets, the plans are evaluated.
        if not listed:
            allocate(finish.needs(None), memory_mb, directory, facts)
            facts["solution"] = asdict(_of_plans(named_game(game), store))
            return
        dtype = solution_dtype(solution_attrs(store))
        with open_engine(directory, game, symmetry, np.float64, threads) as engine:
            index = engine.index
            wanted = needs(index, engine_needs(engine), dtype)
            workspace = fit_engine(engine, "evaluate", wanted, memory_mb, directory, facts, log)
            # The strategies against their best responses; these and the reference enclose the value, against which each
            # player's exploitability is measured.
            own, probabilities = workspace.allocate()
            evaluator = ProfileEvaluator(engine, own)
            solution = read_solution(store, index, probabilities)
            found = evaluator(*solution)
            value = _value(index.game, found)
            facts["solution"] = asdict(found.against(value))
            # Uniform play for comparison, in the same arrays, which are not read any more.
            uniform = [uniform_strategy(index, s.player, into=s.probabilities) for s in solution]
            facts["uniform"] = asdict(evaluator(uniform[0], uniform[1], value))


def _value(game: Game, found: Evaluation) -> Interval:
    """The interval that holds the value of the game, as far as these best responses and the reference tell."""
    proved = (-found.best_response_1, max(found.best_response_0, -found.best_response_1))  # equal at an equilibrium
    known = reference_value(game)
    return proved if known is None else intersect(known, proved)  # disjoint only by rounding: then what is proven


def _of_plans(game: Game, store: Path) -> Evaluation:
    """The evaluation of the plans in a store, with the pure rule where they do not come."""
    rules = rule_tables(game)
    found = evaluate_plans(rules, read_plans(store, rules))
    return found.against(_value(game, found))
