"""Write ``report.html`` and its pictures from what the stages found."""

from pathlib import Path

from pttt_ooc.config import Config, check_section
from pttt_ooc.stages import common, report

with common.told(Path(snakemake.log[0])):
    report.run(
        check_section(Config, snakemake.params.config),
        Path(snakemake.output.manifest).parent,
        memory_mb=snakemake.resources.mem_mb,
    )
