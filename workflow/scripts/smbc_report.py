"""Write the report of the match with secret goals, and its pictures."""

from pathlib import Path

from pttt_ooc.smbc.stages import reporting
from pttt_ooc.stages import common

with common.told(Path(snakemake.log[0])):
    shown = snakemake.params.settings
    reporting.run(Path(snakemake.output.manifest).parent, shown["all_equilibria"])
