"""Find the best responses to the match with secret goals, and what hidden goals do: ``findings.json``."""

from pathlib import Path

from pttt_ooc.smbc.stages import finding
from pttt_ooc.stages import common

with common.told(Path(snakemake.log[0])):
    settings = snakemake.params.settings
    directory = Path(snakemake.output.manifest).parent
    finding.run(directory, settings["compared"], settings["compared_iterations"])
