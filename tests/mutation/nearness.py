"""Which tests are near a module: read off what files name, for :mod:`tests.mutation.mutation`."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from docs.make import rooms

_NAMED = re.compile(r"\bpttt_ooc\b(?:\.([\w.]+))?(?: import (\([^)]*\)|[^\n]*))?")
_IMPORTED = re.compile(r"^\s*from tests\.([\w.]+) import (\([^)]*\)|[^\n]*)", re.M)
_LEFT_OUT = re.compile("benchmarks|browser|beside|attacks|load|full|postgres")
"""Files of tests that need much: time, browsers, busy machines, other servers."""


def named(text: str) -> set[str]:
    """What a text may name of the package: modules, and what is in them."""
    found = set()
    for base, inside in _NAMED.findall(text):
        for name in [base, *(f"{base}.{each}" for each in re.findall(r"\w+", inside))]:
            parts = name.strip(".").split(".")
            found |= {".".join(parts[:n]) for n in range(1, len(parts) + 1)}
    return found


@cache
def _texts(root: Path) -> Mapping[str, str]:
    """Files of tests, and what they share."""
    return {str(file.relative_to(root)): file.read_text("utf-8") for file in sorted((root / "tests").rglob("*.py"))}


@cache
def graph(root: Path = rooms.ROOT) -> Mapping[str, set[str]]:
    """What modules and files of tests name: modules, helpers of tests, and what is in the ``conftest.py`` above."""
    modules, tests = rooms.modules(root / "pttt_ooc"), _texts(root)
    texts = {name: file.read_text(encoding="utf-8") for name, file in modules.items()} | tests
    names = {name: named(text) & modules.keys() for name, text in texts.items()}
    for name, text in tests.items():
        for base, inside in _IMPORTED.findall(text):
            places = [base, *(f"{base}.{each}" for each in re.findall(r"\w+", inside))]
            names[name] |= {f"tests/{place.replace('.', '/')}.py" for place in places} & tests.keys()
        names[name] |= {str(Path(above, "conftest.py")) for above in Path(name).parents} & tests.keys()
    return names


def entries(source: str, line: int) -> set[str]:
    """The public functions and classes of a module that lead to a line: the one around it, and those that use that."""
    tops = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    words = {top.name: set(re.findall(r"\w+", ast.unparse(top))) for top in tops}
    found = {top.name for top in tops if top.lineno <= line <= (top.end_lineno or line)}
    while more := {name for name, used in words.items() if used & found} - found:
        found |= more
    return {name for name in found if not name.startswith("_")}


def nearest(module: str, root: Path = rooms.ROOT, entrances: Iterable[str] = ()) -> list[tuple[str, bool]]:
    """Files of tests, the nearest first, each with whether its tests marked `slow` are meant.

    Near are files that name the module, then those that name one that does so, and so on; then the others of its room,
    for a module may be loaded by its name alone.  Of those as near as each other, the tests that are not slow come
    first, and files of the room, and those with the module's name most often in their text.

    Before all others come the files that use one of the names `entrances` of the module, or a module that does so;
    first their quick tests, then their slow ones.
    """
    names, texts = graph(root), _texts(root)
    room, word = module.rpartition("/")[0] or module, module.split("/")[-1]
    while "/" in room and not any(room in name for name in texts):  # a folder without tests of its own
        room = room.rpartition("/")[0]
    users: dict[str, set[str]] = defaultdict(set)
    for name, others in names.items():
        for other in others - {name}:
            users[other].add(name)

    def rank(file: str) -> tuple[bool, int, str]:
        return room not in file, -len(re.findall(rf"\b{word}\b", texts[file])), file

    found: list[tuple[str, bool]] = []
    seen = layer = {module.replace("/", ".")}
    while layer:
        layer = {user for name in layer for user in users[name]} - seen
        if not layer:
            layer = {name for name in texts if room in name} - seen
        seen = seen | layer
        files = [name for name in layer if "/test_" in name and not _LEFT_OUT.search(name)]
        found += [(name, False) for name in sorted(files, key=rank)]
        found += [(name, True) for name in sorted(files, key=rank) if "mark.slow" in texts[name]]
    first = _users_of(module, entrances, users[module.replace("/", ".")], root)
    first |= {user for name in first for user in users[name]}
    return sorted(found, key=lambda one: (one[0] not in first, one[0] in first and one[1]))


def _users_of(module: str, entrances: Iterable[str], users: Iterable[str], root: Path) -> set[str]:
    """Those of a module's users that have one of the names in their text."""
    one_of = re.compile(rf"\b(?:{'|'.join(map(re.escape, entrances)) or '(?!)'})\b")
    texts, modules = _texts(root), rooms.modules(root / "pttt_ooc")
    return {
        user
        for user in users
        if one_of.search(texts[user] if user in texts else modules[user].read_text(encoding="utf-8"))
    }
