"""What a result depends on: the sources of each stage, the solver's fingerprint, versions of libraries.

A workflow engine sees that a script has changed, but not the modules that it imports.  So each rule
carries a digest of its stage's sources as a parameter.
"""

from __future__ import annotations

import ast
import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pttt_ooc.manifests import FORMAT_VERSION

PACKAGE = Path(__file__).parent

_STAGE = (
    *("errors", "files", "manifests", "memory", "provenance", "resources", "store"),
    *("stages/__init__", "stages/common"),
)
_VIEWS = ("game", "jit", "orders", "views")
_INDEX = (*_VIEWS, "cells", "index", "relabelling", "tables", "timing")
_SOLUTION = (*_INDEX, "solution", "strategy")
_ENGINE = (*_SOLUTION, "engine", "evaluate", "gradient", "tree", "stages/engines")
_INFOSETS = (*_SOLUTION, "config", "infosets")

SOURCES: dict[str, tuple[str, ...]] = {
    "enumerate": (*_STAGE, *_INDEX, "counts", "stages/enumerate"),
    "index": (*_STAGE, *_INDEX, "stages/index"),
    "solve": (*_STAGE, *_ENGINE, "commits", "config", "progress", "regret", "solve", "stages/solve"),
    "evaluate": (*_STAGE, *_ENGINE, "stages/evaluate"),
    "export": (*_STAGE, *_INFOSETS, "bundle", "deflate", "export", "formats", "parallel", "stages/export"),
    "report": (*_STAGE, *_INFOSETS, "pictures", "report", "templates/report.html.j2", "stages/report"),
}
"""For each stage, the modules that it is made of (a name with a suffix is a file that is no module)."""

ITERATES = (*_VIEWS, "cells", "index", "relabelling", "timing", "gradient", "tree", "engine", "regret", "solve")
"""The modules that the solver's numbers come from."""


def source_file(name: str) -> Path:
    """The file of a name in :data:`SOURCES`."""
    path = PACKAGE / name
    return path if path.suffix else path.with_suffix(".py")


def source_digest(stage: str) -> str:
    """A digest of everything that `stage` is made of: any edit changes it, be it of a comment."""
    return _digest((name, source_file(name).read_bytes()) for name in sorted(SOURCES[stage]))


def code_digest(names: Iterable[str] = ITERATES) -> str:
    """A digest of what modules do: edits of comments, docstrings and layout do not change it."""
    return _digest((name, _code(source_file(name).read_text(encoding="utf-8")).encode()) for name in sorted(names))


def _code(text: str) -> str:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [part for part in node.body if not _is_text(part)]
    return ast.dump(tree)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def fingerprint(iterates: Mapping[str, Any]) -> str:
    """A short name for all that a solver's state depends on, for its work directory.

    Parameters
    ----------
    iterates
        JSON values: game, symmetry, algorithm and its parameters, precision, digest of the index.  No
        budgets, for these only say when to stop.  The format version and the code of the modules
        :data:`ITERATES` are added here.
    """
    known = {"format_version": FORMAT_VERSION, "code": code_digest(), **iterates}
    return hashlib.blake2b(json.dumps(known, sort_keys=True).encode(), digest_size=8).hexdigest()


def _digest(parts: Iterable[tuple[str, bytes]]) -> str:
    total = hashlib.blake2b(digest_size=16)
    for name, content in parts:
        total.update(f"{name} {len(content)}\n".encode() + content)
    return total.hexdigest()


def versions() -> dict[str, str]:
    """Versions of Python, the libraries and the package, and the kind of machine."""
    found = {"python": platform.python_version(), "machine": f"{platform.system()} {platform.machine()}"}
    for name in ("pttt-ooc", "numpy", "numba", "zarr", "h5py", "snakemake"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
