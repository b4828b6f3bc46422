"""Bound the values of goals over all equilibria of a round: ``equilibria.json``."""

from pathlib import Path

from pttt_ooc.other_games.smbc.equilibria_stage import run_equilibria
from pttt_ooc.pipeline.stages import stage_context

with stage_context.errors_to(Path(snakemake.log[0])):
    run_equilibria(Path(snakemake.output.manifest).parent)
