"""The runs of a sweep: one for each game, update rule and precision.

The Snakefile imports this module, so it imports nothing slow.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

from pttt_ooc.config import PARAMETERS, Config, FinishConfig
from pttt_ooc.errors import ConfigError
from pttt_ooc.imports import module_digest
from pttt_ooc.pipeline.stages.directories import results_of
from pttt_ooc.pipeline.sweeps.settings import SweepConfig

PAGE, TABLE = "report.html", "comparison.csv"
"""The files that compare the runs."""


def cells(config: Config, sweep: SweepConfig, data: Path = Path("data")) -> dict[str, Config]:
    """The configuration of each run, by the directory of its results, game by game.

    Raises
    ------
    ConfigError
        If the configuration's own run is one of them, or one value of a parameter is given for several update rules.
    """
    parameter = next((key for key in PARAMETERS if getattr(config.solve, key) is not None), None)
    if sweep.games and parameter and len(sweep.algorithms) > 1:
        raise ConfigError(
            f"solve.{parameter} is {getattr(config.solve, parameter):g}, but sweep.algorithms names several update "
            "rules; leave it at null, so that each has the value that its authors recommend."
        )
    found = {}
    for game, algorithm, precision in product(sweep.games, sweep.algorithms, sweep.precisions):
        solve = config.solve.model_copy(update={"algorithm": algorithm, "precision": precision})
        run = f"{sweep.name}-{algorithm}-{precision}"
        own = {"game": game, "run": run, "listed": True, "solve": solve, "finish": FinishConfig(method="none")}
        cell = config.model_copy(update=own)
        found[str(results_of(data, game, config.symmetry, run))] = cell
    if str(results_of(data, config.game, config.symmetry, config.run)) in found:
        raise ConfigError(f"run is {config.run}, but a run of the sweep has this name; choose another.")
    return found


def page_sources() -> str:
    """A digest of the code that writes the page."""
    return module_digest("pipeline/sweeps/report")
