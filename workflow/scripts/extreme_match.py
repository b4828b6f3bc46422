"""Play one match of a tournament."""

from pathlib import Path

from pttt_ooc.other_games.extreme import pipeline
from pttt_ooc.pipeline.stages import stage_context

with stage_context.errors_to(Path(snakemake.log[0])):
    pipeline.play(Path(snakemake.output[0]).parents[1], snakemake.wildcards.name)
