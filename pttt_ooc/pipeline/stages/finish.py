"""Stage "finish": the solver's strategies become an equilibrium that is exact to rounding.

First-order methods for linear programs end with a crossover to an exact vertex, and so does this workflow.  The double
oracle begins with the actions that the average strategies play, and ends when best responses gain nothing.  If the game
is not listed, there is no solver, and the double oracle begins with nothing.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

from pttt_ooc.config import FinishConfig
from pttt_ooc.disk.files import atomic_write_text, explain_errors, fresh_store, remove
from pttt_ooc.disk.memory import MemoryNeeds, process_needs, thread_needs
from pttt_ooc.disk.numbers import gap
from pttt_ooc.disk.resources import MB
from pttt_ooc.errors import MemoryBudgetError
from pttt_ooc.exact.double_oracle.oracle import EXACT, DoubleOracle
from pttt_ooc.exact.double_oracle.warm_start import allow_played
from pttt_ooc.exact.equilibria.choice import needed_bytes
from pttt_ooc.extras import check_extra
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.index import Index, Layout
from pttt_ooc.games.structure.strategy import Floats, strategy_arrays
from pttt_ooc.pipeline.files.equilibrium import write_equilibrium
from pttt_ooc.pipeline.files.solution import Strategies, read_solution
from pttt_ooc.pipeline.stages import equilibrium_choice
from pttt_ooc.pipeline.stages.directories import EQUILIBRIUM, SOLUTION
from pttt_ooc.pipeline.stages.engines import index_of
from pttt_ooc.pipeline.stages.product_check import timeless
from pttt_ooc.pipeline.stages.saved_rounds import ROUNDS, forget_states, has_ended, play_rounds, state_directory
from pttt_ooc.pipeline.stages.stage_context import Facts, allocate, digests, inputs, stage, tell, workspace_of
from pttt_ooc.types import Symmetry

_PREFIX = "finish-"  # of saved rounds
_MEMO_MB, _GAMES_MB = 32, 80  # for bounds of best responses; for restricted games and their programs


def needs(layout: Layout | None, choosing: bool = False) -> MemoryNeeds[tuple[Floats, ...]]:
    """The stage's memory needs; without a layout, those of a game that is not listed.

    Parameters
    ----------
    choosing
        Whether a choice among equilibria is made: key ``finish: against``.
    """
    fixed = {**process_needs(), "restricted games": _GAMES_MB * MB, "bounds of best responses": _MEMO_MB * MB}
    if layout and choosing:  # after the rounds, whose bounds are freed
        bounds = fixed.pop("bounds of best responses")
        fixed["choice of the equilibrium"] = max(bounds, needed_bytes(layout))
    arrays = () if layout is None else strategy_arrays(layout, np.float64)
    return MemoryNeeds(fixed, arrays, thread_needs())


def run(
    game: str,
    symmetry: Symmetry,
    settings: FinishConfig,
    directory: Path,
    listed: bool = True,
    threads: int = 1,
    log: Path | None = None,
    memory_mb: float = math.inf,
    reader: equilibrium_choice.Reader | None = None,
) -> None:
    """Make ``equilibrium.zarr`` and ``rounds.jsonl``; without an equilibrium, the latter is empty.

    If the game is listed and a limit is reached, a sentence says so, and the solver's strategies are the result.

    Parameters
    ----------
    settings
        Method and limits.
    listed
        Whether there are an index and a solution; otherwise the equilibrium is stored as plans only.
    reader
        Reads the strategy that ``finish: against`` names.

    Raises
    ------
    PtttError
        If an input is missing or damaged, the disk cannot be written to, or an optional library is missing; if the game
        is not listed, also if a limit is too small.
    """
    products = [ROUNDS]
    with stage("finish", directory, products, continues=True) as facts:
        # What the result is made from; this includes a strategy that the choice among equilibria plays against.
        before = inputs(directory, "enumerate", "index", "solve") if listed else {}
        facts.update(game=game, symmetry=symmetry, listed=listed, settings=settings.model_dump(mode="json"))
        facts["made_from"] = {
            **digests(before),
            **(equilibrium_choice.opponent_digests(settings.against) if listed else {}),
        }
        index = index_of(directory, game, symmetry) if listed else None
        wanted, rows = needs(index), list[Facts]()
        # The double oracle may not be asked for, or not fit into the memory.
        reason, why = _obstacle(settings, wanted, memory_mb if listed else math.inf)
        if reason:
            allocate(MemoryNeeds(process_needs(), (), thread_needs()), memory_mb, directory, facts)
        else:
            check_extra("exact", "An exact equilibrium (finish: exact)")
            # Its memory, with that of a choice among equilibria if one can be made.
            asked = equilibrium_choice.requested_choice(settings.against, index, needs(index, choosing=True), memory_mb)
            wanted = needs(index, asked.is_possible)
            workspace = workspace_of("finish", wanted, memory_mb, directory, facts, threads, log)
            own_mb = memory_mb - workspace.projected_mb + sum(wanted.fixed.values()) / MB
            # Rounds that were saved for this solution go on; otherwise they begin with what the solver's strategies
            # play.
            work, start = directory / "work", digests(before).get(SOLUTION, "")
            state = state_directory(work, _PREFIX, start, "solution", log)
            try:
                oracle = DoubleOracle(named_game(game), _MEMO_MB, workspace.threads, own_mb)
                average = _begin(oracle, index, directory, workspace.allocate())
                play_rounds(oracle, state, 60 * settings.max_minutes, rows, log)
                reason, why = _end(oracle)
                forget_states(work, _PREFIX, kept=state)
            except MemoryBudgetError as error:
                if not listed:
                    raise
                reason, why = "memory_mb", str(error).removesuffix(".")
        # An equilibrium, from which the choice is made; or, if the game is not listed, the last plans in any case.
        if reason == "equilibrium" or (rows and not listed):
            facts["result"] = {"method": "exact", "stopped_by": reason, **rows[-1]}
            chosen = None
            if average:
                average, chosen = equilibrium_choice.choose_strategies(
                    asked, oracle, average, directory, reader, threads, EXACT, log
                )
                facts["result"]["choice"] = chosen
            with fresh_store(directory / EQUILIBRIUM) as store:
                told = {"algorithm": "double-oracle", **timeless(facts["result"])}
                complete = bool(chosen and chosen["made"])
                write_equilibrium(
                    store, oracle.game, oracle.plans, told, symmetry, average, threads=threads, complete=complete
                )
            products.append(EQUILIBRIUM)
            if reason == "equilibrium":
                forget_states(work, _PREFIX)
        else:
            # No equilibrium: one from an earlier configuration would be misleading, and the solver's strategies are the
            # result.
            with explain_errors(f"delete {directory / EQUILIBRIUM}"):
                remove(directory / EQUILIBRIUM)
            facts["result"] = {"method": "none", "stopped_by": reason}
            if reason == "memory_mb":
                facts["result"]["smallest_mb"] = max(wanted.smallest_mb, math.floor(memory_mb) + 1)
            if why:
                tell(f"{why}: the solver's strategies are the result.", log)
        atomic_write_text(directory / ROUNDS, "".join(json.dumps(row, sort_keys=True) + "\n" for row in rows))


def _obstacle(settings: FinishConfig, wanted: MemoryNeeds[tuple[Floats, ...]], memory_mb: float) -> tuple[str, str]:
    """Why the double oracle cannot begin, as a key and as the start of a sentence; empty if it can."""
    if settings.method == "none":
        return "finish: none", ""
    if wanted.smallest_mb > memory_mb:
        return "memory_mb", f"An exact equilibrium needs a memory_mb of {wanted.smallest_mb}"
    return "", ""


def _end(oracle: DoubleOracle) -> tuple[str, str]:
    """Why the rounds ended, as a key, and as the start of a sentence if there is no equilibrium."""
    if has_ended(oracle):
        return "equilibrium", ""
    assert oracle.last
    return "max_minutes", f"The double oracle ended at a gap of {gap(oracle.last.nashconv)} (max_minutes)"


def _begin(oracle: DoubleOracle, index: Index | None, directory: Path, arrays: tuple[Floats, ...]) -> Strategies | None:
    """Allow what the solver's strategies play, and return them, if there are any."""
    if index is None:
        return None
    average = read_solution(directory / SOLUTION, index, (arrays[0], arrays[1]))
    oracle.plans = allow_played(oracle.rules, oracle.plans, average)
    return average
