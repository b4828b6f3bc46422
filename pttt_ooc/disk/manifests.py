"""Manifests: small JSON files that name what is finished.

A manifest is written when the result of its stage is whole on disk, and replaced atomically.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pttt_ooc.disk.files import atomic_write_text, explained
from pttt_ooc.errors import StoreError

FORMAT_VERSION = 2
"""Version of manifests and of the state's layout on disk; each incompatible change raises it."""


def write_manifest(path: Path, stage: str, /, **facts: Any) -> None:
    """Write the manifest of a stage: a JSON object of its `facts`, replaced atomically.

    Keys are sorted, so equal facts are equal bytes.

    Raises
    ------
    StoreError
        If it cannot be written.
    ValueError, TypeError
        If a fact is no JSON value, or is called ``stage`` or ``format_version``.
    """
    own = {"format_version": FORMAT_VERSION, "stage": stage}
    if own.keys() & facts.keys():
        raise ValueError(f"a manifest's facts may not be called {' or '.join(own)}")
    text = json.dumps({**own, **facts}, sort_keys=True, indent=2, allow_nan=False, ensure_ascii=False)
    atomic_write_text(path, text + "\n")


def read_manifest(path: Path, stage: str) -> dict[str, Any]:
    """The manifest that `stage` wrote at `path`, with its ``stage`` and ``format_version``.

    Raises
    ------
    StoreError
        If it is missing, no JSON object, of another stage, or of another format version.
    """
    manifest = read_json(path, f"the manifest of stage {stage!r}", "run that stage again")
    check_version(manifest, path, "run that stage again")
    if manifest.get("stage") != stage:
        raise StoreError(
            f"{path} is the manifest of stage {manifest.get('stage')!r}, not {stage!r}; run stage {stage!r} again."
        )
    return manifest


def read_json(path: Path, what: str, advice: str) -> dict[str, Any]:
    """The JSON object in the file at `path`; StoreErrors say `what` it should be and give `advice`."""
    with explained(f"read {what}, {path}"):
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise StoreError(f"{path}, {what}, is missing; {advice}.") from None
    try:
        value = json.loads(content)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise StoreError(f"{path}, {what}, is not a JSON object; {advice}.")
    return value


def check_version(content: Mapping[str, Any], path: Path, advice: str) -> None:
    """Raise a StoreError unless `content`, read from `path`, is of this FORMAT_VERSION."""
    version = content.get("format_version")
    if version != FORMAT_VERSION:
        raise StoreError(
            f"{path} is of format version {version}, this program reads and writes version {FORMAT_VERSION}; {advice}."
        )
