"""Write the report of the arena."""

from pathlib import Path

from pttt_ooc.arena import reporting
from pttt_ooc.stages import common

with common.told(Path(snakemake.log[0])):
    reporting.write([Path(file) for file in snakemake.input], Path(snakemake.output[0]))
