"""Find all consistent pairs of views: ``views.zarr``."""

from pathlib import Path

from pttt_ooc.pipeline.stages import enumerate, stage_context

with stage_context.errors_to(Path(snakemake.log[0])):
    enumerate.run(
        snakemake.params.game, Path(snakemake.output.manifest).parent, memory_mb=snakemake.resources.budget_mb
    )
