"""Bound what goals are worth in all equilibria of a round: ``equilibria.json``."""

from pathlib import Path

from pttt_ooc.smbc.stages import bounding
from pttt_ooc.stages import common

with common.told(Path(snakemake.log[0])):
    bounding.run(Path(snakemake.output.manifest).parent)
