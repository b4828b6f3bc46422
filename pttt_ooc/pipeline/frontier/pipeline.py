"""The section ``frontier`` of the configuration, and the wing's stages: their sources, settings and requests.

The Snakefile imports this module, so it imports nothing slow.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from pttt_ooc.config import Name, Real, Section, Whole
from pttt_ooc.imports import module_digest
from pttt_ooc.pipeline.stages.directories import EQUILIBRIUM, StageSet
from pttt_ooc.pipeline.stages.stage_context import Facts
from pttt_ooc.pipeline.stages.staleness import StageRequest


class FrontierConfig(Section):
    """One game beyond enumeration, solved by the lazy double oracle: `snakemake frontier`."""

    game: Name = Field(default="pttt-2x5k3-abrupt", description="The game: its name, of any board of up to 16 squares.")
    gap: Real = Field(
        default=1e-12,
        ge=0,
        description="Stop when best responses to the last strategies gain at most this together: the proven interval "
        "is then at most as wide. 1e-12 is exact to rounding.",
    )
    max_minutes: Real = Field(
        default=60.0,
        gt=0,
        le=1e9,
        description="Stop after this many minutes, earlier runs included; more minutes go on from there.",
    )
    memory_mb: Whole = Field(default=2048, description="Most memory of the run, MB.")
    workers: Whole | None = Field(
        default=None, description="Search best responses by so many processes of Dask; null: by threads."
    )
    scheduler: str | None = Field(
        default=None,
        description="Or by the workers of a scheduler of Dask, tcp://HOST:PORT; slurm: `workers` are jobs of Slurm, "
        "as with profiles/slurm. None of this changes a bit of the result.",
    )
    output: Path = Field(default=Path("data/frontier"), description="The results are in OUTPUT/GAME.")


MODULES = {"solve": "pipeline/frontier/run", "report": "pipeline/frontier/report"}
"""The stages in their order, each with its module."""
PAGE, PICTURE = "report.html", "interval.svg"

STAGES = StageSet({"solve": (EQUILIBRIUM, "rounds.jsonl"), "report": (PAGE, PICTURE)})
"""The stages with their products."""


def sources(stage: str) -> str:
    """The digest of all sources of a stage."""
    return module_digest(MODULES[stage])


def directory_of(config: FrontierConfig) -> Path:
    """The directory of the results."""
    return config.output / config.game


def settings(config: FrontierConfig) -> Facts:
    """What the result depends on, JSON values."""
    return config.model_dump(mode="json", include={"game", "gap", "max_minutes"})


def requests(config: FrontierConfig) -> dict[str, StageRequest]:
    """What the configuration asks of each stage."""
    return {
        "solve": StageRequest({"settings": settings(config)}, sources("solve")),
        "report": StageRequest({}, sources("report"), ("solve",)),
    }
