"""Which products are what their manifests describe, without reading all of them each time.

Reading a large store takes seconds.  So ``.verified/STAGE.json``, beside a stage's manifest, says at which names, sizes
and times of its files a product was last seen to have its content.  Where these are others now, as in a copy, the
product is read once more.  The file is only a memory: without it everything is read, and nothing else changes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pttt_ooc.disk.files import atomic_write_text, digest, explained, make_directory
from pttt_ooc.errors import StoreError

DIRECTORY = ".verified"

Facts = dict[str, Any]


def described(path: Path) -> Facts:
    """What a manifest says of a product: its content hash, and its number of files and of bytes.

    Of rows that tell times there is also ``content``, a hash of what else they tell: it is equal between equal runs.

    Raises
    ------
    StoreError
        If it is not there, or cannot be read.
    """
    content = {"content": _digest_without_times(path)} if path.suffix == ".jsonl" else {}
    return {"digest": digest(path), "extent": extent(path), **content}


def _digest_without_times(path: Path) -> str:
    with explained(f"read {path}"):
        rows = [timeless(json.loads(row)) for row in path.read_text(encoding="utf-8").splitlines()]
    return hashlib.blake2b(json.dumps(rows, sort_keys=True).encode(), digest_size=16).hexdigest()


def timeless(facts: Mapping[str, Any]) -> Facts:
    """Facts without run times, so that what is made of them has the same bits in each run."""
    return {
        name: timeless(value) if isinstance(value, Mapping) else value
        for name, value in facts.items()
        if "second" not in name
    }


def extent(path: Path) -> list[int]:
    """Number of files and of bytes; an OSError if there is nothing."""
    sizes = [file.stat().st_size for file in _files(path)]
    return [len(sizes), sum(sizes)]


def stamp(path: Path) -> str:
    """A digest of the names, sizes and times of a product's files; an OSError if there is nothing."""
    stats = {file.relative_to(path).as_posix(): file.stat() for file in _files(path)}
    facts = sorted((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats.items())
    return hashlib.blake2b(json.dumps(facts).encode(), digest_size=16).hexdigest()


def _files(path: Path) -> list[Path]:
    return [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]


def problem(home: Path, stage: str, products: Mapping[str, Facts], remember: bool = False) -> str:
    """How the products differ from what their manifest says of them, as the rest of a sentence; empty if they do not.

    Parameters
    ----------
    home
        The directory of the stage's manifest and products.
    products
        Of that manifest: what :func:`described` said of each.
    remember
        Whether to write down what has been read.
    """
    known = _read(home, stage)
    seen: Facts = {}
    for name, wanted in products.items():
        path = home / name
        try:
            if extent(path) != wanted["extent"]:
                return f"describes another {name} than the one that is there"
            seen[name] = [wanted["digest"], stamp(path)]
            if known.get(name) != seen[name] and digest(path) != wanted["digest"]:
                return f"describes another {name} than the one that is there"
        except (OSError, StoreError):
            return f"lacks its product {name}"
    if remember and known != seen:
        with suppress(StoreError):  # of a directory that can only be read
            _write(home, stage, seen)
    return ""


def remember(home: Path, stage: str, products: Mapping[str, Facts], stamps: Mapping[str, str]) -> None:
    """Write down that products have been read, which had these stamps just before.

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
    with explained(f"write to {home / DIRECTORY}"):
        make_directory(home / DIRECTORY)
        atomic_write_text(home / DIRECTORY / f"{stage}.json", json.dumps(seen, sort_keys=True) + "\n")
