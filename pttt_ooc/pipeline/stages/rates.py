"""Predicts the times of a plan from the rates of two small games, measured on this machine now.

Times are processor seconds of all threads together, because elapsed times depend on other processes.  The work of an
iteration grows with the sequences, which it reads and writes, and with the additions of its gradients.  One of the two
games has few additions for each sequence and the other many, so that both rates can be computed.  Large arrays do not
fit into the processor's caches, and mapped ones come from files.  So a time is a range; its width covers the deviations
of games that have been solved.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from pttt_ooc.cfr.solving.arrays import solver_arrays, state_arrays
from pttt_ooc.cfr.solving.evaluation import evaluate
from pttt_ooc.cfr.solving.solver import MemoryState, Solver
from pttt_ooc.cfr.sweep.engine import Engine
from pttt_ooc.config import SolveConfig
from pttt_ooc.disk.memory import in_memory, leaves
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.building import build_timing, timing_sizes
from pttt_ooc.games.structure.index import Index, build_index
from pttt_ooc.games.structure.strategy import uniform_strategy
from pttt_ooc.games.structure.views import find_pairs
from pttt_ooc.pipeline.files import deflate
from pttt_ooc.pipeline.files.infosets import BLOCK_ROWS, as_lines, infoset_tables, text_width, texts_of
from pttt_ooc.pipeline.files.tensors import tensor_rows
from pttt_ooc.pipeline.stages.compilation import ensure_compiled
from pttt_ooc.pipeline.stages.planning import Plan

MEASURED = ("pttt-2x4k3-abrupt", "pttt-classical")  # 3.5 and 34 additions for each sequence
_TIMES = 3  # repetitions of each measurement; the least time counts
_BEFORE = 30  # iterations before the measured ones: in the first iterations less reach is zero
_Result = TypeVar("_Result")
Range = tuple[float, float]

_WRITTEN = 1.5  # time of the stage "index", relative to its time without writing and digests; measured
_STARTED = 1.0  # seconds until a stage begins: Python, libraries, digests
_LEAST, _MOST, _MOST_MAPPED = 0.8, 1.5, 3.0
"""The ends of a range, relative to the prediction.  An iteration and an evaluation of the 3x3 game (abrupt) took 1.3
and 0.9 of it, those of 2x5 squares with 1 GB of memory 2.7 and 1.0 to 2.6."""


@dataclass(frozen=True)
class PlanTimes:
    """Processor seconds, as ranges.

    Attributes
    ----------
    iteration, evaluation
        Of the solver.
    stages
        By name, without "solve", because the number of iterations is unknown.
    """

    iteration: Range
    evaluation: Range
    stages: Mapping[str, Range]


@dataclass(frozen=True)
class GameTimes:
    """The measured times of a small game.

    Attributes
    ----------
    pairs, sequences, work, order_tables, rows
        The sizes that times are proportional to: pairs of views, stored sequences, additions for one gradient of both
        players, entries of the tables of orders, rows of the export.
    searching, building, iterating, evaluating, exporting
        Processor seconds.
    """

    pairs: int
    sequences: int
    work: int
    order_tables: int
    rows: int
    searching: float
    building: float
    iterating: float
    evaluating: float
    exporting: float


def times_of(plan: Plan) -> PlanTimes:
    """Measure two small games for some seconds, and predict the times of a plan."""
    ensure_compiled()
    return predict_times(plan, *map(measure, MEASURED))


def predict_times(plan: Plan, few: GameTimes, many: GameTimes) -> PlanTimes:
    """The times of a plan, from two games; the second has more additions for each sequence."""

    def both(seconds_few: float, seconds_many: float) -> float:
        return _predict_seconds(
            (few.sequences, few.work, seconds_few), (many.sequences, many.work, seconds_many), plan.sequences, plan.work
        )

    evaluation = both(few.evaluating, many.evaluating)
    stages = {
        "enumerate": many.searching * plan.counts["pairs"] / many.pairs,
        "index": _WRITTEN * many.building * plan.order_tables / many.order_tables,
        "evaluate": 2 * evaluation,  # of the solution, and of uniform play
    }
    if plan.stages["export"].disk_mb:
        stages["export"] = many.exporting * sum(plan.counts["total_infosets"]) / many.rows
    return PlanTimes(
        _range(both(few.iterating, many.iterating), plan, "solve"),
        _range(evaluation, plan, "evaluate"),
        {name: _range(seconds + _STARTED, plan, name) for name, seconds in stages.items()},
    )


def _predict_seconds(few: tuple[int, int, float], many: tuple[int, int, float], sequences: int, work: int) -> float:
    """Predicted seconds, if each sequence and each addition takes the same time in both games; no rate is negative."""
    (s0, w0, t0), (s1, w1, t1) = few, many
    determinant = s0 * w1 - s1 * w0
    for_sequence = max(0.0, (t0 * w1 - t1 * w0) / determinant)
    for_addition = max(0.0, (t1 - for_sequence * s1) / w1)
    return for_sequence * sequences + for_addition * work


def _range(seconds: float, plan: Plan, stage: str) -> Range:
    return _LEAST * seconds, (_MOST_MAPPED if plan.stages[stage].mapped_mb else _MOST) * seconds


def measure(name: str) -> GameTimes:
    """Run the work of the stages for a small game on one thread, and measure it."""
    game = named_game(name)
    searching, pairs = _least(lambda: find_pairs(game))
    begun = time.process_time()
    index = build_index(game, "full", pairs)
    timings = build_timing(index, pairs, 0), build_timing(index, pairs, 1)
    building = time.process_time() - begun
    sizes = [timing_sizes(index, pairs, player) for player in (0, 1)]
    engine, settings = Engine(index, timings, np.float32, 1), SolveConfig()
    state = MemoryState(leaves(state_arrays(index, settings)))
    solver = Solver(engine, settings, state, lambda row: None, in_memory(solver_arrays(index, settings)))
    uniform = (uniform_strategy(index, 0), uniform_strategy(index, 1))
    for _ in range(_BEFORE):
        solver.iterate()
    iterating, _ = _least(solver.iterate)
    evaluating, _ = _least(lambda: evaluate(*uniform, engine))
    engine.close()
    whole = build_index(game, "none", pairs)
    exporting, _ = _least(lambda: _block(whole))
    return GameTimes(
        len(pairs.mover),
        sum(player.sequences for player in index.players),
        sum(each.work for each in sizes),
        sum(each.narrow_orders + each.wide_orders for each in sizes),
        BLOCK_ROWS,
        *(searching, building, iterating, evaluating, exporting),
    )


def _least(work: Callable[[], _Result]) -> tuple[float, _Result]:
    """The least time of several calls, and the last result."""
    least = float("inf")
    for _ in range(_TIMES):
        begun = time.process_time()
        result = work()
        least = min(least, time.process_time() - begun)
    return least, result


def _block(index: Index) -> bytes:
    """Export one block of rows."""
    infosets = int(index.players[0].infosets_by_slice()[-1])
    nodes = np.arange(infosets)[:BLOCK_ROWS] + index.players[0].nodes_of(index.players[0].slices - 1).start
    texts = texts_of(infoset_tables(index, 0), text_width(index, 0), nodes)
    tensor = tensor_rows(infoset_tables(index, 0), uniform_strategy(index, 0).probabilities, nodes)
    return as_lines(texts) + deflate.part(tensor.reshape(-1).view(np.uint8).data, 1)
