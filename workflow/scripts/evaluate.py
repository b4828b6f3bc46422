"""Evaluate the strategies and uniform play: ``evaluate.json``."""

from pathlib import Path

from pttt_ooc.pipeline.stages import evaluate, stage_context
from pttt_ooc.pipeline.stages.compilation import ensure_compiled, stage_kernels

with stage_context.errors_to(Path(snakemake.log[0])):
    ensure_compiled(stage_kernels("evaluate", snakemake.params.listed))
    evaluate.run(
        snakemake.params.game,
        snakemake.params.symmetry,
        Path(snakemake.output.manifest).parent,
        threads=snakemake.threads,
        memory_mb=snakemake.resources.budget_mb,
        log=Path(snakemake.log[0]),
        listed=snakemake.params.listed,
    )
