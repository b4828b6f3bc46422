"""Index both players' nodes and sequences: ``index.zarr``."""

from pathlib import Path

from pttt_ooc.pipeline.stages import index, stage_context
from pttt_ooc.pipeline.stages.compilation import ensure_compiled, stage_kernels

with stage_context.errors_to(Path(snakemake.log[0])):
    ensure_compiled(stage_kernels("index"))
    index.run(
        snakemake.params.game,
        snakemake.params.symmetry,
        Path(snakemake.output.manifest).parent,
        memory_mb=snakemake.resources.budget_mb,
        log=Path(snakemake.log[0]),
    )
