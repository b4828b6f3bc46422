"""Find all consistent pairs of views: ``views.zarr``; meanwhile compile the kernels of later stages."""

from pathlib import Path

from pttt_ooc.pipeline.stages import enumerate, stage_context
from pttt_ooc.pipeline.stages.compilation import compiled_meanwhile

with stage_context.errors_to(Path(snakemake.log[0])), compiled_meanwhile():
    enumerate.run(
        snakemake.params.game, Path(snakemake.output.manifest).parent, memory_mb=snakemake.resources.budget_mb
    )
