"""Solve the match with secret goals; resume from the last commit if there is one."""

from pathlib import Path

from pttt_ooc.other_games.smbc import solve
from pttt_ooc.other_games.smbc.settings import SolveSettings
from pttt_ooc.pipeline.stages import stage_context

with stage_context.errors_to(Path(snakemake.log[0])):
    directory = Path(snakemake.output.manifest).parent
    solve.solve(SolveSettings(**snakemake.params.settings), directory, snakemake.threads)
