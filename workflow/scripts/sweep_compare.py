"""Compare the runs of a sweep: ``report.html`` and ``comparison.csv``."""

from pathlib import Path

from pttt_ooc.pipeline.stages import stage_context
from pttt_ooc.pipeline.sweeps import report

with stage_context.errors_to(Path(snakemake.log[0])):
    report.compare([Path(run) for run in snakemake.params.runs], Path(snakemake.output[0]).parent)
