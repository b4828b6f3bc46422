"""The algorithms by name, and the section ``learners`` of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from pttt_ooc.config import Real, Run, Whole, check_section
from pttt_ooc.errors import ConfigError, did_you_mean
from pttt_ooc.extras import imports
from pttt_ooc.imports import code_digest, dependencies
from pttt_ooc.types import Precision

if TYPE_CHECKING:  # the Snakefile imports this module, and numerics are slow to import
    from pttt_ooc.learners.learner import Learner, LearnerSettings

ALGORITHMS = {
    "xfp": ("exact.fictitious", "FictitiousPlay"),
    "mmd-dilated": ("exact.mirror", "DilatedMirror"),
    "mmd-annealed": ("exact.mirror", "AnnealedMirror"),
    "mmd-magnet": ("exact.mirror", "MagnetMirror"),
    "r-nad": ("exact.regularised", "RegularisedDynamics"),
    "psro": ("exact.psro", "PolicySpaceOracles"),
    "sequence-oracle": ("exact.sequence_oracle", "SequenceFormOracle"),
    "double-oracle": ("exact.double_oracle", "DoubleOracle"),
    "mccfr-external": ("sampled.mccfr", "ExternalSampling"),
    "mccfr-outcome": ("sampled.mccfr", "OutcomeSampling"),
    "vr-mccfr": ("sampled.mccfr", "BaselineSampling"),
    "escher": ("sampled.mccfr", "FixedSampling"),
    "ppo": ("deep.policy_gradient", "PolicyGradient"),
    "mmd-deep": ("deep.policy_gradient", "MirrorGradient"),
    "nashpg": ("deep.magnet", "NashGradient"),
    "emagnet": ("deep.magnet", "AverageGradient"),
    "ppg": ("deep.phasic", "PhasicGradient"),
    "nfsp": ("deep.fictitious", "NeuralFictitiousPlay"),
    "r-nad-deep": ("deep.regularised", "RegularisedGradient"),
    "psro-dqn": ("deep.psro", "LearnedOracles"),
    "escher-deep": ("deep.escher", "DeepEscher"),
}
"""Name: module in this room, class."""


def learner_class(algorithm: str) -> type[Learner[Any]]:
    """The class of an algorithm.

    Raises
    ------
    ConfigError
        If there is no such algorithm.
    MissingExtraError
        If a library that it needs is not installed.
    """
    if algorithm not in ALGORITHMS:
        raise ConfigError(f"There is no learner {algorithm!r}{guess(algorithm)}.")
    module, name = ALGORITHMS[algorithm]
    with imports(f"The learner {algorithm}"):
        result: type[Learner[Any]] = getattr(import_module(f"pttt_ooc.learners.{module}"), name)
    return result


def guess(algorithm: str) -> str:
    """The end of a sentence about an unknown name: the most similar name, or all names."""
    return did_you_mean(algorithm, ALGORITHMS) or f"; choose one of {', '.join(ALGORITHMS)}"


def module_of(algorithm: str) -> str:
    """The module of an algorithm, as :mod:`pttt_ooc.pipeline.stages.provenance` names modules."""
    return f"learners/{ALGORITHMS[algorithm][0].replace('.', '/')}"


def sources_of(algorithm: str) -> str:
    """A digest of an algorithm's code and of its imports."""
    return code_digest(dependencies(module_of(algorithm)))


def checked_settings(algorithm: str, settings: Mapping[str, Any], source: str = "The settings") -> LearnerSettings:
    """The settings of an algorithm; a ConfigError if a key or value is refused."""
    return check_section(learner_class(algorithm).settings_model, settings, source)


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
