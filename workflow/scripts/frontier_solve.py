"""Solve a game beyond enumeration; go on from what is saved, if anything is."""

from pathlib import Path

from pttt_ooc.config import check_section
from pttt_ooc.pipeline.frontier import run
from pttt_ooc.pipeline.frontier.settings import FrontierConfig
from pttt_ooc.pipeline.stages import stage_context
from pttt_ooc.pipeline.stages.compilation import DOUBLE_ORACLE, ensure_compiled

with stage_context.errors_to(Path(snakemake.log[0])):
    ensure_compiled(DOUBLE_ORACLE)
    directory, log = Path(snakemake.output.manifest).parent, Path(snakemake.log[0])
    run.run(check_section(FrontierConfig, snakemake.params.settings), directory, snakemake.threads, log)
