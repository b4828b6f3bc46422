"""Play one experiment or round robin of the arena, or train with several seeds."""

from pathlib import Path

from pttt_ooc.other_games.arena.experiments.pipeline import conduct
from pttt_ooc.pipeline.stages import stage_context

with stage_context.errors_to(Path(snakemake.log[0])):
    directory = Path(snakemake.output[0]).parent
    conduct(directory.name, dict(snakemake.params.asked), snakemake.params.sources, directory, snakemake.threads)
