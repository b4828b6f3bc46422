"""Stage "evaluate": value, best responses and exploitability, of the solution and of uniform play."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np

from pttt_ooc.evaluate import evaluate, narrowed, reference_value
from pttt_ooc.solution import Strategies, read_solution
from pttt_ooc.stages.common import inputs, stage
from pttt_ooc.stages.engines import open_engine
from pttt_ooc.strategy import uniform_strategy


def run(game: str, directory: Path, threads: int = 1) -> None:
    """Write the manifest with the figures of the solution and, to compare them with, of uniform play.

    The value of the game, which exploitability is measured against, is as narrow an interval as the
    solution's best responses and the reference that the package carries allow.

    Raises
    ------
    StoreError
        If an input is missing or damaged, or the manifest cannot be written.
    """
    with stage("evaluate", directory, [], threads) as facts:
        inputs(directory, "enumerate", "index", "solve")
        with open_engine(directory, game, np.float64, threads) as engine:
            solution = read_solution(directory / "solution.zarr", engine.index)
            uniform: Strategies = (uniform_strategy(engine.index, 0), uniform_strategy(engine.index, 1))
            found = evaluate(*solution, engine)
            proved = (-found.best_response_1, found.best_response_0)
            value = narrowed(proved, reference_value(engine.index.game))
            facts["solution"] = asdict(evaluate(*solution, engine, value))
            facts["uniform"] = asdict(evaluate(*uniform, engine, value))
        facts["game"] = game
