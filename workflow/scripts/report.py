"""Write ``report.html`` and its pictures from the results of the stages."""

from pathlib import Path

from pttt_ooc import jit
from pttt_ooc.config import Config, check_section

with jit.interpret_kernels():  # for a few infosets, plain Python is faster than the import of numba
    from pttt_ooc.pipeline.stages import report, stage_context

with stage_context.errors_to(Path(snakemake.log[0])):
    report.run(
        check_section(Config, snakemake.params.config),
        Path(snakemake.output.manifest).parent,
        memory_mb=snakemake.resources.budget_mb,
    )
