"""The section ``sweep`` of the configuration, and the runs of a sweep: one for each game, update rule and precision.

The Snakefile imports this module, so it imports nothing slow.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from pttt_ooc.config import PARAMETERS, Config, FinishConfig, Name, Run, Section
from pttt_ooc.errors import ConfigError
from pttt_ooc.imports import module_digest
from pttt_ooc.pipeline.stages.directories import results_of
from pttt_ooc.types import Algorithm, Precision


def _different(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if doubled := [value for value in values if values.count(value) > 1]:
        raise ValueError(f"a list without repetitions; {doubled[0]} is there more than once")
    return values


_Once = AfterValidator(_different)


class SweepConfig(Section):
    """Games x update rules x precisions, each solved as `solve` says, and compared: `snakemake sweep`."""

    name: Annotated[Run, Field(max_length=32)] = Field(
        default="sweep", description="The runs are called NAME-ALGORITHM-PRECISION; the page is in data/sweeps/NAME."
    )
    games: Annotated[tuple[Name, ...], _Once] = Field(
        default=(), description="Names of games, which include the turn rule; or rows, columns, k and turn_rule."
    )
    algorithms: Annotated[tuple[Algorithm, ...], _Once] = Field(
        default=("sapdcfr+",), min_length=1, description="Update rules, as in the section solve."
    )
    precisions: Annotated[tuple[Precision, ...], _Once] = Field(
        default=("float32",), min_length=1, description="Of the regrets and of the sums of strategies."
    )


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
