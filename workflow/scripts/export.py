"""Write the strategies for others: zip files, lists of infosets, ``strategies.h5``."""

from pathlib import Path

from pttt_ooc.config import ExportConfig, check_section
from pttt_ooc.pipeline.stages import export, stage_context
from pttt_ooc.pipeline.stages.compilation import ensure_compiled, stage_kernels

with stage_context.errors_to(Path(snakemake.log[0])):
    ensure_compiled(stage_kernels("export"))
    export.run(
        snakemake.params.game,
        snakemake.params.symmetry,
        check_section(ExportConfig, snakemake.params.settings),
        Path(snakemake.output.manifest).parent,
        threads=snakemake.threads,
        memory_mb=snakemake.resources.budget_mb,
        log=Path(snakemake.log[0]),
    )
