"""Stage "solve": a pair of strategies whose NashConv is at most the target."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Any

import numpy as np

from pttt_ooc.cfr.solving.arrays import SolverArrays, solver_arrays, state_arrays
from pttt_ooc.cfr.solving.regret import RULES
from pttt_ooc.cfr.solving.schedule import end_sentence
from pttt_ooc.cfr.solving.solve_run import solve
from pttt_ooc.cfr.sweep.engine import engine_needs
from pttt_ooc.config import SolveConfig
from pttt_ooc.disk.commits import is_state
from pttt_ooc.disk.files import atomic_write_text, explain_errors, fresh_store, remove
from pttt_ooc.disk.memory import MemoryNeeds, leaves, process_needs
from pttt_ooc.disk.numbers import size
from pttt_ooc.disk.resources import MB, moved_bytes
from pttt_ooc.games.structure.index import Index, Layout
from pttt_ooc.pipeline.files.solution import write_solution
from pttt_ooc.pipeline.show.progress import Progress
from pttt_ooc.pipeline.stages.directories import SNAPSHOTS
from pttt_ooc.pipeline.stages.engines import fit_engine, open_engine
from pttt_ooc.pipeline.stages.normal_solve import normal_solve
from pttt_ooc.pipeline.stages.product_check import timeless
from pttt_ooc.pipeline.stages.provenance import fingerprint
from pttt_ooc.pipeline.stages.snapshots import Snapshots
from pttt_ooc.pipeline.stages.stage_context import Facts, digests, inputs, stage
from pttt_ooc.types import Symmetry


def needs(layout: Layout, settings: SolveConfig, thread: Mapping[str, int]) -> MemoryNeeds[SolverArrays]:
    """The stage's memory needs; for `thread` see :func:`pttt_ooc.cfr.sweep.engine.engine_needs`."""
    return MemoryNeeds(process_needs(), solver_arrays(layout, settings), dict(thread))


def run(
    game: str,
    symmetry: Symmetry,
    settings: SolveConfig,
    directory: Path,
    threads: int = 1,
    log: Path | None = None,
    memory_mb: float = math.inf,
) -> None:
    """Make ``solution.zarr`` and ``convergence.jsonl``; resume from the last commit in ``work/`` if there is one.

    With ``snapshot_every``, also make the directory ``snapshots``: solutions of earlier iterations.

    Parameters
    ----------
    settings
        The algorithm's settings and the budgets.
    threads
        Number of threads, if the memory budget allows them.
    log
        A file that gets the lines of progress.
    memory_mb
        Memory budget, MB; what does not fit is mapped from files.

    Raises
    ------
    PtttError
        If a budget is too small, an input is missing or damaged, another solver is at work, or the disk cannot be
        written to.
    """
    products = ["solution.zarr", "convergence.jsonl", *([SNAPSHOTS] if settings.snapshot_every else [])]
    with stage("solve", directory, products, continues=True) as facts:
        # The work directory is named by all that the iterates depend on, and by no budget: so a larger budget continues
        # it.
        before = inputs(directory, "enumerate", "index")
        name = work_name(game, symmetry, settings, before["index"])
        facts.update(game=game, symmetry=symmetry, work=name)
        facts.update(settings=normal_solve(settings).model_dump(mode="json"))
        facts.update(parameters=parameters(settings), made_from=digests(before))
        ends = (settings.target_nashconv, settings.max_iterations, settings.max_minutes)
        dtype = np.dtype(settings.precision).type
        with open_engine(directory, game, symmetry, dtype, threads) as engine, Progress(*ends, log) as progress:
            work = directory / "work" / name
            snapshots = _snapshots(work, engine.index, settings)
            # What does not fit into the memory is mapped from files.
            wanted = needs(engine.index, settings, engine_needs(engine))
            state = sum(array.nbytes for array in leaves(state_arrays(engine.index, settings)).values())
            workspace = fit_engine(engine, "solve", wanted, memory_mb, directory, facts, log, state)
            in_memory = workspace.holds(state, memory_mb)
            facts["memory"]["projected_mb"] += -(-state // MB) if in_memory else 0
            arrays = workspace.allocate()
            if workspace.room:
                mapped, there = size(workspace.mapped + state), size(workspace.room)
                progress.note(
                    f"Of {mapped} of arrays on disk, {there} are in memory at a time; a larger memory_mb helps."
                )
            # The iterations, from the last commit on; then their average strategies are the solution.
            for sentence in _others(work):
                progress.note(sentence)
            moved = moved_bytes()
            rest = (progress, arrays, progress.note, snapshots, progress.part, in_memory)
            result = solve(engine, settings, work, name, *rest)
            read, written = (now - then for now, then in zip(moved_bytes(), moved, strict=True))
            if read or written:
                progress.note(f"Disk: {size(read)} read, {size(written)} written.")
            with fresh_store(directory / "solution.zarr") as store:
                write_solution(store, result.strategies, _attrs(settings, result.rows[-1]))
            if sentence := end_sentence(result.stopped_by, result.iteration, result.rows[-1]["nashconv"], settings):
                progress.note(sentence)
        # The log of all evaluations, whose last one is the result.
        rows = [json.dumps(row, sort_keys=True) for row in result.rows]
        atomic_write_text(directory / "convergence.jsonl", "".join(f"{row}\n" for row in rows))
        facts["result"] = {**result.rows[-1], "stopped_by": result.stopped_by}
        # Solutions of earlier iterations, if they are asked for.
        if snapshots:
            snapshots.publish(directory, result.iteration)
        else:
            with explain_errors(f"delete {directory / SNAPSHOTS}"):
                remove(directory / SNAPSHOTS)  # from an earlier configuration: no manifest names them


def _snapshots(work: Path, index: Index, settings: SolveConfig) -> Snapshots | None:
    if settings.snapshot_every is None:
        return None
    return Snapshots(work, index, settings, lambda row: _attrs(settings, row))


def _others(work: Path) -> Iterator[str]:
    """A sentence about the disk space of saved states of other parameters."""
    others = [path for path in work.parent.glob("*") if path != work and is_state(path)]
    taken = sum(file.stat().st_size for path in others for file in path.rglob("*") if file.is_file())
    if others:
        yield (
            f"Saved runs of other parameters or versions ({len(others)}) take {size(taken)} in {work.parent}; delete "
            "the directories that you will not continue."
        )


def _attrs(settings: SolveConfig, row: Mapping[str, Any]) -> Facts:
    """The attributes of the solution, without times, so that equal solutions have equal bytes."""
    return {"algorithm": settings.algorithm, "parameters": parameters(settings), **timeless(row)}


def parameters(settings: SolveConfig) -> dict[str, Any]:
    """Everything that the iterates and their average depend on, except the algorithm's name and the precision.

    It has a horizon only if the rule's parameters move.
    """
    settings, rule = normal_solve(settings), RULES[settings.algorithm]
    found: dict[str, Any] = asdict(rule.parameters(settings))
    found |= {"horizon": settings.horizon} if any(astuple(rule.drift)) else {}
    return {**found, "restart_average": settings.restart_average, "updates": settings.updates}


def work_name(game: str, symmetry: Symmetry, settings: SolveConfig, index: Facts) -> str:
    """The name of the work directory: a fingerprint of what the iterates depend on, without budgets."""
    iterates: dict[str, Any] = {
        "game": game,
        "symmetry": symmetry,
        "algorithm": settings.algorithm,
        "parameters": parameters(settings),
        "precision": settings.precision,
        "index": index["products"]["index.zarr"]["digest"],
    }
    return fingerprint(iterates)
