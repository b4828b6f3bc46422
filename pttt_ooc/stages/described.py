"""Whether the manifests on disk describe what the configuration asks for.

A workflow engine compares a rule's parameters with the parameters of its own last run.  But products may also have
been made by ``pttt solve`` with other options, by another version of the package, or copied from elsewhere.  So each
manifest names the settings and the products that it was made from.  This module compares them with the configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pttt_ooc.config import Config
from pttt_ooc.disk.files import explained
from pttt_ooc.disk.manifests import read_manifest
from pttt_ooc.stages.common import ASIDE, Facts, is_whole, made_from_others
from pttt_ooc.stages.directories import manifest_of
from pttt_ooc.stages.provenance import source_digest


def asked(config: Config) -> dict[str, Facts]:
    """For each stage, the part of the configuration that it depends on, as its manifest must contain it."""
    content = config.model_dump(mode="json")
    game = {"game": config.game}
    board = {**game, "symmetry": config.symmetry}
    return {
        "enumerate": game,
        "index": board,
        "solve": {**board, "settings": content["solve"]},
        "evaluate": board,
        "export": {**board, "settings": content["export"]},
        "report": {**board, "settings": content["report"]},
    }


def set_aside(directory: Path, config: Config) -> list[str]:
    """As :func:`set_aside_others`, for what a configuration asks for."""
    return set_aside_others(directory, asked(config))


def set_aside_others(
    directory: Path, wanted: Mapping[str, Facts], sources: Callable[[str], str] | None = None
) -> list[str]:
    """Rename the manifests that do not describe what is asked for, so that their stages run again.

    A manifest that was set aside for another configuration, and whose products have not been made anew since, is put
    back when it is asked for again.

    Parameters
    ----------
    wanted
        What the manifest of each stage must contain, in their order.
    sources
        Gives the digest of all that a stage is made of, by its name; default: of the core's stages.

    Returns
    -------
    One sentence for each that is set aside now.

    Raises
    ------
    StoreError
        If the directory cannot be written to.
    """
    sentences: list[str] = []
    before: dict[str, Facts] = {}
    with explained(f"rename manifests in {directory}"):
        for name, facts in wanted.items():
            file = manifest_of(directory, name)
            aside = file.with_name(file.name + ASIDE)
            there = next((f for f in (file, aside) if f.exists() and is_whole(f, name)), None)
            if there is None:
                continue
            manifest = read_manifest(there, name)
            reason = difference(manifest, name, facts, before, sources)
            if not reason:
                there.replace(file)
                before[name] = manifest
            else:
                there.replace(aside)
                sentences.append(f"{file} {reason}; stage {name} runs again.")
    return sentences


def difference(
    manifest: Facts,
    name: str,
    wanted: Facts,
    before: Mapping[str, Facts],
    sources: Callable[[str], str] | None = None,
) -> str:
    """How a manifest differs from the configuration, as the rest of a sentence; empty if it does not differ.

    Parameters
    ----------
    wanted
        What :func:`asked` says of the stage.
    before
        The manifests of earlier stages.
    """
    for key, value in _flat(wanted).items():
        found = _flat(manifest).get(key)
        if found != value:
            return f"was made with {key.removeprefix('settings.')} {_shown(found)}, not {_shown(value)}"
    if manifest.get("sources") != (sources or source_digest)(name):
        return "was made by another version of this program"
    if other := made_from_others(manifest, before):
        return f"was made from another {other}"
    return ""


def _flat(facts: Facts) -> Facts:
    """Settings as keys of their own."""
    settings = facts.get("settings")
    inner = {f"settings.{key}": value for key, value in settings.items()} if isinstance(settings, dict) else {}
    return {**{key: value for key, value in facts.items() if key != "settings"}, **inner}


def _shown(value: Any) -> str:
    return "null" if value is None else str(value)
