"""Whether a stage is stale: whether its manifest describes what the configuration asks for.

Neither file times count nor a workflow engine's records: products may have been made by ``pttt solve``, by another
version of the package, or copied from elsewhere.  Each manifest names the settings, sources and inputs of its products,
and their content.  This module compares them with the configuration and with the files.  It changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pttt_ooc.config import Config
from pttt_ooc.disk.manifests import read_manifest
from pttt_ooc.errors import StoreError
from pttt_ooc.pipeline.stages import STAGES, UNLISTED_STAGES, product_check
from pttt_ooc.pipeline.stages.comparison import compared_digests
from pttt_ooc.pipeline.stages.directories import manifest_of
from pttt_ooc.pipeline.stages.equilibrium_choice import opponent_digests
from pttt_ooc.pipeline.stages.normal_form import normal_export, row_orders
from pttt_ooc.pipeline.stages.normal_solve import normal_solve
from pttt_ooc.pipeline.stages.provenance import source_digest
from pttt_ooc.pipeline.stages.stage_context import Facts, made_from_others

NOT_RUN = "has not run yet"
_RUNS_FIRST = " runs first"


@dataclass(frozen=True)
class StageRequest:
    """What a configuration asks of a stage.

    Attributes
    ----------
    facts
        Facts that its manifest must contain, JSON values.
    sources
        The digest of its sources.
    after
        The stages whose products it reads.
    made_from
        Digests of other files that it reads, by their names in its manifest.
    memory_mb
        The budget, if the result depends on it.
    """

    facts: Facts
    sources: str
    after: tuple[str, ...] = ()
    made_from: Mapping[str, str] | None = None
    memory_mb: float | None = None


def stages_of(config: Config, directory: Path) -> tuple[str, ...]:
    """The stages of a run, in their order.

    With ``finish: none`` the stage "finish" only removes what an earlier configuration has left.
    """
    if not config.is_listed:
        return UNLISTED_STAGES
    finishes = config.finish.method != "none" or manifest_of(directory, "finish").exists()
    return tuple(stage for stage in STAGES if stage != "finish" or finishes)


def requested_stages(config: Config, directory: Path, stages: Sequence[str] | None = None) -> dict[str, StageRequest]:
    """What a configuration asks of each stage (default: of all), for results in `directory`."""
    game, order = {"game": config.game}, stages_of(config, directory) if stages is None else STAGES
    board = {**game, "symmetry": config.symmetry}
    listed = {**board, "listed": config.is_listed}
    facts: dict[str, Facts] = {
        "enumerate": game,
        "index": board,
        "solve": {**board, "settings": normal_solve(config.solve).model_dump(mode="json")},
        "finish": {**listed, "settings": config.finish.model_dump(mode="json")},
        "evaluate": listed,
        "export": {
            **board,
            "settings": normal_export(config.export, config.game).model_dump(mode="json"),
            "row_orders": row_orders(config.export.infosets_0, config.export.infosets_1),
        },
        "report": {**listed, "settings": config.report.model_dump(mode="json")},
    }
    memory = {"finish": config.memory_mb}
    others = {
        "report": compared_digests(directory, config.report.compare),
        "finish": opponent_digests(config.finish.against) if config.is_listed else {},
    }
    return {
        stage: StageRequest(
            *(facts[stage], source_digest(stage), order[: order.index(stage)]),
            *(others.get(stage), memory.get(stage)),
        )
        for stage in (order if stages is None else stages)
    }


def reasons(
    directory: Path, wanted: Mapping[str, StageRequest], forced: Container[str] = (), remember: bool = False
) -> dict[str, str]:
    """Why each stage must run, as a clause such as "convergence.jsonl changed"; empty if it need not run.

    Parameters
    ----------
    directory
        The directory of the results.
    wanted
        The requests by stage, in the order of the stages.
    forced
        Stages, and files of manifests, that run in any case.
    remember
        Whether to record verified products.
    """
    found: dict[str, str] = {}
    current: dict[str, Facts] = {}
    for stage, one in wanted.items():
        file = manifest_of(directory, stage)
        reason, manifest = _own_reason(file, stage, one, current, remember)
        if stage in forced or str(file) in forced:
            reason = reason or "you asked for it again"
        if not reason and (first := next((name for name in one.after if found.get(name)), "")):
            reason = f"{first}{_RUNS_FIRST}"
        if not reason:
            current[stage] = manifest
        found[stage] = reason
    return found


def _own_reason(
    file: Path, stage: str, one: StageRequest, current: Mapping[str, Facts], remember: bool
) -> tuple[str, Facts]:
    """Why a stage must run on its own account, and its manifest."""
    if not file.exists():
        return NOT_RUN, {}
    try:
        manifest = read_manifest(file, stage)
        before = {name: current[name] for name in one.after if name in current}
        reason = difference(manifest, one, before) or product_check.problem(
            file.parent, stage, manifest["products"], remember
        )
    except (StoreError, KeyError, TypeError, AttributeError):
        return "its manifest is damaged, or of another version of this program", {}
    return reason, manifest


def difference(manifest: Facts, one: StageRequest, before: Mapping[str, Facts]) -> str:
    """How a manifest differs from the request, as a clause; empty if it does not.

    Parameters
    ----------
    before
        The manifests of earlier stages.
    """
    there, wanted = _flat(manifest), _flat(one.facts)
    for key, value in wanted.items():
        if there.get(key) != value:
            if key == "row_orders":
                return "the files of infosets changed"
            return f"{key.removeprefix('settings.')} changed from {_text(there.get(key))} to {_text(value)}"
    result = manifest.get("result", {})
    for part in (result, result.get("choice") or {}):
        if one.memory_mb and part.get("stopped_by") == "memory_mb" and one.memory_mb >= part["smallest_mb"]:
            return f"it had too little memory, and now has {one.memory_mb:g} MB"
    if manifest["sources"] != one.sources:
        return "this program changed"
    used = manifest.get("made_from", {})
    outside = next((name for name, value in (one.made_from or {}).items() if used.get(name) != value), "")
    if other := made_from_others(manifest, before) or outside:
        return f"{other} changed"
    return ""


def _flat(facts: Facts) -> Facts:
    """Facts with each setting as a key ``settings.NAME``."""
    settings = facts.get("settings")
    inner = {f"settings.{key}": value for key, value in settings.items()} if isinstance(settings, dict) else {}
    return {**{key: value for key, value in facts.items() if key != "settings"}, **inner}


def _text(value: Any) -> str:
    """A value as config.yaml has it; a text is quoted."""
    return json.dumps(value, ensure_ascii=False)


def status_lines(found: Mapping[str, str]) -> list[str]:
    """The result of :func:`reasons` as one line for each stage."""
    return [f"{stage}: {reason or 'up to date'}" for stage, reason in found.items()]


def sentence(file: str, reason: str) -> str:
    """Why the stage of this manifest runs again; empty if it is obvious."""
    if reason in ("", NOT_RUN) or reason.endswith(_RUNS_FIRST):
        return ""
    return f"{file}: {reason}; stage {Path(file).stem} runs again."
