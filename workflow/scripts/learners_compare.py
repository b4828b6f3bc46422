"""Compare learners: ``comparison.html`` and ``comparison.svg``."""

from pathlib import Path

from pttt_ooc.learners.report import compare
from pttt_ooc.pipeline.stages import stage_context

with stage_context.errors_to(Path(snakemake.log[0])):
    compare([Path(file).parent for file in snakemake.input], Path(snakemake.output[0]).parent)
