"""Strangers' sources, read behind walls: no process of ours parses, decodes or converts them."""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from pttt_ooc.extras import check_extra
from pttt_ooc.other_games.extreme.clock import Clock
from pttt_ooc.other_games.extreme.system_calls import call_filter
from pttt_ooc.other_games.extreme.walled_process import Enclosed, MachineError, SilentError
from pttt_ooc.other_games.extreme.walls import RUNNER, SEMANTICS, ExtremeError, limits, python2, python3

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
    """A file is no program in Python."""


@dataclass(frozen=True)
class Reading:
    """A file that was read.

    Attributes
    ----------
    source
        Its text.
    pythons
        The versions of Python that it may be written in, the likelier one first.
    why
        The reason, for the team.
    told
        Whether the text tells the version, or makes one likelier.
    text
        The program in the syntax of Python 3, if it may be Python 2 and can be converted.
    changes
        What the conversion changed, for the team.
    differences
        Where Python 2 and 3 differ in it: line, kind (see `source_remarks`) and sentence.
    breaches
        Formal rules of the course's document that it breaks: line, or 0 for the file's name, and sentence.
    """

    source: str
    pythons: tuple[int, ...]
    why: str
    told: bool = True
    text: str | None = None
    changes: str = ""
    differences: tuple[tuple[int, str, str], ...] = ()
    breaches: tuple[tuple[int, str], ...] = ()


@lru_cache(128)
def read(
    content: bytes, walls: bool, python: str = GUESS, file: str = "team1.py", libraries: tuple[str, ...] = ()
) -> Reading:
    """Read a file.

    Parameters
    ----------
    python
        The version that files are taken to be written in: ``2``, ``3`` or ``guess``.
    file
        Its name, for the formal rules.
    libraries
        What the course allows besides the libraries of its document, for the formal rules.
    walls
        Whether the process that does it is shut in.

    Raises
    ------
    ProgramError
        If it is no program, or takes too long to read.  The message continues "it is ...".
    ExtremeError
        If no process can be made for it, or it cannot import what is installed.
    MissingExtraError
        If fissix is missing.
    """
    for left in reversed(range(TRIES)):
        try:
            return _read(content, walls, python, file, libraries)
        except MachineError:
            if not left:
                raise
    raise AssertionError


def _read(content: bytes, walls: bool, python: str, file: str, libraries: tuple[str, ...]) -> Reading:
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
            raise ProgramError(f"no program in Python: {first['refused']}.")
        found = Reading(first["source"], tuple(first["pythons"]), first["why"], first["told"])
        if 2 in found.pythons:
            found = _add_conversion(found, process, clock)
        return _add_remarks(found, process, clock)
    except SilentError as error:
        if error.code is not None:  # it runs our own files only, and they have failed
            raise MachineError(
                f"The process that reads bots' files failed. {error} It said: {_last(process)}"
            ) from None
        raise ProgramError(f"no program in Python that can be read. {_explain(error)}.") from None
    finally:
        process.end()


def _add_conversion(found: Reading, process: Enclosed, clock: Clock) -> Reading:
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
        raise ProgramError(f"no program that can be converted to Python 3: {answer['refused']}. {lacking}.")
    raise ProgramError(f"no program in Python 3 nor 2. {found.why}. As Python 2: {answer['refused']}.")


def _add_remarks(found: Reading, process: Enclosed, clock: Clock) -> Reading:
    """The file with remarks about it; without, if they take too long."""
    try:
        told = process.receive(clock, _LONGEST)
    except SilentError:
        return replace(found, changes=_UNCOMPARED if found.text else "")
    differences, breaches = (tuple(map(tuple, told.get(key, ()))) for key in ("differences", "breaches"))
    return replace(found, changes=told.get("changes", ""), differences=differences, breaches=breaches)


def _last(process: Enclosed) -> str:
    """The last line that a process printed."""
    return (process.printed_text().strip().splitlines() or ["nothing."])[-1]


def _explain(error: SilentError) -> str:
    return f"It takes more than {READING_SECONDS:g} s to read" if error.late else str(error).rstrip(".")
