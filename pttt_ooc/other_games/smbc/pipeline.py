"""The wing's stages in the workflow: their sources, settings and requests.

The Snakefile imports this module, so it imports nothing slow.
"""

from __future__ import annotations

from pttt_ooc.imports import module_digest
from pttt_ooc.other_games.smbc.settings import SmbcConfig
from pttt_ooc.pipeline.stages.stage_context import Facts
from pttt_ooc.pipeline.stages.stage_sets import StageSet
from pttt_ooc.pipeline.stages.staleness import StageRequest

MODULES = {
    "solve": "other_games/smbc/solve",
    "findings": "other_games/smbc/findings_stage",
    "equilibria": "other_games/smbc/equilibria_stage",
    "report": "other_games/smbc/report",
}
"""The stages in their order, each with its module."""

STAGES = StageSet(
    {
        "solve": ("strategies.zarr", "convergence.jsonl"),
        "equilibria": (),
        "findings": (),
        "report": ("report.html", "values.svg", "opening.svg", "convergence.svg"),
    },
    optional=("equilibria",),
)
"""The stages with their products."""


def sources(stage: str) -> str:
    """The digest of all sources of a stage."""
    return module_digest(MODULES[stage])


def settings(config: SmbcConfig, stage: str) -> Facts:
    """The part of the configuration that a stage depends on, in its normal form."""
    if stage == "solve":
        return config.settings.normal.model_dump()
    keys = {"findings": ("compared", "compared_iterations"), "report": ("all_equilibria",)}.get(stage, ())
    return config.model_dump(mode="json", include=set(keys))


def requests(config: SmbcConfig) -> dict[str, StageRequest]:
    """What the configuration asks of each stage."""
    stages = [stage for stage in MODULES if stage != "equilibria" or config.all_equilibria]
    after = {"solve": (), "findings": ("solve",), "equilibria": ("solve",), "report": tuple(stages[:-1])}
    facts = {stage: {"settings": settings(config, stage)} for stage in stages}
    return {stage: StageRequest(facts[stage], sources(stage), after[stage]) for stage in stages}
