"""Checks products against their manifests, without reading all of them each time.

A product matches its manifest if its contents do: compressed bytes differ between machines, see
:mod:`pttt_ooc.disk.contents`.  Reading a large store takes seconds.  So ``.verified/STAGE.json``, beside a stage's
manifest, records the names, sizes and times of a product's files when its content was last verified.  If these differ
now, as in a copy, the product is read again.  The file is only a cache: without it everything is read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pttt_ooc.disk.contents import UndecodableError, content_digest, is_packed
from pttt_ooc.disk.files import atomic_write_text, digest, explain_errors, make_directory
from pttt_ooc.errors import StoreError

DIRECTORY = ".verified"

Facts = dict[str, Any]


def describe_product(path: Path, known: Mapping[str, str] | None = None) -> Facts:
    """A manifest's description of a product: ``digest``, of its contents.

    Compressed files also have ``bytes``, a digest of their bytes: if it is the same, nothing need be inflated.  Rows
    with times also have ``content``, a digest without the times, which is equal in equal runs.

    Parameters
    ----------
    known
        Digests of its arrays, which need not be read; see :func:`~pttt_ooc.disk.contents.content_digest`.

    Raises
    ------
    StoreError
        If it is missing or cannot be read.
    """
    packed = {"bytes": digest(path)} if is_packed(path) else {}
    content = {"content": _digest_without_times(path)} if path.suffix == ".jsonl" else {}
    return {"digest": content_digest(path, known), **packed, **content}


def is_as_described(path: Path, product: Facts) -> bool:
    """Whether a product has the contents that its manifest describes.

    Raises
    ------
    StoreError
        If it is missing or cannot be read.
    """
    if "bytes" in product and digest(path) == product["bytes"]:
        return True
    try:
        return content_digest(path) == str(product["digest"])
    except UndecodableError:
        return False


def _digest_without_times(path: Path) -> str:
    with explain_errors(f"read {path}"):
        rows = [timeless(json.loads(row)) for row in path.read_text(encoding="utf-8").splitlines()]
    return hashlib.blake2b(json.dumps(rows, sort_keys=True).encode(), digest_size=16).hexdigest()


def timeless(facts: Mapping[str, Any]) -> Facts:
    """Facts without run times, so that files made from them have the same bits in each run."""
    return {
        name: timeless(value) if isinstance(value, Mapping) else value
        for name, value in facts.items()
        if "second" not in name
    }


def stamp(path: Path) -> str:
    """A digest of the names, sizes and times of a product's files; an OSError if the product is missing."""
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    stats = {file.relative_to(path).as_posix(): file.stat() for file in files}
    facts = sorted((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats.items())
    return hashlib.blake2b(json.dumps(facts).encode(), digest_size=16).hexdigest()


def problem(home: Path, stage: str, products: Mapping[str, Facts], remember: bool = False) -> str:
    """How the products differ from their manifest, as a clause; empty if they do not.

    Parameters
    ----------
    home
        The directory of the stage's manifest and products.
    products
        The manifest's descriptions, made by :func:`describe_product`.
    remember
        Whether to record the verified products.
    """
    known = _read(home, stage)
    seen: Facts = {}
    for name, product in products.items():
        path = home / name
        try:
            seen[name] = [product["digest"], stamp(path)]
            if known.get(name) != seen[name] and not is_as_described(path, product):
                return f"{name} was changed or damaged"
        except (OSError, StoreError):
            return f"{name} is missing"
    if remember and known != seen:
        with suppress(StoreError):  # the directory may be read-only
            _write(home, stage, seen)
    return ""


def remember(home: Path, stage: str, products: Mapping[str, Facts], stamps: Mapping[str, str]) -> None:
    """Record that products were verified; `stamps` were taken just before.

    Raises
    ------
    StoreError
        If it cannot be written.
    """
    _write(home, stage, {name: [facts["digest"], stamps[name]] for name, facts in products.items()})


def _read(home: Path, stage: str) -> Facts:
    with suppress(OSError, ValueError):
        known = json.loads((home / DIRECTORY / f"{stage}.json").read_text(encoding="utf-8"))
        return known if isinstance(known, dict) else {}
    return {}


def _write(home: Path, stage: str, seen: Facts) -> None:
    with explain_errors(f"write to {home / DIRECTORY}"):
        make_directory(home / DIRECTORY)
        atomic_write_text(home / DIRECTORY / f"{stage}.json", json.dumps(seen, sort_keys=True) + "\n")
