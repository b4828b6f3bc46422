"""Solving the match on disk: resumable, with a directory of results that a manifest completes.

======================== ==============================================================================
``work/FINGERPRINT/A-B`` the solver's state for scores ``(A, B)`` and ``(B, A)``, see :mod:`pttt_ooc.disk.commits`;
                         beside it ``snapshots/A-B/N.zarr``, see below
``strategies.zarr``      the average strategy of each round, ``A-B``, float64, shape (nodes, 3)
``convergence.jsonl``    the result of each check
``solve.json``           the manifest: settings, sizes, values; written last
======================== ==============================================================================

Snapshots are regrets, current and average strategies of a round after ``N`` iterations, in single precision and
compressed.  They are kept at the first check, the second, the fourth, the eighth and so on, and at the last.  When the
rounds restart with better values of the outcomes, earlier snapshots are dropped.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pttt_ooc.disk.commits import ResumableState
from pttt_ooc.disk.files import atomic_write_text, fresh_store, make_directory, remove
from pttt_ooc.disk.manifests import FORMAT_VERSION, read_manifest
from pttt_ooc.disk.store import read_array, write_array
from pttt_ooc.errors import StoreError
from pttt_ooc.imports import code_digest, dependencies, without_plain
from pttt_ooc.other_games.smbc.match import PairSolver, Row, Scores, all_scores, both_ways, levels
from pttt_ooc.other_games.smbc.pipeline import sources
from pttt_ooc.other_games.smbc.round import Floats, RoundProfile, Solver, profile_of
from pttt_ooc.other_games.smbc.rules import Rules
from pttt_ooc.other_games.smbc.settings import SolveSettings
from pttt_ooc.other_games.smbc.tree import RoundTree, build
from pttt_ooc.pipeline.stages.product_check import is_as_described
from pttt_ooc.pipeline.stages.stage_context import stage

STAGE = "solve"
MANIFEST, STORE, LOG = "solve.json", "strategies.zarr", "convergence.jsonl"
COMMIT_SECONDS = 10.0
PARTS = ("regrets", "sums", "strategy")


def name_of(scores: Scores) -> str:
    """Scores as a name on disk."""
    return f"{scores[0]}-{scores[1]}"


def fingerprint(settings: SolveSettings) -> str:
    """Names everything that a solve depends on: its settings, and the code of its numbers."""
    code = code_digest(without_plain(dependencies("other_games/smbc/match")))
    known = {"format_version": FORMAT_VERSION, "code": code, **settings.model_dump()}
    return hashlib.blake2b(json.dumps(known, sort_keys=True).encode(), digest_size=8).hexdigest()


def solve(
    settings: SolveSettings,
    directory: Path,
    threads: int,
    on_row: Callable[[Scores, Row], None] = lambda scores, row: None,
) -> None:
    """Solve the match, or continue solving it.

    Parameters
    ----------
    directory
        The directory of the results; created if missing.
    threads
        Threads that solve rounds; the results do not depend on their number.
    on_row
        Called from several threads with each check of a pair of rounds, and once for a pair that is already solved.

    Raises
    ------
    StoreError
        If the directory holds something else, the disk cannot be written to, another solver is at work, or a saved
        state is damaged.
    """
    settings = settings.normal
    _refuse_others(directory)
    with stage("solve", directory, [STORE, LOG], sources, continues=True) as facts:
        facts["threads"] = threads
        # Settings and code name the saved state, so that only a solve of the same numbers is continued.
        name = fingerprint(settings)
        tree = build(Rules(fill_board=settings.fill_board))
        rows, strategies = _solve_rounds(tree, settings, directory / "work" / name, threads, on_row)
        # The results: the average strategies, and the checks of each pair of rounds.
        with fresh_store(directory / STORE) as store:
            for scores, strategy in strategies.items():
                write_array(store, name_of(scores), strategy, compress=True)
        lines = [json.dumps({"scores": name_of(pair), **row}, sort_keys=True) for pair in rows for row in rows[pair]]
        atomic_write_text(directory / LOG, "".join(f"{line}\n" for line in lines))
        # The manifest tells sizes and values; it is written at the end of the stage.
        sizes = tree.sizes()
        facts.update(settings=settings.model_dump(), sizes={**asdict(sizes), "infosets": sizes.infosets}, work=name)
        facts["rounds"] = {
            name_of(scores): {"value": value, "exploitability": exploitability, "iteration": iteration}
            for pair, found in rows.items()
            for scores, value, exploitability, iteration in zip(
                both_ways(pair), *(found[-1][key] for key in ("values", "exploitabilities", "iterations")), strict=True
            )
        }


def _refuse_others(directory: Path) -> None:
    """Refuse a directory of another game's solution: its manifest has the same name."""
    try:
        manifest = read_manifest(directory / MANIFEST, STAGE)
    except StoreError:  # none, or a damaged one, which is written again
        return
    if "rounds" not in manifest:
        raise StoreError(f"{directory} holds a solution of something else; name another directory.")


def _solve_rounds(
    tree: RoundTree, settings: SolveSettings, work: Path, threads: int, on_row: Callable[[Scores, Row], None]
) -> tuple[dict[Scores, list[Row]], dict[Scores, Floats]]:
    """Solve all rounds, those with the same sum of scores in parallel; return checks and average strategies."""
    values: dict[Scores, float] = {}
    rows: dict[Scores, list[Row]] = {}
    strategies: dict[Scores, Floats] = {}
    with ThreadPoolExecutor(threads) as workers, ThreadPoolExecutor(settings.winning_score) as drivers:
        for level in levels(settings.winning_score):
            jobs = {
                pair: drivers.submit(_solve_pair, tree, settings, work, work.name, pair, dict(values), workers, on_row)
                for pair in level
            }
            for pair, job in jobs.items():
                rows[pair], found = job.result()
                values.update(zip(both_ways(pair), rows[pair][-1]["values"], strict=True))
                strategies.update(found)
    return rows, strategies


def _solve_pair(
    tree: RoundTree,
    settings: SolveSettings,
    work: Path,
    name: str,
    pair: Scores,
    values: dict[Scores, float],
    workers: Executor,
    on_row: Callable[[Scores, Row], None],
) -> tuple[list[Row], dict[Scores, Floats]]:
    """Solve the rounds of scores and of their mirror image; return checks and average strategies."""
    both = both_ways(pair)
    arrays = {f"{part}/{name_of(scores)}": np.empty((tree.nodes, 3)) for scores in both for part in PARTS}
    with ResumableState.open(work / name_of(pair), arrays, name) as state, ExitStack() as stack:
        stack.callback(lambda: solvers.clear())  # maps are dropped before the state closes
        rows: list[Row] = state.extra.get("rows", [])
        solvers = {}
        made = rows[-1]["iterations"] if rows else [0] * len(both)
        for scores, iteration in zip(both, made, strict=True):
            regrets, sums, strategy = (state.arrays[f"{part}/{name_of(scores)}"] for part in PARTS)
            solvers[scores] = Solver(tree, settings, regrets, sums, strategy, iteration)
        solver = PairSolver(settings, solvers, values, rows)
        committed = time.perf_counter()
        if solver.is_done:
            on_row(pair, rows[-1])
            _keep(solver, work / "snapshots")  # it may have been deleted
        for row in solver.steps(workers):
            _keep(solver, work / "snapshots")
            if solver.is_done or time.perf_counter() - committed >= COMMIT_SECONDS:
                state.commit(solver.iteration, {"rows": rows})
                committed = time.perf_counter()
            on_row(pair, row)
        return rows, {scores: solvers[scores].average().strategy for scores in both}


def _keep(solver: PairSolver, directory: Path) -> None:
    """Keep snapshots of both rounds if they are due; drop those of iterations that will be repeated."""
    checks, rest = divmod(solver.iteration, solver.settings.check_exploitability_every)
    anew = solver.rows[-1]["ends_rehearsal"] and not solver.is_done
    for scores, each in solver.solvers.items():
        place = directory / name_of(scores)
        if anew:
            remove(place)
        elif (rest == 0 and is_due(checks)) or (solver.is_done and solver.iteration not in list_iterations(place)):
            keep_snapshot(place, each)


# ---------------------------------------------------------------------------------------------
# Snapshots of a running solver

_SNAPSHOT_PARTS = ("regrets", "current", "average")


@dataclass(frozen=True)
class Snapshot:
    """The state of a round's solver after some iterations.

    Attributes
    ----------
    regrets, current, average
        Sums of regrets, and both strategies: shape (nodes, 3), see
        :class:`pttt_ooc.other_games.smbc.round.RoundProfile`.
    """

    iteration: int
    regrets: Floats
    current: Floats
    average: Floats


def is_due(checks: int) -> bool:
    """Whether a snapshot is kept at a check, counted from 1."""
    return checks & (checks - 1) == 0


def keep_snapshot(directory: Path, solver: Solver) -> None:
    """Keep a snapshot of a round in the round's own directory."""
    make_directory(directory)
    parts = (solver.regrets, solver.current.strategy, solver.average().strategy)
    with fresh_store(directory / f"{solver.iteration}.zarr") as store:
        for name, array in zip(_SNAPSHOT_PARTS, parts, strict=True):
            write_array(store, name, array.astype(np.float32), compress=True)


def list_iterations(directory: Path) -> list[int]:
    """The iterations with snapshots of a round, and 0, in order."""
    return sorted({0, *(int(store.stem) for store in directory.glob("*.zarr") if store.stem.isdecimal())})


def read_snapshot(directory: Path, iteration: int, nodes: int) -> Snapshot:
    """The snapshot of an iteration; at iteration 0 the strategy is uniform.

    Raises
    ------
    StoreError
        If there is none; the sentence lists those that exist.
    """
    known = list_iterations(directory)
    if iteration not in known:
        existing = ", ".join(map(str, known))
        raise StoreError(f"There is no snapshot of iteration {iteration}; there are snapshots of {existing}.")
    if iteration == 0:
        zeros = np.zeros((nodes, 3))
        return Snapshot(0, zeros, zeros, zeros)
    store = directory / f"{iteration}.zarr"
    regrets, current, average = (read_array(store, name).astype(np.float64) for name in _SNAPSHOT_PARTS)
    return Snapshot(iteration, regrets, current, average)


# ---------------------------------------------------------------------------------------------
# Solutions


@dataclass(frozen=True)
class MatchSolution:
    """A solved match.

    Attributes
    ----------
    tree
        The tree of its rounds.
    settings
        The settings of the solve.
    profiles
        The strategies of both players for each of the scores.
    manifest
        The manifest of the solve.
    """

    tree: RoundTree
    settings: SolveSettings
    profiles: dict[Scores, RoundProfile]
    manifest: dict[str, Any]


def checked_manifest(directory: Path) -> dict[str, Any]:
    """The manifest of a solution, after a check of the digests of its products.

    Raises
    ------
    StoreError
        If there is none, or it is damaged.
    """
    if not (directory / MANIFEST).exists():
        raise StoreError(
            f"There is no solved match in {directory}; solve it with: pttt smbc solve --output {directory}."
        )
    manifest = read_manifest(directory / MANIFEST, STAGE)
    for product, facts in manifest["products"].items():
        if not is_as_described(directory / product, facts):
            raise StoreError(
                f"{directory / product} is damaged: it is not what was written; run pttt smbc solve again."
            )
    return manifest


def load(directory: Path) -> MatchSolution:
    """Read a solution; for errors see :func:`checked_manifest`."""
    manifest = checked_manifest(directory)
    settings = SolveSettings(**manifest["settings"])
    tree = build(Rules(fill_board=settings.fill_board))
    profiles = {
        scores: profile_of(tree, read_array(directory / STORE, name_of(scores)))
        for scores in all_scores(settings.winning_score)
    }
    return MatchSolution(tree, settings, profiles, manifest)
