"""Write the report of the match with secret goals, and its pictures."""

from pathlib import Path

from pttt_ooc.other_games.smbc import report
from pttt_ooc.pipeline.stages import stage_context

with stage_context.errors_to(Path(snakemake.log[0])):
    settings = snakemake.params.settings
    report.run(Path(snakemake.output.manifest).parent, settings["all_equilibria"])
