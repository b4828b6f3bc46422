"""Bots as files: which Python they are written in, and how Python 2 runs where it is not installed.

A file is stored and sent as it was handed in.  What runs is the file itself, or its conversion, made in memory.
"""

from __future__ import annotations

import ast
import hashlib
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pttt_ooc.extreme.walls import ExtremeError, Interpreter, python2, python3

BIGGEST = 1 << 20
"""Bytes of a bot's file."""
OWN = Path(__file__).with_name("bots")
NAMES = ("random", "alphabeta", "strong")
"""The bots of our own."""

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


@dataclass(frozen=True)
class Program:
    """A bot's file.

    Attributes
    ----------
    name
        Of the file, such as ``team39.py``.
    source
        Its text.
    pythons
        The versions of Python that it may be written in, the likelier one first.
    why
        What says so, for the team.
    trusted
        Whether it is a bot of our own, which sees the package.
    """

    name: str
    source: str
    pythons: tuple[int, ...]
    why: str
    trusted: bool = False

    def converted(self, version: tuple[int, int]) -> bool:
        """Whether this version of Python needs a conversion."""
        return self.pythons[0] == 2 and version[0] == 3

    def source_for(self, version: tuple[int, int]) -> str:
        """The text that this version of Python runs."""
        return convert(self.source) if self.converted(version) else self.source

    def as_python(self, version: int) -> Program:
        """The same file, taken for that version."""
        return Program(self.name, self.source, (version,), self.why, self.trusted)

    def prepare(self) -> None:
        """Compile what it needs of this package: behind walls nothing can be kept.

        Raises
        ------
        ExtremeError
            If that fails.
        """
        if self.trusted and "pttt_ooc" in self.source:
            _compile_search()

    def interpreters(self) -> list[Interpreter]:
        """What can run it, best first; a program in Python 2 can also run converted."""
        found = [python2()] if self.pythons[0] == 2 else []
        return [one for one in (*found, python3()) if one]


def read_program(path: Path) -> Program:
    """A bot from its file, or one of our own by its name.

    Raises
    ------
    ExtremeError
        If there is no such file, or it is no program in Python.
    """
    if str(path) in NAMES and not path.exists():
        path = OWN / f"{path}_bot.py"
    try:
        with open(path, "rb") as file:
            content = file.read(BIGGEST + 1)
    except OSError as error:
        ours = ", ".join(NAMES)
        raise ExtremeError(
            f"The bot {path} cannot be read: {error.strerror}; name a file, or one of our own bots, {ours}."
        ) from error
    return program(path.name, content)


def program(name: str, content: bytes) -> Program:
    """A bot from the content of its file.

    Raises
    ------
    ExtremeError
        If it is no program in Python.
    """
    if not re.fullmatch(r"[A-Za-z]\w{0,60}\.py", name):
        raise ExtremeError(f"{name!r} is no name for a bot's file; it must be like team39.py.")
    if len(content) > BIGGEST:
        raise ExtremeError(f"{name} has more than {BIGGEST >> 20} MB; a bot is one file of less.")
    declared = re.search(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", b"\n".join(content.split(b"\n", 2)[:2]), re.M)
    try:
        source = content.removeprefix(b"\xef\xbb\xbf").decode(declared[1].decode() if declared else "utf-8")
        source.encode()  # which half of a character cannot be, as some encodings have it
    except (UnicodeError, LookupError):
        source = content.decode("latin-1")
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in source:
        raise ExtremeError(f"{name} is no program in Python: it holds the character 0.")
    pythons, why = dialect(name, source)
    return Program(name, source, pythons, why, hashlib.sha256(content).digest() in _own_digests())


@cache
def _own_digests() -> frozenset[bytes]:
    return frozenset(hashlib.sha256(path.read_bytes()).digest() for path in OWN.glob("*_bot.py"))


@cache
def _compile_search() -> None:
    done = subprocess.run([sys.executable, "-m", "pttt_ooc.extreme.search"], capture_output=True, check=False)
    if done.returncode:
        told = done.stderr.decode(errors="replace").strip()[-500:]
        raise ExtremeError(f"The search of the strong bot cannot be compiled: {told}")


def dialect(name: str, source: str) -> tuple[tuple[int, ...], str]:
    """The versions of Python that a text may be written in, likelier first, and what says so.

    A text that both versions accept is Python 2 if it uses names that only Python 2 has.  If nothing tells, it is tried
    as Python 3 first: a match in which it then raises an error is played again with it as Python 2.

    Raises
    ------
    ExtremeError
        If neither version accepts it.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        try:
            convert(source)
        except ExtremeError:
            line = f" in line {error.lineno}" if isinstance(error, SyntaxError) else ""
            raise ExtremeError(f"{name} is no program in Python 3 nor 2: {error.args[0]}{line}.") from error
        line = f" (line {error.lineno})" if isinstance(error, SyntaxError) else ""
        return (2,), f"Python 3 does not accept it: {error.args[0]}{line}"
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


_SYNTAX_3 = (ast.JoinedStr, ast.Nonlocal, ast.AnnAssign, ast.AsyncFunctionDef, ast.NamedExpr, ast.YieldFrom, ast.Match)


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


@cache
def convert(source: str) -> str:
    """A program in Python 2 as one in Python 3, line by line where that is possible; `runner` divides as Python 2 does.

    Raises
    ------
    ExtremeError
        If it is none, or fissix is missing.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pttt_ooc.extreme.conversion"],
            input=source.encode(),
            capture_output=True,
            timeout=60,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ExtremeError("The program takes too long to convert from Python 2.") from None
    if done.returncode:
        raise ExtremeError(done.stderr.decode(errors="replace").strip()[-500:] or "The conversion ended early.")
    return done.stdout.decode()
