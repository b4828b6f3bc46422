"""Find all pairs of views that fit together: ``views.zarr``."""

from pathlib import Path

from pttt_ooc.stages import common, enumerate

with common.told(Path(snakemake.log[0])):
    enumerate.run(snakemake.params.game, Path(snakemake.output.manifest).parent, memory_mb=snakemake.resources.mem_mb)
