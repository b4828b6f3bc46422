"""Files that a command writes where a person wants them.

Every command asks here before it begins: nothing is written over what it reads, nor over a result of the workflow, and
over other files only with ``--force``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from pttt_ooc.disk.files import temporary_of
from pttt_ooc.errors import StoreError

Inputs = Iterable[str | Path | None]
"""What a command reads: files, directories with all that they hold; None and what is not there are passed over."""


def check_output(path: Path, inputs: Inputs = (), *, force: bool = False, suffix: str = "") -> None:
    """Refuse a file that cannot or must not be written, before any work is done.

    Parameters
    ----------
    inputs
        What the command reads, by whatever path.
    force
        Whether a file that is there may be replaced.  Inputs and results of the workflow never may.
    suffix
        That the name must have, such as ``.zip``.

    Raises
    ------
    StoreError
        With the reason.
    """
    if not path.parent.is_dir():
        raise StoreError(f"Cannot write {path}: there is no directory {path.parent}; make it first.")
    if path.is_dir():
        raise StoreError(f"Cannot write {path}: it is a directory; name a file.")
    if path.exists() and not path.is_file():
        raise StoreError(f"Cannot write {path}: it is no ordinary file; name another.")
    if path.suffix.lower() != suffix and suffix:
        raise StoreError(f"Cannot write {path}: the name must end with {suffix}.")
    check_output_directory(path.parent)
    for one in (Path(one) for one in inputs if one):
        if any(_belongs(place, one) for place in (path, temporary_of(path))):
            raise StoreError(f"Cannot write {path}: this command reads {one}, which would be lost; name another file.")
    if _is_product(path):
        raise StoreError(f"Cannot write {path}: it is a result of the workflow; name another place.")
    if os.path.lexists(path) and not force:
        raise StoreError(f"Cannot write {path}: it exists already; name another file, or add --force to replace it.")


def check_outputs(directory: Path, names: Iterable[str], inputs: Inputs = (), *, force: bool = False) -> None:
    """Refuse files of a directory, which need not exist yet, as :func:`check_output` refuses one."""
    check_output_directory(directory)
    if directory.is_dir():
        told = list(inputs)
        for name in names:
            check_output(directory / name, told, force=force)


def check_output_directory(path: Path) -> None:
    """Refuse a directory that could not be made or written to, before any work is done."""
    there = next(parent for parent in (path, *path.absolute().parents) if parent.exists())
    if not there.is_dir():
        raise StoreError(f"Cannot make the directory {path}: {there} is a file.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise StoreError(f"Cannot write to {there}: it is read-only, or not yours; name another directory.")


def _belongs(path: Path, read: Path) -> bool:
    """Whether a file is what a command reads, or lies in a directory that it reads; by content, not by name."""
    if not path.exists() or not read.exists():
        return False
    return path.samefile(read) or (read.is_dir() and path.resolve().is_relative_to(read.resolve()))


def _is_product(path: Path) -> bool:
    """Whether a manifest, or a file that one beside it describes: another in its place would pass for damage."""
    for file in path.parent.glob("*.json"):
        try:
            manifest = json.loads(file.read_bytes())
        except (OSError, ValueError):
            continue
        described = isinstance(manifest, dict) and {"stage", "products"} <= manifest.keys()
        if described and path.name in (file.name, *manifest["products"]):
            return True
    return False
