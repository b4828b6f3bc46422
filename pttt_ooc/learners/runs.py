"""Runs of learners on disk: their directories, dependencies and results.

A run has the directory ``data/GAME/SYMMETRY/learners/NAME``:

========================= =================================================================================
``work/<fingerprint>/``   its checkpoints and its log so far
``solution.zarr``         the final pair of strategies, which all commands read as a solution
``log.jsonl``             one row for each exact evaluation
``learn.json``            the manifest: the run, and how it ended
========================= =================================================================================
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pttt_ooc.disk.contents import content_digest
from pttt_ooc.disk.files import atomic_write_text, fresh_store, make_directory
from pttt_ooc.disk.manifests import read_manifest, write_manifest
from pttt_ooc.games.structure.strategy import uniform_strategy
from pttt_ooc.imports import code_digest, dependencies
from pttt_ooc.learners.catalogue import checked_settings, learner_class, module_of
from pttt_ooc.learners.learning_game import LearningGame, open_learning_game
from pttt_ooc.learners.loop import LOG, Checkpoints, Ends, Loop, Row
from pttt_ooc.pipeline.files.solution import write_solution
from pttt_ooc.pipeline.stages.directories import SOLUTION, results_of
from pttt_ooc.pipeline.stages.provenance import fingerprint, versions
from pttt_ooc.pipeline.stages.stage_sets import StageSet
from pttt_ooc.types import Precision, Symmetry

STAGE = "learn"
ITERATES = ("learners/", "exact/double_oracle/", "cfr/solving/linear_program", "cfr/solving/highs_solver")
"""The code that iterates depend on, besides the exact gradients."""
MANIFEST = "learn.json"
STAGES = StageSet({STAGE: (SOLUTION, LOG)})
"""The stage of a run's directory, with its products."""


@dataclass(frozen=True)
class LearnerRun:
    """One run of a learner.

    Attributes
    ----------
    game, symmetry
        The game, and the symmetry of its index.
    name
        Of its directory, and in tables.
    algorithm
        A key of :data:`pttt_ooc.learners.catalogue.ALGORITHMS`.
    settings
        Of the algorithm; missing ones have the defaults of the paper.
    seed
        Of all random numbers.
    precision
        Of gradients, plans and policies.  Evaluations are always in double precision.
    """

    game: str
    symmetry: Symmetry
    name: str
    algorithm: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    precision: Precision = "float32"

    def as_record(self) -> dict[str, Any]:
        """Everything that the iterates depend on besides the code, as JSON values."""
        settings = checked_settings(self.algorithm, self.settings).model_dump(mode="json")
        facts = {"game": self.game, "symmetry": self.symmetry, "algorithm": self.algorithm}
        return {**facts, "settings": settings, "seed": self.seed, "precision": self.precision}

    def fingerprint(self) -> str:
        """Names everything that the iterates depend on, code included."""
        code = code_digest(name for name in dependencies(module_of(self.algorithm)) if name.startswith(ITERATES))
        return fingerprint({**self.as_record(), "learner": code})


def directory_of(data: Path, run: LearnerRun) -> Path:
    """The directory of a run."""
    return results_of(data, run.game, run.symmetry) / "learners" / run.name


def learn(
    run: LearnerRun, ends: Ends, data: Path, threads: int = 1, on_row: Callable[[Row], None] = lambda row: None
) -> Path:
    """Run a learner until an end, or continue it, and write its result.

    Returns
    -------
    Path
        The directory of the run.

    Raises
    ------
    PtttError
        If game, algorithm or settings are refused, another process has the run, or the disk cannot be written to.
    """
    settings = checked_settings(run.algorithm, run.settings, f"The settings of the run {run.name}")
    directory, name = directory_of(data, run), run.fingerprint()
    with open_learning_game(data, run.game, run.symmetry, run.precision, threads) as game:
        work = directory / "work" / name
        with Checkpoints(work, name) as checkpoints:
            learner = learner_class(run.algorithm)()
            learner.start(game, settings, run.seed)
            loop = Loop(learner, game, ends, checkpoints, work / LOG, on_row)
            stopped_by = loop.run()
            _write(run, directory, loop, stopped_by, game)
    return directory


def _write(run: LearnerRun, directory: Path, loop: Loop, stopped_by: str, game: LearningGame) -> None:
    last = loop.rows[-1]
    make_directory(directory)
    (directory / MANIFEST).unlink(missing_ok=True)
    timeless = {key: value for key, value in last.items() if "seconds" not in key}
    with fresh_store(directory / SOLUTION) as store:
        write_solution(store, loop.result(), {"algorithm": run.algorithm, "learner": run.as_record(), **timeless})
    atomic_write_text(directory / LOG, "".join(json.dumps(row, sort_keys=True) + "\n" for row in loop.rows))
    products = {name: {"digest": content_digest(directory / name)} for name in STAGES.products[STAGE]}
    facts = {"name": run.name, **run.as_record(), "ends": asdict(loop.ends), "result": last, "stopped_by": stopped_by}
    facts["source"] = learner_class(run.algorithm).source
    uniform = uniform_strategy(game.index, 0), uniform_strategy(game.index, 1)
    facts["uniform_nashconv"] = game.evaluator(*uniform).nashconv
    write_manifest(directory / MANIFEST, STAGE, products=products, versions=versions(), **facts)


def read_run(directory: Path) -> tuple[dict[str, Any], list[Row]]:
    """Manifest and rows of a finished run; a StoreError if there is none."""
    manifest = read_manifest(directory / MANIFEST, STAGE)
    lines = (directory / LOG).read_text(encoding="utf-8").splitlines()
    return manifest, [json.loads(line) for line in lines]
