"""Compute best responses to the match with secret goals, and the effect of hidden goals: ``findings.json``."""

from pathlib import Path

from pttt_ooc.other_games.smbc.findings_stage import run_findings
from pttt_ooc.pipeline.stages import stage_context

with stage_context.errors_to(Path(snakemake.log[0])):
    settings = snakemake.params.settings
    directory = Path(snakemake.output.manifest).parent
    run_findings(directory, settings["compared"], settings["compared_iterations"])
