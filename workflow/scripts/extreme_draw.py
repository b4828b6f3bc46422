"""Draw the pools of a tournament, or check that an existing draw is the same: ``draw.json``."""

from pathlib import Path

from pttt_ooc.other_games.extreme import pipeline
from pttt_ooc.other_games.extreme.settings import ExtremeConfig
from pttt_ooc.pipeline.stages import stage_context

with stage_context.errors_to(Path(snakemake.log[0])):
    pipeline.draw(ExtremeConfig(**snakemake.params.settings), Path(snakemake.output[0]).parent)
