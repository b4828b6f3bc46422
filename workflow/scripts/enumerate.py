"""Find all pairs of views that fit together: ``views.zarr``; the later stages' kernels are compiled meanwhile."""

from pathlib import Path

from pttt_ooc.stages import enumerate, stage_context
from pttt_ooc.stages.compilation import compiled_meanwhile

with stage_context.errors_to(Path(snakemake.log[0])), compiled_meanwhile():
    enumerate.run(
        snakemake.params.game, Path(snakemake.output.manifest).parent, memory_mb=snakemake.resources.budget_mb
    )
