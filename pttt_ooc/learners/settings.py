"""The section ``learners`` of the configuration."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from pttt_ooc.config import Real, Run, Whole
from pttt_ooc.learners.catalogue import ALGORITHMS, guess
from pttt_ooc.types import Precision


def _algorithm(value: Any) -> Any:
    if value not in ALGORITHMS:
        raise ValueError(f"the name of a learner{guess(str(value))}")
    return value


Algorithm = Annotated[str, BeforeValidator(_algorithm), Field(json_schema_extra={"enum": list(ALGORITHMS)})]


class RunConfig(BaseModel):
    """One run of a learner."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Run = Field(description="The name of the run, for its directory and in the comparison.")
    algorithm: Algorithm = Field(description="The learner.")
    settings: dict[str, Any] = Field(default={}, description="Of the learner; missing ones are as in the paper.")
    seed: int = Field(default=0, ge=0, le=2**63, description="Seed of all random numbers.")
    precision: Precision = Field(default="float32", description="Of gradients, plans and policies.")
    max_minutes: Real = Field(
        default=10.0, gt=0, le=1e9, description="Minutes of the processor, all threads together; then it stops."
    )
    max_iterations: Whole = Field(default=10**9, description="It stops after this many iterations.")


class LearnersConfig(BaseModel):
    """Learners to run on the game of the configuration, and to compare: `snakemake learners`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    runs: tuple[RunConfig, ...] = Field(default=(), description="The runs, in the order of the comparison.")

    @field_validator("runs")
    @classmethod
    def _names_differ(cls, runs: tuple[RunConfig, ...]) -> tuple[RunConfig, ...]:
        names = [run.name for run in runs]
        if doubled := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"runs with names of their own; {doubled[0]} is there more than once")
        return runs
