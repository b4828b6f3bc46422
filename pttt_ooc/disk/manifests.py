"""Manifests: small JSON files that describe the finished result of a stage.

A manifest is written after the complete result of its stage is on disk, and is replaced atomically.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pttt_ooc.disk.files import atomic_write_text, explain_errors
from pttt_ooc.errors import StoreError

FORMAT_VERSION = 3
"""Version of manifests and of the state's layout on disk; each incompatible change raises it."""

_CHECKSUM = "checksum"  # of a manifest: tells a damaged manifest from damaged results


def write_manifest(path: Path, stage: str, /, **facts: Any) -> None:
    """Write the manifest of a stage: a JSON object of its `facts`, replaced atomically.

    Keys are sorted, so that equal facts give equal bytes.  A ``checksum`` of the content is added.

    Raises
    ------
    StoreError
        If it cannot be written.
    ValueError, TypeError
        If a fact is not a JSON value, or is called ``stage``, ``format_version`` or ``checksum``.
    """
    own = {"format_version": FORMAT_VERSION, "stage": stage}
    if {*own, _CHECKSUM} & facts.keys():
        raise ValueError(f"a manifest's facts may not be called {' or '.join([*own, _CHECKSUM])}")
    content = {**own, **facts}
    sealed = {**content, _CHECKSUM: _checksum_of(content)}
    text = json.dumps(sealed, sort_keys=True, indent=2, allow_nan=False, ensure_ascii=False)
    atomic_write_text(path, text + "\n")


def read_manifest(path: Path, stage: str) -> dict[str, Any]:
    """The manifest that `stage` wrote at `path`, with its ``stage`` and ``format_version``.

    Raises
    ------
    StoreError
        If it is missing, damaged, no JSON object, of another stage, or of another format version.
    """
    manifest = read_json(path, f"the manifest of stage {stage!r}", "run that stage again")
    check_version(manifest, path, "run that stage again")
    if manifest.pop(_CHECKSUM, None) != _checksum_of(manifest):
        raise StoreError(
            f"{path} is damaged: its content does not match its checksum; delete it, and run stage {stage!r} again."
        )
    if manifest.get("stage") != stage:
        raise StoreError(
            f"{path} is the manifest of stage {manifest.get('stage')!r}, not {stage!r}; run stage {stage!r} again."
        )
    return manifest


def _checksum_of(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, allow_nan=False)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def read_json(path: Path, what: str, advice: str) -> dict[str, Any]:
    """The JSON object in the file at `path`; StoreErrors say `what` it should be and give `advice`."""
    with explain_errors(f"read {what}, {path}"):
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
    """Raise a StoreError unless `content`, read from `path`, has this FORMAT_VERSION."""
    version = content.get("format_version")
    if version != FORMAT_VERSION:
        raise StoreError(
            f"{path} is of format version {version}, this program reads and writes version {FORMAT_VERSION}; {advice}."
        )
