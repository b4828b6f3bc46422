"""A bot's process: it is started, asked for moves within a time limit, and ended.

Between questions the process is frozen.  It is asked once for each move; time that it is kept waiting does not count
(see :mod:`.clock`).
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pttt_ooc.errors import CaughtError
from pttt_ooc.extras import sentence
from pttt_ooc.other_games.extreme.bot_programs import GUESS, BotProgram
from pttt_ooc.other_games.extreme.clock import Clock
from pttt_ooc.other_games.extreme.source_remarks import LIBRARIES
from pttt_ooc.other_games.extreme.system_calls import call_filter
from pttt_ooc.other_games.extreme.walled_process import Enclosed, MachineError, SilentError, plain
from pttt_ooc.other_games.extreme.walls import RUNNER, SEMANTICS, Interpreter, limits

MOVES = 2 * 81
"""Maximum moves of a bot: the number of cells."""
SHOWN_MOVE = 200
"""Characters that are kept of an answer that is no move."""
STALLS = 3
"""For waits in the system, which it can cause, a bot gets back at most its load limit and so many move limits."""


@dataclass(frozen=True)
class Conditions:
    """How bots are run.

    Attributes
    ----------
    time_limit
        Seconds for a move.
    load_limit
        Seconds for importing the file and making the player.
    memory_mb
        Address space of a bot's process.
    walls
        Whether the processes run behind walls; without, run only trusted bots.
    core
        The processor on which both bots of a match run, in turn; None: any.
    python
        The version of Python that files are taken to be written in: ``2``, ``3`` or ``guess``.
    libraries
        Libraries that bots may import, besides those of the course's document.
    """

    time_limit: float = 24.0
    load_limit: float = 60.0
    memory_mb: int = 2048
    walls: bool = True
    core: int | None = None
    python: str = GUESS
    libraries: Sequence[str] = ()


@dataclass(frozen=True)
class Spent:
    """The time that a bot took for a move.

    Attributes
    ----------
    seconds
        Seconds that count.
    processor
        Seconds that it computed.
    waited
        Seconds that it was kept waiting, which do not count.
    """

    seconds: float
    processor: float
    waited: float


class BotForfeitError(CaughtError):
    """A bot has lost, with the course's message and a detail.

    Attributes
    ----------
    message
        ``TIME OUT``, ``THREW AN EXCEPTION``, ``MODIFIED THE BOARD`` or ``INVALID MOVE``.
    detail
        More, for the team.
    """

    def __init__(self, message: str, detail: str) -> None:
        super().__init__(message)
        self.message, self.detail = message, detail


def shown_move(answer: Mapping[str, Any]) -> str:
    """A bot's answer as text that can be stored, where it is no move."""
    return plain(answer.get("shown", answer.get("move")), SHOWN_MOVE)


def in_time(program: BotProgram, limit: float) -> str:
    """Lines that let one of the package's own bots take at most half of the time limit for a move; empty for others."""
    name = re.search(r"^class (Team\w+)", program.source, re.M) if program.trusted else None
    if name is None or not re.search(r"^    seconds = ", program.source, re.M):
        return ""
    return f"\n\n{name[1]}.seconds = min({name[1]}.seconds, {limit / 2!r})\n"


class BotProcess:
    """One bot in one match.

    Parameters
    ----------
    program, interpreter
        The program, and the Python that runs it.
    conditions
        How it is run.
    stopping
        Once it is set, the methods wait no longer for the bot, and raise a :class:`~.clock.StoppedError`.
    runner
        The file that runs the program, and further files that it needs.
    more
        What else the first message says to it.
    moves
        Maximum questions.

    Raises
    ------
    ExtremeError
        If no process can be made.
    MachineError
        If the machine ends it, or one of our files fails in it before the program begins, or one of the package's own
        bots does.  The methods raise it too.
    """

    def __init__(
        self,
        program: BotProgram,
        interpreter: Interpreter,
        conditions: Conditions,
        stopping: threading.Event | None = None,
        runner: Sequence[Path] = (RUNNER,),
        more: Mapping[str, Any] | None = None,
        moves: int = MOVES,
    ) -> None:
        self._program, self._conditions, self._stopping = program, conditions, stopping
        self._asked, self._charged = 0, 0.0
        self._stalls = conditions.load_limit + STALLS * conditions.time_limit
        paths = list(interpreter.paths)
        if program.trusted:
            paths.append("/package" if conditions.walls else str(Path(__file__).resolve().parents[3]))
        converted = program.needs_conversion(interpreter.version)
        self._first = {
            "file": program.name,
            "source": program.source_for(interpreter.version) + in_time(program, conditions.time_limit),
            "shown": program.shown_for(interpreter.version),
            "converted": converted,
            "paths": paths,
            **(more or {}),
        }
        most = limits(conditions.memory_mb, conditions.load_limit + moves * conditions.time_limit)
        self.enclosed = Enclosed(
            [*runner, SEMANTICS] if converted else runner,
            interpreter,
            most,
            conditions.walls,
            core=conditions.core,
            package=program.trusted,
        )

    def load(self) -> float:
        """Import the program and make its player; returns the seconds it took.

        Raises
        ------
        BotForfeitError
            If that raises an error, ends the process, or takes too long.
        """
        clock = self._clock(self._conditions.load_limit)
        try:
            walls = self._conditions.walls
            call_rules = call_filter(self.enclosed.can_listen()) if walls else None
            self.enclosed.send({**self._first, "filter": call_rules}, clock)
            started = self.enclosed.receive(clock)  # our runner's words: only after them it runs the program
            if started.get("listener") is not None:
                self.enclosed.listen(started["listener"])
                self.enclosed.send({"listening": True}, clock)
        except SilentError as error:
            raise MachineError(f"Python does not start for a bot on this machine: {error}") from None
        try:
            answer = self.enclosed.receive(clock)  # from here on, the program's: it can forge all that it sends
        except SilentError as error:
            if error.late and not self._program.trusted:
                raise BotForfeitError("TIME OUT", f"It was not ready to play. {error}") from None
            raise self._failure(self._explain_end(error)) from None
        if "error" in answer:
            raise self._failure(plain(answer["error"]))
        self._stop(clock)
        return clock.seconds

    def ask(self, request: dict[str, Any]) -> tuple[dict[str, Any], Spent]:
        """Ask for a move; returns the answer, of which nothing but the number is checked, and the bot's time.

        Raises
        ------
        BotForfeitError
            If the bot gives no answer in time, raises an error, or ends.
        """
        self._asked += 1
        clock = self._clock(self._conditions.time_limit)
        try:
            self.enclosed.thaw()
            self.enclosed.send({**request, "number": self._asked}, clock)
            answer = self.enclosed.receive(clock)
        except SilentError as error:
            if error.late:
                raise BotForfeitError("TIME OUT", str(error)) from None
            raise self._failure(self._explain_end(error)) from None
        self._stop(clock)
        if type(answer.get("number")) is not int or answer["number"] != self._asked:
            raise self._failure("It answered before it was asked.")
        if "error" in answer:
            raise self._failure(plain(answer["error"]))
        return answer, Spent(*(round(one, 6) for one in (clock.seconds, clock.processor, clock.waited)))

    def _clock(self, limit: float) -> Clock:
        return Clock(self.enclosed.meter, limit, self._charged, self._stalls, self._stopping)

    def _stop(self, clock: Clock) -> None:
        """Freeze the process; what it has computed since its answer is charged with the next one."""
        self.enclosed.freeze()
        self._charged += clock.processor
        self._stalls = clock.stalls

    def _explain_end(self, error: SilentError) -> str:
        """How the process ended; after a forbidden system call, with the lines of the file that make one."""
        told = str(error)
        if not error.forbidden:
            return told
        calls = [f"line {line}, {what}" for line, what in self._program.breaches if what.endswith("prohibited")]
        return f"{told} In {self._program.name}: {'; '.join(calls)}." if calls else told

    def _failure(self, detail: str) -> Exception:
        """The error to raise: a forfeit, or, for one of the package's own bots, an error of the machine."""
        if self._program.trusted:
            last = detail.strip().splitlines()[-1]
            return MachineError(f"Our bot {self._program.name} cannot play on this machine: {last}")
        return BotForfeitError("THREW AN EXCEPTION", detail)

    def end(self) -> str:
        """End the process and all that it started; returns what it printed.  May be called twice."""
        return self.enclosed.end()


# ---------------------------------------------------------------------------------------------
# Modules that a course allows beside Python's own: a bot that imports one which is missing here is not at fault

_MISSING = r"(?:ModuleNotFoundError|ImportError): No module named '?({})\b"


class MissingModuleError(MachineError):
    """A bot imports a module that the course allows, and that is not installed here."""


def check_modules(file: str, detail: str, interpreter: Interpreter, libraries: Iterable[str] = ()) -> None:
    """Look whether a bot has failed for a module that is allowed and missing.

    Parameters
    ----------
    file
        The name of the bot's file.
    detail
        What it raised, as text; it may be made up, so the module itself is looked for.
    interpreter
        What ran it.
    libraries
        What the course allows besides the libraries of its document.

    Raises
    ------
    MissingModuleError
        If so; the message says how to install the module.
    """
    raised = detail.strip().splitlines()[-1:]
    named = re.match(_MISSING.format("|".join((*LIBRARIES, *libraries))), raised[0]) if raised else None
    if named and not _is_there(named[1], interpreter):
        user = f"The bot {file}, run by Python {'.'.join(map(str, interpreter.version))},"
        if interpreter.version[0] == 2:
            raise MissingModuleError(f"{user} needs {named[1]}, which the course allows; install it for that Python.")
        if named[1] not in LIBRARIES:  # the package that brings it may have another name
            raise MissingModuleError(f"{user} needs {named[1]}, which the course allows; install it beside pttt.")
        raise MissingModuleError(sentence(user, [named[1]]))


def _is_there(module: str, interpreter: Interpreter) -> bool:
    if interpreter.version[0] == 3:  # it sees the modules that are installed beside this package
        return find_spec(module) is not None
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(interpreter.paths)}
    command = [*interpreter.command, "-c", f"import {module}"]
    return subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 0
