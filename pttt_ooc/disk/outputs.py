"""Checks of the output files that a user names.

Every command checks before it begins: inputs and results of the workflow are never overwritten, other files only with
``--force``, if the command has it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from pttt_ooc.disk.files import temporary_of
from pttt_ooc.errors import StoreError

Inputs = Iterable[str | Path | None]
"""The files and directories that a command reads; None and missing ones are ignored."""


def check_output(path: Path, inputs: Inputs = (), *, force: bool | None = False, suffix: str = "") -> None:
    """Refuse a file that cannot or must not be written, before any work is done.

    Parameters
    ----------
    inputs
        The files that the command reads, under any name.
    force
        Whether an existing file may be replaced, unless it is an input or a result of the workflow; None: it may not,
        and the command has no option for it.
    suffix
        Required suffix of the name, such as ``.zip``.

    Raises
    ------
    StoreError
        If it is refused.
    """
    if not path.parent.is_dir():
        raise StoreError(f"Cannot write {path}: there is no directory {path.parent}; make it first.")
    if path.is_dir():
        raise StoreError(f"Cannot write {path}: it is a directory; name a file.")
    if path.exists() and not path.is_file():
        raise StoreError(f"Cannot write {path}: it is not an ordinary file; name another.")
    if path.suffix.lower() != suffix and suffix:
        raise StoreError(f"Cannot write {path}: the name must end with {suffix}.")
    check_output_directory(path.parent)
    for one in (Path(one) for one in inputs if one):
        if any(_belongs(place, one) for place in (path, temporary_of(path))):
            raise StoreError(f"Cannot write {path}: this command reads {one}, which would be lost; name another file.")
    if _is_product(path):
        raise StoreError(f"Cannot write {path}: it is a result of the workflow; name another place.")
    if os.path.lexists(path) and not force:
        way = "." if force is None else ", or add --force to replace it."
        raise StoreError(f"Cannot write {path}: it exists already; name another file{way}")


def check_outputs(directory: Path, names: Iterable[str], inputs: Inputs = (), *, force: bool = False) -> None:
    """Check files of a directory, which need not exist yet, as :func:`check_output` checks one."""
    check_output_directory(directory)
    if directory.is_dir():
        inputs = list(inputs)
        for name in names:
            check_output(directory / name, inputs, force=force)


def check_output_directory(path: Path) -> None:
    """Refuse a directory that cannot be made or written to, before any work is done."""
    there = next(parent for parent in (path, *path.absolute().parents) if parent.exists())
    if not there.is_dir():
        raise StoreError(f"Cannot make the directory {path}: {there} is a file.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise StoreError(f"Cannot write to {there}: it is read-only, or not yours; name another directory.")


def _belongs(path: Path, read: Path) -> bool:
    """Whether a file is an input or lies in an input directory; files are compared, not names."""
    if not path.exists() or not read.exists():
        return False
    return path.samefile(read) or (read.is_dir() and path.resolve().is_relative_to(read.resolve()))


def _is_product(path: Path) -> bool:
    """Whether a file is a manifest, or is listed in one beside it: replacing it would look like damage."""
    for file in path.parent.glob("*.json"):
        try:
            manifest = json.loads(file.read_bytes())
        except (OSError, ValueError):
            continue
        described = isinstance(manifest, dict) and {"stage", "products"} <= manifest.keys()
        if described and path.name in (file.name, *manifest["products"]):
            return True
    return False
