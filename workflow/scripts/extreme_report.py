"""Write standings, marks and the report of a tournament."""

from pathlib import Path

from pttt_ooc.other_games.extreme import pipeline
from pttt_ooc.pipeline.stages import stage_context

with stage_context.errors_to(Path(snakemake.log[0])):
    pipeline.report(Path(snakemake.output[0]).parent)
