"""Compare the runs of a sweep: ``report.html`` and ``comparison.csv``."""

from pathlib import Path

from pttt_ooc.grid import report
from pttt_ooc.stages import stage_context

with stage_context.errors_to(Path(snakemake.log[0])):
    report.compare([Path(run) for run in snakemake.params.runs], Path(snakemake.output[0]).parent)
