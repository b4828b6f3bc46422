"""Reads a stranger's source in a process of its own behind walls: text, version of Python, conversion from Python 2.

This file runs beside ``runner.py``: ``python source_reader.py IN OUT``.  It gets one message with the file, and answers
with three, so that a step that takes too long loses only its own answer: text and versions of Python, the conversion,
and remarks: what was converted, where Python 2 and 3 differ, and formal rules that it breaks.  Only a file that may be
Python 2 gets the second.
"""

from __future__ import annotations

import ast
import base64
import os
import re
import sys
from collections.abc import Iterable
from difflib import SequenceMatcher, unified_diff
from functools import partial
from typing import Any

if __package__:
    from pttt_ooc.other_games.extreme.source_remarks import MOST, breaches, differences
else:  # behind walls, in the same directory
    from source_remarks import MOST, breaches, differences  # type: ignore[import-not-found,no-redef]

LONGEST, SHOWN = 3000, 400  # lines of a program that are compared, and of the comparison that are shown

_ONLY_2 = {"xrange", "raw_input", "unicode", "long", "unichr", "basestring", "cmp", "reduce", "execfile", "file"}
_ONLY_2_ATTRIBUTES = {"iteritems", "itervalues", "iterkeys", "has_key", "maxint", "clock", "izip", "imap", "maketrans"}
_ONLY_3 = {
    "nonlocal",
    "perf_counter",
    "monotonic",
    "process_time",
    "lru_cache",
    "cached_property",
    "dataclass",
    "typing",
}
_SYNTAX_3 = (ast.JoinedStr, ast.Nonlocal, ast.AnnAssign, ast.AsyncFunctionDef, ast.NamedExpr, ast.YieldFrom, ast.Match)
_NOT_KEPT = "/dev/null/grammar"
"""A path that cannot be made, even by root: a directory in its place would stop all conversions."""
_FIXERS = (
    "except exec funcattrs metaclass methodattrs ne next nonzero numliterals paren print raise repr sys_exc throw "
    "tuple_params types"
)
"""Conversions of the syntax; all other meaning, also that of the names of modules, is that of `python2_semantics`."""
_REFUSED = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What Python raises for a text that is no program; the last two if it is nested too deeply."""


def text_of(content: bytes) -> str:
    """The text of a file, in the encoding that it names."""
    declared = re.search(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", b"\n".join(content.split(b"\n", 2)[:2]), re.M)
    try:
        source = content.removeprefix(b"\xef\xbb\xbf").decode(declared[1].decode() if declared else "utf-8")
        source.encode()  # fails for half a character, which some encodings allow
    except (UnicodeError, LookupError):
        source = content.decode("latin-1")
    return source.replace("\r\n", "\n").replace("\r", "\n")


def dialect(source: str) -> tuple[tuple[int, ...], str, bool]:
    """The versions of Python that a text may be written in, likelier first; the reason; whether its text tells.

    A text that only one version accepts is written in it.  Else the first line (``#!/usr/bin/python2``) decides, or
    names that only one version has make it the likelier.
    """
    try:
        tree = ast.parse(source)
    except _REFUSED as error:
        return (2,), f"Python 3 does not accept it: {_reason(error)}", True
    if any(isinstance(node, _SYNTAX_3) for node in ast.walk(tree)) or _has_annotations(tree):
        return (3,), "its syntax is that of Python 3", True
    named = re.match(r"#!.*\bpython([23])", source)
    if named:
        return (int(named[1]),), f"its first line names Python {named[1]}", True
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    defined = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    changed = [
        node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
    ]
    defined |= {node.attr for node in changed}
    imported = {part for node in ast.walk(tree) if isinstance(node, ast.alias) for part in node.name.split(".")}
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    old = sorted((_ONLY_2 & names - defined - imported) | (_ONLY_2_ATTRIBUTES & (attributes | imported) - defined))
    new = sorted(_ONLY_3 & (names | attributes | imported | modules))
    if bool(old) != bool(new):
        likelier = 2 if old else 3
        return (likelier, 5 - likelier), f"only Python {likelier} has {', '.join(old or new)}", True
    return (3, 2), "nothing in its text tells Python 2 from 3", False


def _reason(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"{error.msg} (line {error.lineno})"
    return str(error) or "it is nested too deeply"


def _has_annotations(tree: ast.AST) -> bool:
    """Whether functions have annotations or keyword-only parameters, or ``super()`` has no arguments."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            if node.returns or node.args.kwonlyargs or any(argument.annotation for argument in given):
                return True
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args
        ):
            return True
    return False


class UnconvertedError(ValueError):
    """A program in Python 2 has no counterpart in Python 3, such as one that has a variable ``async``."""


def convert_source(source: str) -> str:
    """A program in Python 2 in the syntax of Python 3, line by line where that is possible.

    Raises
    ------
    ImportError
        If fissix is missing.
    ValueError
        If the text is no program in Python 2.
    UnconvertedError
        If it is one, but Python 3 does not accept its conversion.
    """
    import fissix
    from fissix.pgen2 import driver, parse, tokenize

    # Its tables are made anew, as nothing can be written where they would be kept.
    driver.load_grammar = partial(fissix.load_grammar, gp=_NOT_KEPT, save=False)
    from fissix import refactor

    tool = refactor.RefactoringTool([f"fissix.fixes.fix_{name}" for name in _FIXERS.split()])
    source = re.sub(r"\b[uU](?=[rR][\"'])", "", source)  # ur"..." is Python 2 only
    try:
        text = str(tool.refactor_string(_expand_tabs(source).removesuffix("\n") + "\n", "bot"))
    except (parse.ParseError, tokenize.TokenError, *_REFUSED) as error:
        raise ValueError(_reason(error)) from error
    try:
        ast.parse(text)
    except _REFUSED as error:
        raise UnconvertedError(_reason(error)) from error
    return text


def _expand_tabs(source: str) -> str:
    """The text with tabs at the beginnings of lines as spaces to the next multiple of 8, which is Python 2's rule."""
    lines = []
    for line in source.split("\n"):
        code = line.lstrip(" \t\f")
        lines.append(line[: len(line) - len(code)].replace("\f", "").expandtabs(8) + code)
    return "\n".join(lines)


def changes(source: str, text: str) -> str:
    """The changes of the conversion from Python 2, as a unified diff of limited length.

    White space at the ends of lines and of the file does not count.
    """
    before, after = ([line.rstrip() for line in one.rstrip().splitlines()] for one in (_expand_tabs(source), text))
    if max(len(before), len(after)) > LONGEST:
        return f"{len(before)} lines were converted, which are too many to compare."
    lines = list(unified_diff(before, after, "as handed in", "as it runs", lineterm="", n=1))
    return "\n".join(lines[:SHOWN] + ["..."] * (len(lines) > SHOWN))


def remarks(source: str, text: str, file: str, libraries: Iterable[str] = ()) -> dict[str, Any]:
    """Where Python 2 and 3 differ in a program, and the formal rules that it breaks, by its own lines."""
    try:
        tree = ast.parse(text)
        found: dict[str, Any] = {"differences": differences(tree), "breaches": breaches(tree, file, libraries)}
    except _REFUSED:
        return {"differences": [], "breaches": []}
    lines = _own_lines(source, text)
    return {key: [(lines.get(line, line), *rest) for line, *rest in told[:MOST]] for key, told in found.items()}


def _own_lines(source: str, text: str) -> dict[int, int]:
    """The line of the file that each line of its conversion comes from, where the two differ."""
    before, after = source.rstrip().splitlines(), text.rstrip().splitlines()
    if len(before) == len(after) or max(len(before), len(after)) > LONGEST:
        return {}
    found: dict[int, int] = {}
    for _, i, end, j, to in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        found |= {line + 1: min(i + line - j, max(i, end - 1)) + 1 for line in range(j, to)}
    return found


def answers(content: bytes, python: str, file: str, libraries: Iterable[str] = ()) -> Any:
    """The answers about a file.

    Parameters
    ----------
    python
        The version that files are taken to be written in: ``2``, ``3`` or ``guess``.
    file
        Its name.
    libraries
        What it may import besides what the course's document allows.
    """
    source = text_of(content)
    if "\0" in source:
        yield {"refused": "it holds the character 0"}
        return
    if python == "guess":
        pythons, why, told = dialect(source)
    else:
        pythons, why, told = (int(python),), f"all bots are taken as Python {python}", True
    text = source
    if pythons == (3,):
        try:
            ast.parse(source)
        except _REFUSED as error:
            yield {"refused": f"as Python 3: {_reason(error)}"}
            return
    yield {"source": source, "pythons": pythons, "why": why, "told": told}
    if 2 in pythons:
        try:
            text = convert_source(source)
        except ImportError:
            yield {"missing": "fissix"}
            return
        except ValueError as error:
            yield {"refused": str(error), "unconverted": isinstance(error, UnconvertedError)}
        else:
            yield {"text": text}
    yield {"changes": changes(source, text), **remarks(source, text, file, libraries)}


def main() -> None:
    """Read one file."""
    import runner  # type: ignore[import-not-found]  # it is in the same directory, behind walls as well

    incoming, outgoing = int(sys.argv[1]), int(sys.argv[2])
    asked = runner.receive(incoming)
    sys.path[:] = sys.path[1:] + asked["paths"]
    sys.dont_write_bytecode = True
    if asked["filter"]:
        runner.close_door(asked["filter"])
    try:
        content = base64.b64decode(asked["content"])
        for answer in answers(content, asked["python"], asked["file"], asked["libraries"]):
            runner.send(outgoing, answer)
    except (MemoryError, RecursionError):
        runner.send(outgoing, {"refused": "there is not enough memory to read it"})
    os._exit(0)  # Python would set handlers of signals at its end, which is forbidden


if __name__ == "__main__":
    main()
