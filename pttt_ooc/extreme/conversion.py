"""Python 2 to Python 3, in a process of its own, as the text may be hostile: from standard input to standard output."""

from __future__ import annotations

import ast
import resource
import sys

from pttt_ooc.errors import MissingExtraError
from pttt_ooc.extras import imports

LEFT_OUT = {"asserts", "buffer", "idioms", "isinstance", "set_literal", "ws_comma", "callable", "division"}
"""Conversions that change style only, or that this package does in its own way."""


def converted(source: str) -> str:
    """The text in Python 3.

    Raises
    ------
    MissingExtraError
        If fissix is missing.
    ValueError
        If the text is no program in Python 2.
    """
    with imports("A program in Python 2"):
        from fissix import refactor
        from fissix.pgen2 import parse, tokenize

    names = refactor.get_fixers_from_package("fissix.fixes")
    kept = [name for name in names if name.rpartition("fix_")[2] not in LEFT_OUT]
    tool = refactor.RefactoringTool(kept)
    try:
        text = str(tool.refactor_string(_untabbed(source) + "\n", "bot"))
        ast.parse(text)
    except (parse.ParseError, tokenize.TokenError, SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"It is no program in Python 2: {error}.") from error
    return text


def _untabbed(source: str) -> str:
    """The text with tabs at the beginnings of lines as spaces to the next multiple of 8, which is Python 2's rule."""
    lines = []
    for line in source.split("\n"):
        code = line.lstrip(" \t\f")
        lines.append(line[: len(line) - len(code)].replace("\f", "").expandtabs(8) + code)
    return "\n".join(lines)


def main() -> None:
    """Convert what comes in."""
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    try:
        sys.stdout.write(converted(sys.stdin.read()))
    except (MissingExtraError, ValueError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
