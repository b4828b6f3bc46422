"""Write the list of matches of a tournament's stage."""

from pathlib import Path

from pttt_ooc.other_games.extreme import pipeline
from pttt_ooc.pipeline.stages import stage_context

with stage_context.errors_to(Path(snakemake.log[0])):
    file = Path(snakemake.output[0])
    pipeline.write_pools(file.parents[1], snakemake.wildcards.stage, file)
