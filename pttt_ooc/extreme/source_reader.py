"""Reads a stranger's source in a process of its own behind walls: text, version of Python, conversion from Python 2.

This file runs beside ``runner.py``: ``python source_reader.py IN OUT``.  It gets one message with the file, and answers
with three, so that a step that takes too long loses only itself: text and versions of Python, the conversion, and the
changes.  Only a file that may be Python 2 gets the last two.
"""

from __future__ import annotations

import ast
import base64
import os
import re
import sys
from difflib import unified_diff
from functools import partial
from typing import Any

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
_LEFT_OUT = {"asserts", "buffer", "idioms", "isinstance", "set_literal", "ws_comma", "callable", "division"}
"""Conversions that only change style, or that this package does itself."""
_NOT_KEPT = "/dev/null/grammar"
"""A path that nobody can make, not even root: a directory in its place would stop all conversions."""
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


def dialect(source: str) -> tuple[tuple[int, ...], str]:
    """The versions of Python that a text may be written in, likelier first, and the reason.

    A text that both versions accept is Python 2 if it uses names that only Python 2 has.  If nothing tells, it is tried
    as Python 3 first: a match in which it then raises an error is played again with it as Python 2.  What Python 3 does
    not accept is Python 2, or nothing.
    """
    try:
        tree = ast.parse(source)
    except _REFUSED as error:
        return (2,), f"Python 3 does not accept it: {_reason(error)}"
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    defined = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    imported = {part for node in ast.walk(tree) if isinstance(node, ast.alias) for part in node.name.split(".")}
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    old = sorted((_ONLY_2 & names - defined - imported) | (_ONLY_2_ATTRIBUTES & (attributes | imported)))
    new = sorted(_ONLY_3 & (names | attributes | imported | modules))
    if any(isinstance(node, _SYNTAX_3) for node in ast.walk(tree)) or _annotated(tree):
        return (3,), "its syntax is that of Python 3"
    if old:
        return (2,), f"only Python 2 has {', '.join(old)}"
    if new:
        return (3,), f"only Python 3 has {', '.join(new)}"
    if not any(isinstance(node, ast.Div) for node in ast.walk(tree)):
        return (3,), "it means the same in Python 2 and 3"
    return (3, 2), "nothing tells Python 2 from 3, so it is tried as 3 first"


def _reason(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"{error.msg} (line {error.lineno})"
    return str(error) or "it is nested too deeply"


def _annotated(tree: ast.AST) -> bool:
    """Whether functions have types, or parameters by keyword only, or ``super()`` has no arguments."""
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


def converted(source: str) -> str:
    """A program in Python 2 as one in Python 3, line by line where that is possible; `runner` divides as Python 2 does.

    Raises
    ------
    ImportError
        If fissix is missing.
    ValueError
        If the text is no program in Python 2.
    """
    import fissix
    from fissix.pgen2 import driver, parse, tokenize

    # Its tables are made anew, as nothing can be written where they would be kept.
    driver.load_grammar = partial(fissix.load_grammar, gp=_NOT_KEPT, save=False)
    from fissix import refactor

    names = refactor.get_fixers_from_package("fissix.fixes")
    tool = refactor.RefactoringTool([name for name in names if name.rpartition("fix_")[2] not in _LEFT_OUT])
    try:
        text = str(tool.refactor_string(_untabbed(source).removesuffix("\n") + "\n", "bot"))
        ast.parse(text)
    except (parse.ParseError, tokenize.TokenError, *_REFUSED) as error:
        raise ValueError(_reason(error)) from error
    return text


def _untabbed(source: str) -> str:
    """The text with tabs at the beginnings of lines as spaces to the next multiple of 8, which is Python 2's rule."""
    lines = []
    for line in source.split("\n"):
        code = line.lstrip(" \t\f")
        lines.append(line[: len(line) - len(code)].replace("\f", "").expandtabs(8) + code)
    return "\n".join(lines)


def changes(source: str, text: str) -> str:
    """The changes of the conversion from Python 2, as a unified diff of limited length."""
    before, after = source.splitlines(), text.splitlines()
    if max(len(before), len(after)) > LONGEST:
        return f"{len(before)} lines were converted, which are too many to compare."
    lines = list(unified_diff(before, after, "as handed in", "as it runs", lineterm="", n=1))
    return "\n".join(lines[:SHOWN] + ["..."] * (len(lines) > SHOWN))


def answers(content: bytes) -> Any:
    """The answers about a file."""
    source = text_of(content)
    if "\0" in source:
        yield {"refused": "it holds the character 0"}
        return
    pythons, why = dialect(source)
    yield {"source": source, "pythons": pythons, "why": why}
    if 2 not in pythons:
        return
    try:
        text = converted(source)
    except ImportError:
        yield {"missing": "fissix"}
    except ValueError as error:
        yield {"refused": str(error)}
    else:
        yield {"text": text}
        yield {"changes": changes(source, text)}


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
        for answer in answers(base64.b64decode(asked["content"])):
            runner.send(outgoing, answer)
    except (MemoryError, RecursionError):
        runner.send(outgoing, {"refused": "there is not enough memory to read it"})
    os._exit(0)  # Python would set handlers of signals at its end, which is forbidden


if __name__ == "__main__":
    main()
