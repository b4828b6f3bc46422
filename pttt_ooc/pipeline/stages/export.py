"""Stage "export": the files for the course, and the bundle for all others."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from pttt_ooc.cfr.sweep.parallel import in_order
from pttt_ooc.config import ExportConfig
from pttt_ooc.disk.files import explain_errors, remove
from pttt_ooc.disk.memory import MemoryNeeds, process_needs, thread_needs
from pttt_ooc.games.structure.index import Index, Layout
from pttt_ooc.games.structure.strategy import Floats, Strategy, strategy_arrays
from pttt_ooc.games.structure.symmetry import unfold
from pttt_ooc.games.structure.views import Ints
from pttt_ooc.pipeline.files.export import FILES, MOST_THREADS, export_needs, write_export
from pttt_ooc.pipeline.files.export_names import BUNDLE
from pttt_ooc.pipeline.files.file_headers import solution_attrs, solution_dtype
from pttt_ooc.pipeline.files.infosets import default_rows, read_infosets, row_arrays
from pttt_ooc.pipeline.files.solution import Strategies, read_solution
from pttt_ooc.pipeline.stages.engines import index_of
from pttt_ooc.pipeline.stages.normal_form import check_row_orders, normal_export, row_orders
from pttt_ooc.pipeline.stages.product_check import timeless
from pttt_ooc.pipeline.stages.stage_context import Facts, allocate, contents, digests, inputs, stage, workspace_of
from pttt_ooc.pipeline.stages.strategy_store import finish_if_run, store_of
from pttt_ooc.types import Symmetry


def needs(
    folded: Layout, whole: Layout, dtype: DTypeLike = np.float64
) -> MemoryNeeds[tuple[tuple[Floats, Floats], tuple[Ints, Ints], tuple[Floats, Floats] | tuple[()]]]:
    """The stage's memory needs, from the layout of the strategies and the layout without symmetry.

    Parameters
    ----------
    dtype
        That of the run's strategies: float64 for an equilibrium, else float32.
    """
    unfolded = () if folded.symmetry == "none" else strategy_arrays(whole, dtype)
    return export_needs((strategy_arrays(folded, dtype), row_arrays(whole), unfolded))


def run(
    game: str,
    symmetry: Symmetry,
    settings: ExportConfig,
    directory: Path,
    threads: int = 1,
    memory_mb: float = math.inf,
    log: Path | None = None,
) -> None:
    """Write each player's zip with the tensor and the list of its rows' infosets, and the bundle.

    Boards of ten squares have hundreds of millions of infosets: their files are made only if the settings ask for them.

    Raises
    ------
    PtttError
        If `memory_mb` is too small, an input is missing or damaged, the user's infoset file is refused, or the disk
        cannot be written to.
    """
    course, bundle = settings.files(game)
    check_row_orders(directory, settings)
    with stage("export", directory, FILES * course + [BUNDLE] * bundle) as facts:
        # What the files are made from, and what the configuration says about them.
        before = inputs(directory, "enumerate", "index", "solve", *finish_if_run(directory), "evaluate")
        facts.update(game=game, symmetry=symmetry, settings=normal_export(settings, game).model_dump(mode="json"))
        facts.update(made_from=digests(before), row_orders=row_orders(settings.infosets_0, settings.infosets_1))
        # The files list all infosets: a strategy with symmetry is unfolded.
        if course or bundle:
            folded, whole = index_of(directory, game, symmetry), index_of(directory, game, "none")
            store = store_of(directory, before)
            wanted = needs(folded, whole, solution_dtype(solution_attrs(store)))
            workspace = workspace_of("export", wanted, memory_mb, directory, facts, min(threads, MOST_THREADS), log)
        else:
            allocate(MemoryNeeds(process_needs(), (), thread_needs()), memory_mb, directory, facts)
        # Once no budget refuses, files of an earlier configuration are deleted: those that this one does not make, and
        # the bundle in any case.
        for file in FILES * (not course) + [BUNDLE]:
            with explain_errors(f"delete {directory / file}"):
                remove(directory / file)
        if not course and not bundle:
            return
        threads, (solution, rows, unfolded) = workspace.threads, workspace.allocate()
        # Both players' strategies for all infosets, and the rows in the order that the user gives or by default; then
        # one pass writes all files.
        given, orders = read_solution(store, folded, solution), (settings.infosets_0, settings.infosets_1)
        strategies, rows = _prepare(given, orders, whole, unfolded, rows, threads)
        del solution, given  # freed, unless `strategies` share their arrays
        bundle_facts = _bundle_facts(before) if bundle else None
        facts["array_digests"] = write_export(
            directory,
            whole,
            strategies,
            rows,
            settings.dtype,
            settings.compression_level,
            bundle_facts,
            threads,
            course,
        )


def _prepare(
    given: Strategies,
    orders: tuple[Path | None, Path | None],
    whole: Index,
    unfolded: tuple[Floats, Floats] | tuple[()],
    rows: tuple[Ints, Ints],
    threads: int,
) -> tuple[Strategies, tuple[Ints, Ints]]:
    """Both players' strategies without symmetry, and their rows, in arrays for them: four pieces of work."""

    def strategy_of(player: int) -> Strategy:
        if not unfolded:
            return Strategy(whole, player, given[player].probabilities)
        return unfold(given[player], whole, unfolded[player])

    def rows_of(player: int) -> Ints:
        order, into = orders[player], rows[player]
        return read_infosets(whole, player, order, into) if order else default_rows(whole, player, into)

    work: list[Callable[[], Any]] = [partial(of_player, p) for of_player in (strategy_of, rows_of) for p in (0, 1)]
    first, second, first_rows, second_rows = in_order(lambda each: each(), work, threads)
    return (first, second), (first_rows, second_rows)


def _bundle_facts(before: Mapping[str, Facts]) -> dict[str, Any]:
    """Facts for the bundle, without run times, so that equal runs leave equal files."""
    solve = before["solve"]
    settings = {name: solve[name] for name in ("game", "symmetry", "settings", "parameters")}
    finish = {"finish": timeless(before["finish"]["result"])} if "finish" in before else {}
    return {
        **finish,
        "evaluation": timeless(before["evaluate"]["solution"]),
        "solve": {**settings, "result": timeless(solve["result"])},
        "digests": contents(before),
    }
