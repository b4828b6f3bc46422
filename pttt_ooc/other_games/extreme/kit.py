"""The kit for teams: one file, made from the package's referee, with which bots play without the package."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

NAME = "extreme_kit.py"
"""The file's name."""
_PLACE = Path(__file__).parent
_PACKAGE = "pttt_ooc.other_games.extreme."


@cache
def kit_text() -> str:
    """The kit as text: `kit_program`, with the definitions that it imports in the place of its imports.

    Raises
    ------
    ValueError
        If two modules define the same name.
    """
    source = (_PLACE / "kit_program.py").read_text(encoding="utf-8")
    tree = ast.parse(source)
    standard = {ast.unparse(node) for node in tree.body if isinstance(node, ast.Import)}
    own = [node for node in tree.body if isinstance(node, ast.ImportFrom) and _is_own(node)]
    definitions: dict[str, tuple[str, str]] = {}  # by name: its module and its text
    for node in own:
        _collect(str(node.module), [alias.name for alias in node.names], definitions, standard)
    lines = source.splitlines()
    imports = next(node for node in tree.body if isinstance(node, ast.Import)).lineno - 1
    head = [line for line in lines[:imports] if not line.startswith("# ruff")]
    texts = [text for _, text in definitions.values()]
    parts = ["\n".join(head), "\n".join(sorted(standard)), *texts, "\n".join(lines[own[-1].end_lineno :])]
    return "# coding: utf-8\n" + "\n\n\n".join(part.strip("\n") for part in parts) + "\n"


def _collect(module: str, names: list[str], found: dict[str, tuple[str, str]], standard: set[str]) -> None:
    """Add the definitions of names in a module, those that they use first, and the standard modules that they use."""
    source = (_PLACE / f"{module.removeprefix(_PACKAGE)}.py").read_text(encoding="utf-8")
    tree = ast.parse(source)
    defined = {name: node for node in tree.body for name in _defines(node)}
    imported = {alias.name: node for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    elsewhere = {
        alias.name: str(node.module)
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and _is_own(node)
        for alias in node.names
    }
    for name in names:
        if name in found:
            if found[name][0] != module:
                raise ValueError(f"{name} is defined in {module} and in {found[name][0]}")
            continue
        node = defined[name]
        found[name] = (module, "")  # a definition may name itself
        text = _plain(source, node)
        for used in sorted({one.id for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Name)}):
            if used in elsewhere:
                _collect(elsewhere[used], [used], found, standard)
            elif used in defined:
                _collect(module, [used], found, standard)
            elif used in imported:
                standard.add(f"import {used}")
        del found[name]
        found[name] = (module, text)


def _is_own(node: ast.ImportFrom) -> bool:
    return str(node.module).startswith(_PACKAGE)


def _defines(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return [node.name]
    return [one.id for one in node.targets if isinstance(one, ast.Name)] if isinstance(node, ast.Assign) else []


def _plain(source: str, node: ast.stmt) -> str:
    """The text of a definition without annotations, which Python 2 does not know."""
    text = ast.get_source_segment(source, node) or ""
    cuts = sorted(_annotations(ast.parse(text), text), reverse=True)
    for begin, end in cuts:
        text = text[:begin] + text[end:]
    return text


def _annotations(tree: ast.AST, text: str) -> Iterator[tuple[int, int]]:
    """Where annotations begin and end; the text is ASCII."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def end_of(node: ast.expr) -> int:
        return starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)

    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation:
            yield starts[node.lineno - 1] + node.col_offset + len(node.arg), end_of(node.annotation)
        elif isinstance(node, ast.AnnAssign):
            yield end_of(node.target), end_of(node.annotation)
        elif isinstance(node, ast.FunctionDef) and node.returns:
            begin = starts[node.returns.lineno - 1] + node.returns.col_offset
            yield text.rindex(" ->", 0, begin), end_of(node.returns)
