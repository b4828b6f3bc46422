"""What a module of the package is made of: itself and all modules that it imports, found in their text."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent

PLAIN = ("config", "disk/", "errors", "types")
"""Modules and rooms that solvers import but that cannot change their numbers: they store bytes, or hold settings, which
are part of a state's name themselves."""


def source_file(name: str) -> Path:
    """The file of a module, such as ``stages/solve``; a name with a suffix is a file that is no module."""
    path = PACKAGE / name
    return path if path.suffix else path.with_suffix(".py")


def dependencies(name: str) -> frozenset[str]:
    """A module, all modules of the package that it imports, directly or not, and the templates that these name.

    Imports count wherever in the text they are.  The package's own ``__init__`` is left out: it only re-exports
    what other modules define.
    """
    found: set[str] = set()
    waiting = set(_files(name))
    while waiting:
        found |= waiting
        waiting = {file for name in waiting for other in imports(name) for file in _files(other)} - found
    return frozenset(found)


def imports(name: str) -> frozenset[str]:
    """All that the text of a module or template may import or read: modules, names in modules, templates."""
    file = source_file(name)
    text = file.read_text(encoding="utf-8")
    return _names_in(text) if file.suffix == ".py" else frozenset(_templates_named(text))


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
def _names_in(text: str) -> frozenset[str]:
    """All that a module's text may import or read: modules, functions of modules, templates.

    Only lines that may be imports of the package are parsed, which takes a twentieth of the time.
    """
    found = {f"pttt_ooc.{file}" for file in _templates_named(text)}
    for node in import_statements(text):
        if isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError("a relative import: its module cannot be found from the text alone")
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    inner = {name.partition(".")[2] for name in found if name.startswith("pttt_ooc.")}
    return frozenset(name if "/" in name else name.replace(".", "/") for name in inner)


def _templates_named(text: str) -> set[str]:
    """The templates that a text names, in any room."""
    names = set(_TEMPLATE.findall(text))
    return {str(file.relative_to(PACKAGE)) for name in names for file in PACKAGE.glob(f"**/templates/{name}")}


def import_statements(text: str) -> Iterator[ast.AST]:
    """The statements of a module; those that obviously import nothing of the package are left out."""
    try:
        for line in _IMPORT.findall(text):
            yield from ast.parse(line).body
    except SyntaxError:  # a sentence that begins like an import
        yield from ast.walk(ast.parse(text))


def module_digest(module: str) -> str:
    """A digest of a module, such as ``smbc/solve``, and all that it imports: any edit changes it, even of a comment."""
    return digest((name, source_file(name).read_bytes()) for name in sorted(dependencies(module)))


def without_plain(names: Iterable[str]) -> frozenset[str]:
    """The modules among these that can change numbers."""
    return frozenset(name for name in names if not name.startswith(PLAIN))


def code_digest(names: Iterable[str]) -> str:
    """A digest of what modules do.  It names states, so a run may go on with another Python, on another machine.

    Edits of comments, docstrings and layout do not change it.
    """
    return digest((name, _code(source_file(name).read_text(encoding="utf-8")).encode()) for name in sorted(names))


def _code(text: str) -> str:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [part for part in node.body if not _is_text(part)]
    return _syntax_text(tree)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _syntax_text(part: object) -> str:
    """A part of a syntax tree as a text; ``ast.dump`` depends on the version of Python."""
    if isinstance(part, list):
        return f"[{','.join(map(_syntax_text, part))}]"
    if not isinstance(part, ast.AST):
        return repr(part)
    fields = [
        f"{name}={_syntax_text(value)}" for name, value in ast.iter_fields(part) if value is not None and value != []
    ]
    return f"{type(part).__name__}({','.join(fields)})"


def digest(parts: Iterable[tuple[str, bytes]]) -> str:
    """A digest of named texts and their lengths, which show where a text ends."""
    total = hashlib.blake2b(digest_size=16)
    for name, content in parts:
        total.update(f"{name} {len(content)}\n".encode() + content)
    return total.hexdigest()
