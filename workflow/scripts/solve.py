"""Solve the game; resume from the last commit if there is one: ``solution.zarr``, ``convergence.jsonl``."""

from pathlib import Path

from pttt_ooc.config import SolveConfig, check_section
from pttt_ooc.pipeline.stages import solve, stage_context
from pttt_ooc.pipeline.stages.compilation import ensure_compiled, stage_kernels

with stage_context.errors_to(Path(snakemake.log[0])):
    ensure_compiled(stage_kernels("solve"))
    solve.run(
        snakemake.params.game,
        snakemake.params.symmetry,
        check_section(SolveConfig, snakemake.params.settings),
        Path(snakemake.output.manifest).parent,
        threads=snakemake.threads,
        log=Path(snakemake.log[0]),
        memory_mb=snakemake.resources.budget_mb,
    )
