"""The section ``frontier`` of the configuration."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from pttt_ooc.config import Name, Real, Section, Whole


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
