"""Dependencies of results: the sources of each stage, the solver's fingerprint, versions of libraries.

A workflow engine sees that a script has changed, but not the modules that it imports.  So each rule
carries a digest of its stage's sources as a parameter.
"""

from __future__ import annotations

import ast
import hashlib
import json
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pttt_ooc.disk.manifests import FORMAT_VERSION

PACKAGE = Path(__file__).parent.parent

PLAIN = ("aliases", "config", "disk/", "errors")
"""Modules and rooms that the solver imports but that cannot change its numbers: they store bytes, or hold settings,
which are part of the fingerprint themselves."""


def source_file(name: str) -> Path:
    """The file of a module, such as ``stages/solve``; a name with a suffix is a file that is no module."""
    path = PACKAGE / name
    return path if path.suffix else path.with_suffix(".py")


def dependencies(name: str) -> frozenset[str]:
    """A module, all modules of the package that it imports, directly or not, and the templates that these name.

    Imports count wherever in the text they are.  The package's own ``__init__`` is left out: it only gives names to
    what other modules define.
    """
    found: set[str] = set()
    waiting = set(_files(name))
    while waiting:
        found |= waiting
        modules = [source_file(file) for file in waiting if source_file(file).suffix == ".py"]
        named = [other for module in modules for other in _named(module.read_text(encoding="utf-8"))]
        waiting = {file for other in named for file in _files(other)} - found
    return frozenset(found)


def _files(name: str) -> frozenset[str]:
    """Files that Python reads to import ``a/b/c``, a module or a function of one."""
    return _files_in(PACKAGE, name)


@cache
def _files_in(package: Path, name: str) -> frozenset[str]:
    parts = name.split("/")
    tried = ["/".join(parts[:n]) for n in range(1, len(parts) + 1)]
    return frozenset(file for part in tried for file in (part, f"{part}/__init__") if source_file(file).is_file())


_TEMPLATE = re.compile(r"""["']([\w.-]+\.j2)["']""")


_IMPORT = re.compile(
    r"^[ \t]*((?:from[ \t]+(?:\.|pttt_ooc\b)|import\b.*\bpttt_ooc\b)[^(\n]*(?:\([^)]*\))?)", re.MULTILINE
)


@cache
def _named(text: str) -> frozenset[str]:
    """All that a module's text may import or read: modules, functions of modules, templates.

    Only lines that may be imports of the package are parsed, which takes a twentieth of the time for all.
    """
    found = {f"pttt_ooc.{file}" for name in _TEMPLATE.findall(text) for file in _templates_called(name)}
    for node in _statements(text):
        if isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError("a relative import: its module cannot be told from the text alone")
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    inner = {name.partition(".")[2] for name in found if name.startswith("pttt_ooc.")}
    return frozenset(name if "/" in name else name.replace(".", "/") for name in inner)


def _templates_called(name: str) -> list[str]:
    """The templates of this name, of whichever rooms."""
    return sorted(str(file.relative_to(PACKAGE)) for file in PACKAGE.glob(f"*/templates/{name}"))


def _statements(text: str) -> Iterator[ast.AST]:
    """The statements of a module, those that import nothing of the package left out where that is easy to see."""
    try:
        for line in _IMPORT.findall(text):
            yield from ast.parse(line).body
    except SyntaxError:  # a sentence that begins like an import
        yield from ast.walk(ast.parse(text))


def stage_sources(stage: str) -> frozenset[str]:
    """Everything of the package that a stage is made of."""
    return dependencies(f"stages/{stage}")


def iterate_sources() -> frozenset[str]:
    """The modules that the solver's numbers come from, and so the iteration at which it stops."""
    return frozenset(name for name in dependencies("solving/solver") if not name.startswith(PLAIN))


def source_digest(stage: str) -> str:
    """A digest of everything that `stage` is made of: any edit changes it, even of a comment."""
    return module_digest(f"stages/{stage}")


def module_digest(module: str) -> str:
    """The same for any module, such as ``smbc/solve``, and all that it imports."""
    return _digest((name, source_file(name).read_bytes()) for name in sorted(dependencies(module)))


def code_digest(names: Iterable[str]) -> str:
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
        :func:`iterate_sources` are added here.
    """
    known = {"format_version": FORMAT_VERSION, "code": code_digest(iterate_sources()), **iterates}
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
