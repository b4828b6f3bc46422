"""Refuses a memory budget that is too small for one of the stages, before the first stage starts.

A budget that is larger than what any game of this size needs is accepted at once.  Otherwise the run's memory is
planned, which takes a second for a 3x3 board.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial

from pttt_ooc.config import Config
from pttt_ooc.disk.resources import MB
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.views import most_pairs

_PROCESS = 245  # MB: Python, libraries, compiled code
_THREAD = 20  # MB: for each thread, besides its cells: a stack, and rows of an export
_REST = 90  # MB: more than pictures, or the rows of an export on one thread
_PAIR = {"full": 200, "none": 450}  # bytes for each pair of views, in the stage that needs most of them
_CELL = 140  # bytes for each cell of an operator; there are fewer cells than orders of all squares


def refuse_small_budget(config: Config, stages: Sequence[str] | None = None) -> None:
    """Refuse a budget that is too small for one of the stages (default: all of them), even on one thread.

    Raises
    ------
    MemoryBudgetError
        One sentence with the largest need of these stages.
    """
    if config.is_listed and config.memory_mb >= surely_enough_mb(config):
        return
    from pttt_ooc.pipeline.stages.memory_plan import check_budget, plan_memory

    check_budget(plan_memory(config, 1), stages)


def surely_enough_mb(config: Config) -> float:
    """A budget that is enough for every stage on one thread, computed without a search."""
    game = named_game(config.game)
    tables = _PAIR[config.symmetry] * most_pairs(game) / MB
    cells = _CELL * factorial(game.squares) / MB + _THREAD
    return _PROCESS + max(tables, cells, _REST + _THREAD)
