"""Bots as files: which Python runs them.

A file is stored and sent as it was handed in.  The file itself runs, or its conversion in memory.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from pttt_ooc.other_games.extreme.source_client import GUESS, ProgramError, read
from pttt_ooc.other_games.extreme.walls import ExtremeError, Interpreter, python2, python3

BIGGEST = 1 << 20
"""Maximum bytes of a bot's file."""
OWN = Path(__file__).with_name("bots")
NAMES = ("random", "alphabeta", "strong")
"""The package's own bots."""


@dataclass(frozen=True)
class BotProgram:
    """A bot's file.

    Attributes
    ----------
    name
        Name of the file, such as ``team39.py``.
    source
        Its text.
    pythons
        The versions of Python that it may be written in, the likelier one first.
    why
        The reason, for the team.
    told
        Whether its text tells the version, or makes one likelier.
    text, changes
        The program in the syntax of Python 3, if it may be Python 2, and what the conversion changed.
    differences, breaches
        Where Python 2 and 3 differ in it, and the formal rules that it breaks, as in
        :class:`~pttt_ooc.other_games.extreme.source_client.Reading`.
    trusted
        Whether it is one of the package's own bots, which see the package.
    """

    name: str
    source: str
    pythons: tuple[int, ...]
    why: str
    told: bool = True
    text: str | None = None
    changes: str = ""
    differences: tuple[tuple[int, str, str], ...] = ()
    breaches: tuple[tuple[int, str], ...] = ()
    trusted: bool = False

    def needs_conversion(self, version: tuple[int, int]) -> bool:
        """Whether this version of Python needs a conversion."""
        return self.pythons[0] == 2 and version[0] == 3

    def source_for(self, version: tuple[int, int]) -> str:
        """The source that this version of Python runs."""
        return self.text if self.text is not None and self.needs_conversion(version) else self.source

    def shown_for(self, version: tuple[int, int]) -> str:
        """The source that tracebacks show: the file's own lines, where its conversion has as many."""
        runs = self.source_for(version)
        return self.source if runs.count("\n") == self.source.count("\n") else runs

    def as_python(self, version: int) -> BotProgram:
        """The same file, taken as a program in that version."""
        return replace(self, pythons=(version,))

    def prepare(self) -> None:
        """Compile the kernels that it needs: behind walls nothing can be cached.

        Raises
        ------
        ExtremeError
            If that fails.
        """
        if self.trusted and "pttt_ooc" in self.source:
            _compile_search()

    def interpreters(self) -> list[Interpreter]:
        """The interpreters that can run it, best first; a program in Python 2 can also run converted."""
        if self.pythons[0] == 3:
            return [python3()]
        return [one for one in (python2(), python3() if self.text is not None else None) if one]


def read_program(path: Path, walls: bool = True, python: str = GUESS, libraries: Iterable[str] = ()) -> BotProgram:
    """A bot from its file, or one of the package's own by name; raises what :func:`program` raises."""
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
    return program(path.name, content, walls, python, libraries)


def program(
    name: str, content: bytes, walls: bool = True, python: str = GUESS, libraries: Iterable[str] = ()
) -> BotProgram:
    """A bot from the content of its file.

    Parameters
    ----------
    walls
        Whether the process that reads it runs behind walls.
    python
        The version that files are taken to be written in: ``2``, ``3`` or ``guess``.  The package's own bots are
        Python 3.
    libraries
        What the course allows besides the libraries of its document, for the formal rules.

    Raises
    ------
    ProgramError
        If it is no program in Python.
    ExtremeError
        If it cannot be read on this machine.
    """
    if not re.fullmatch(r"[A-Za-z]\w{0,60}\.py", name):
        raise ProgramError(f"{name!r} is no name for a bot's file; it must be like team39.py.")
    if len(content) > BIGGEST:
        raise ProgramError(f"{name} has more than {BIGGEST >> 20} MB; a bot is one file of less.")
    trusted = hashlib.sha256(content).digest() in _own_digests()
    try:
        found = read(content, walls, "3" if trusted else python, name, tuple(libraries))
    except ProgramError as error:
        raise ProgramError(f"{name} is {error}") from None
    return BotProgram(name, **vars(found), trusted=trusted)


@cache
def _own_digests() -> frozenset[bytes]:
    return frozenset(hashlib.sha256(path.read_bytes()).digest() for path in OWN.glob("*_bot.py"))


@cache
def _compile_search() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pttt_ooc.other_games.extreme.search"], capture_output=True, check=False
    )
    if done.returncode:
        told = done.stderr.decode(errors="replace").strip()[-500:]
        raise ExtremeError(f"The search of the strong bot cannot be compiled: {told}")
