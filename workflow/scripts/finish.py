"""Turn the solver's strategies into an exact equilibrium: ``equilibrium.zarr``, ``rounds.jsonl``."""

from pathlib import Path

from pttt_ooc.config import FinishConfig, check_section
from pttt_ooc.library.api.strategy_reader import read_opponent
from pttt_ooc.pipeline.stages import finish, stage_context
from pttt_ooc.pipeline.stages.compilation import ensure_compiled, stage_kernels

with stage_context.errors_to(Path(snakemake.log[0])):
    ensure_compiled(stage_kernels("finish", snakemake.params.listed))
    finish.run(
        snakemake.params.game,
        snakemake.params.symmetry,
        check_section(FinishConfig, snakemake.params.settings),
        Path(snakemake.output.manifest).parent,
        listed=snakemake.params.listed,
        threads=snakemake.threads,
        log=Path(snakemake.log[0]),
        memory_mb=snakemake.resources.budget_mb,
        reader=read_opponent,
    )
