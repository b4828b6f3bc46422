"""Write the page of a run beyond enumeration, and its picture."""

from pathlib import Path

from pttt_ooc.pipeline.frontier import report
from pttt_ooc.pipeline.stages import stage_context

with stage_context.errors_to(Path(snakemake.log[0])):
    report.run(Path(snakemake.output.manifest).parent)
