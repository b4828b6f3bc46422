"""The section ``sweep`` of the configuration."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from pttt_ooc.config import Name, Run, Section
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
