"""The wing's stages in the workflow: their sources, settings and requests."""

from __future__ import annotations

from pathlib import Path

from pttt_ooc.imports import module_digest
from pttt_ooc.pipeline.frontier.settings import FrontierConfig
from pttt_ooc.pipeline.stages.directories import EQUILIBRIUM
from pttt_ooc.pipeline.stages.stage_context import Facts
from pttt_ooc.pipeline.stages.stage_sets import StageSet
from pttt_ooc.pipeline.stages.staleness import StageRequest

MODULES = {"solve": "pipeline/frontier/run", "report": "pipeline/frontier/report"}
"""The stages in their order, each with its module."""
PAGE, PICTURE = "report.html", "interval.svg"

STAGES = StageSet({"solve": (EQUILIBRIUM, "rounds.jsonl"), "report": (PAGE, PICTURE)})
"""The stages with their products."""


def sources(stage: str) -> str:
    """The digest of all sources of a stage."""
    return module_digest(MODULES[stage])


def directory_of(config: FrontierConfig) -> Path:
    """The directory of the results."""
    return config.output / config.game


def settings(config: FrontierConfig) -> Facts:
    """What the result depends on, JSON values."""
    return config.model_dump(mode="json", include={"game", "gap", "max_minutes"})


def requests(config: FrontierConfig) -> dict[str, StageRequest]:
    """What the configuration asks of each stage."""
    return {
        "solve": StageRequest({"settings": settings(config)}, sources("solve")),
        "report": StageRequest({}, sources("report"), ("solve",)),
    }
