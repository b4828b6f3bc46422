"""Write ``report.html`` and its pictures from what the stages found."""

from pathlib import Path

from pttt_ooc import jit
from pttt_ooc.config import Config, check_section

with jit.interpreted():  # a few infosets are looked up: plain Python does that sooner than it imports numba
    from pttt_ooc.stages import report, stage_context

with stage_context.errors_to(Path(snakemake.log[0])):
    report.run(
        check_section(Config, snakemake.params.config),
        Path(snakemake.output.manifest).parent,
        memory_mb=snakemake.resources.budget_mb,
    )
