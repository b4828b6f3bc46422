"""How long things take on this machine now: rates of a small game, and the times of a plan that follow from them.

They are approximate: small arrays stay in the processor's caches, and disks are not measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from pttt_ooc.config import SolveConfig
from pttt_ooc.disk.memory import in_memory, leaves
from pttt_ooc.products import deflate
from pttt_ooc.products.infosets import BLOCK_ROWS, as_lines, infoset_tables, text_width, texts_of
from pttt_ooc.products.tensors import tensor_rows
from pttt_ooc.rules.catalogue import named_game
from pttt_ooc.solving.arrays import solver_arrays, state_arrays
from pttt_ooc.solving.evaluation import evaluate
from pttt_ooc.solving.solver import MemoryState, Solver
from pttt_ooc.stages.compilation import ensure_compiled
from pttt_ooc.stages.planning import Plan
from pttt_ooc.structure.building import build_timing, timing_sizes
from pttt_ooc.structure.index import Index, build_index
from pttt_ooc.structure.strategy import uniform_strategy
from pttt_ooc.structure.views import find_pairs
from pttt_ooc.sweep.engine import Engine

MEASURED = "pttt-2x4k3-abrupt"  # large enough for its times to grow with the sizes, small enough to take seconds
_TIMES = 3  # each thing is done so often; the least time counts
_Result = TypeVar("_Result")

_STARTED = 1.0  # seconds until a stage begins: Python, libraries, digests


@dataclass(frozen=True)
class Times:
    """Seconds, approximate.

    Attributes
    ----------
    iteration, evaluation
        Of the solver.
    stages
        By name; the solver's is left out, because nobody knows how many iterations a gap takes.
    """

    iteration: float
    evaluation: float
    stages: Mapping[str, float]


def times_of(plan: Plan, threads: int) -> Times:
    """Measure a small game for some seconds, and scale its times to the sizes of a plan."""
    ensure_compiled()
    game = named_game(MEASURED)
    searching, pairs = _least(lambda: find_pairs(game))
    begun = time.perf_counter()
    index = build_index(game, "full", pairs)
    timings = build_timing(index, pairs, 0), build_timing(index, pairs, 1)
    building = time.perf_counter() - begun
    sizes = [timing_sizes(index, pairs, player) for player in (0, 1)]
    engine, settings = Engine(index, timings, np.float32, threads), SolveConfig()
    state = MemoryState(leaves(state_arrays(index, settings)))
    solver = Solver(engine, settings, state, lambda row: None, in_memory(solver_arrays(index, settings)))
    uniform = (uniform_strategy(index, 0), uniform_strategy(index, 1))
    iterating, _ = _least(solver.iterate)
    evaluating, _ = _least(lambda: evaluate(*uniform, engine))
    engine.close()
    whole = build_index(game, "none", pairs)
    exporting = _least(lambda: _block(whole))[0] / BLOCK_ROWS / threads
    mine = sum(player.sequences for player in index.players) + sum(each.work for each in sizes)
    larger = (plan.sequences + plan.work) / mine
    evaluation = evaluating * larger
    tables = plan.order_tables / sum(each.narrow_orders + each.wide_orders for each in sizes)
    stages = {
        "enumerate": searching * plan.counts["pairs"] / len(pairs.mover),
        "index": building * tables,
        "evaluate": 2 * evaluation,  # of the solution, and of uniform play
    }
    if plan.stages["export"].disk_mb:
        stages["export"] = exporting * sum(plan.counts["total_infosets"])
    started = {name: seconds + _STARTED for name, seconds in stages.items()}
    return Times(iterating * larger, evaluation, started)


def _least(work: Callable[[], _Result]) -> tuple[float, _Result]:
    """The least time of some calls, and the last result."""
    least = float("inf")
    for _ in range(_TIMES):
        begun = time.perf_counter()
        result = work()
        least = min(least, time.perf_counter() - begun)
    return least, result


def _block(index: Index) -> bytes:
    """Do for a block of rows what an export does for all of them."""
    infosets = int(index.players[0].infosets_by_slice()[-1])
    nodes = np.arange(infosets)[:BLOCK_ROWS] + index.players[0].nodes_of(index.players[0].slices - 1).start
    texts = texts_of(infoset_tables(index, 0), text_width(index, 0), nodes)
    tensor = tensor_rows(infoset_tables(index, 0), uniform_strategy(index, 0).probabilities, nodes)
    return as_lines(texts) + deflate.part(tensor.reshape(-1).view(np.uint8).data, 1)
