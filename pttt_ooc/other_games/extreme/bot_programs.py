"""Bots as files: their texts, read behind walls, and which Python runs them.

Only a process behind walls parses, decodes or converts a stranger's source.  A file is stored and sent as it was handed
in.  The file itself runs, or its conversion in memory.
"""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

from pttt_ooc.extras import check_extra
from pttt_ooc.other_games.extreme.clock import Clock
from pttt_ooc.other_games.extreme.system_calls import call_filter
from pttt_ooc.other_games.extreme.walled_process import Enclosed, MachineError, SilentError
from pttt_ooc.other_games.extreme.walls import (
    RUNNER,
    SEMANTICS,
    ExtremeError,
    Interpreter,
    limits,
    python2,
    python3,
)

BIGGEST = 1 << 20
"""Maximum bytes of a bot's file."""
OWN = Path(__file__).with_name("bots")
NAMES = ("random", "alphabeta", "strong")
"""The package's own bots."""
READER = Path(__file__).with_name("source_reader.py")
REMARKS = Path(__file__).with_name("source_remarks.py")
GUESS = "guess"
PYTHONS = ("2", "3", GUESS)
"""What a course can say about the version of Python of its bots."""
READING_SECONDS = 10.0
"""Seconds for reading, converting and comparing a file."""
TRIES = 3
"""Maximum attempts to read a file, if the machine ends the process that reads it."""
_MEMORY_MB = 2048
_UNCOMPARED = "What was converted takes too long to compare."
_LONGEST = 1 << 24  # bytes of a message: a text of 1 MB as JSON has it, and more


class ProgramError(ExtremeError):
    """A file is not a program in Python."""


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
        The program in the syntax of Python 3, if it may be Python 2 and can be converted, and what the conversion
        changed, for the team.
    differences
        Where Python 2 and 3 differ in it: line, kind (see `source_remarks`) and sentence.
    breaches
        Formal rules of the course's document that it breaks: line, or 0 for the file's name, and sentence.
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
        """Compile the kernels that it needs: behind walls nothing can be cached; an ExtremeError if that fails."""
        if self.trusted and "pttt_ooc" in self.source:
            _compile_search()

    def interpreters(self) -> list[Interpreter]:
        """The interpreters that can run it, best first; a program in Python 2 can also run converted."""
        if self.pythons[0] == 3:
            return [python3()]
        return [one for one in (python2(), python3() if self.text is not None else None) if one]


@cache
def _compile_search() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pttt_ooc.other_games.extreme.search"], capture_output=True, check=False
    )
    if done.returncode:
        told = done.stderr.decode(errors="replace").strip()[-500:]
        raise ExtremeError(f"The search of the strong bot cannot be compiled: {told}")


# ---------------------------------------------------------------------------------------------
# Files


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
        If it is not a program in Python, or takes too long to read.
    ExtremeError
        If no process can be made for it, or it cannot import what is installed.
    MissingExtraError
        If fissix is missing.
    """
    if not re.fullmatch(r"[A-Za-z]\w{0,60}\.py", name):
        raise ProgramError(f"{name!r} is not a name for a bot's file; it must be like team39.py.")
    if len(content) > BIGGEST:
        raise ProgramError(f"{name} has more than {BIGGEST >> 20} MB; a bot is one file of less.")
    trusted = hashlib.sha256(content).digest() in _own_digests()
    try:
        found = read(content, walls, "3" if trusted else python, name, tuple(libraries))
    except ProgramError as error:
        raise ProgramError(f"{name} is {error}") from None
    return replace(found, trusted=trusted)


@cache
def _own_digests() -> frozenset[bytes]:
    return frozenset(hashlib.sha256(path.read_bytes()).digest() for path in OWN.glob("*_bot.py"))


# ---------------------------------------------------------------------------------------------
# Reading, in a process of its own


@lru_cache(128)
def read(
    content: bytes, walls: bool, python: str = GUESS, file: str = "team1.py", libraries: tuple[str, ...] = ()
) -> BotProgram:
    """A stranger's bot from its file; for parameters and errors see :func:`program`.

    The message of a ProgramError continues "it is ...".
    """
    for left in reversed(range(TRIES)):
        try:
            return _read(content, walls, python, file, libraries)
        except MachineError:
            if not left:
                raise
    raise AssertionError


def _read(content: bytes, walls: bool, python: str, file: str, libraries: tuple[str, ...]) -> BotProgram:
    interpreter = python3()
    asked = {
        "content": base64.b64encode(content).decode(),
        "python": python,
        "file": file,
        "libraries": libraries,
        "paths": interpreter.paths,
        "filter": call_filter(listening=False) if walls else None,
    }
    process = Enclosed(
        [READER, REMARKS, SEMANTICS, RUNNER], interpreter, limits(_MEMORY_MB, 2 * READING_SECONDS), walls
    )
    clock = Clock(process.meter, READING_SECONDS, 0.0, READING_SECONDS)
    try:
        process.send(asked, clock)
        first = process.receive(clock, _LONGEST)
        if "refused" in first:
            raise ProgramError(f"not a program in Python: {first['refused']}.")
        found = BotProgram(file, first["source"], tuple(first["pythons"]), first["why"], first["told"])
        if 2 in found.pythons:
            found = _add_conversion(found, process, clock)
        return _add_remarks(found, process, clock)
    except SilentError as error:
        if error.code is not None:  # it runs our own files only, and they have failed
            last = (process.printed_text().strip().splitlines() or ["nothing."])[-1]
            raise MachineError(f"The process that reads bots' files failed. {error} It said: {last}") from None
        raise ProgramError(f"not a program in Python that can be read. {_explain(error)}.") from None
    finally:
        process.end()


def _add_conversion(found: BotProgram, process: Enclosed, clock: Clock) -> BotProgram:
    """The file with its conversion.  If there is none, a file that Python 3 accepts stays Python 3."""
    try:
        answer = process.receive(clock, _LONGEST)
    except SilentError as error:
        answer = {"refused": _explain(error)}
    if "missing" in answer:
        check_extra("extreme", "The conversion of programs in Python 2")
        raise ExtremeError(
            f"The process that converts Python 2 cannot import {answer['missing']}, though it is installed: "
            "see that its files, and those of what it needs, can be read."
        )
    if "text" in answer:
        return replace(found, text=answer["text"])
    if 3 in found.pythons:
        return replace(found, pythons=(3,))
    if answer.get("unconverted"):
        if python2():
            return found
        lacking = "It can only run in Python 2.7, which this machine has not"
        raise ProgramError(f"not a program that can be converted to Python 3: {answer['refused']}. {lacking}.")
    raise ProgramError(f"not a program in Python 3 nor 2. {found.why}. As Python 2: {answer['refused']}.")


def _add_remarks(found: BotProgram, process: Enclosed, clock: Clock) -> BotProgram:
    """The file with remarks about it; without, if they take too long."""
    try:
        told = process.receive(clock, _LONGEST)
    except SilentError:
        return replace(found, changes=_UNCOMPARED if found.text else "")
    differences, breaches = (tuple(map(tuple, told.get(key, ()))) for key in ("differences", "breaches"))
    return replace(found, changes=told.get("changes", ""), differences=differences, breaches=breaches)


def _explain(error: SilentError) -> str:
    return f"It takes more than {READING_SECONDS:g} s to read" if error.late else str(error).rstrip(".")
