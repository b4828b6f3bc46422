"""Write the report of the arena."""

from pathlib import Path

from pttt_ooc.other_games.arena.experiments import report
from pttt_ooc.pipeline.stages import stage_context

with stage_context.errors_to(Path(snakemake.log[0])):
    report.write([Path(file) for file in snakemake.input], Path(snakemake.output[0]))
