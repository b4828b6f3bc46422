"""A bot's process, as the referee sees it: it is started, asked for moves within a time limit, and ended.

The process is frozen while it is not asked.  Its clock is its own: if the machine sleeps, the referee is stopped, or
the process waits for a processor or a disk, an answer that comes too late does not count, and the bot is asked again.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import struct
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pttt_ooc.extreme.programs import Program
from pttt_ooc.extreme.walls import (
    ENVIRONMENT,
    INSIDE,
    RUNNER,
    SIGSYS,
    ExtremeError,
    Interpreter,
    filter_code,
    launch,
    limits,
    visible,
)

LONGEST = 1 << 20  # bytes of a message
AGAIN = 10
"""So often a bot is asked again for one move."""
STALLS = 3
"""So often in a match a bot gets its time again as it waited for a disk, or for the system: it can bring that about."""
SHOWN, TOLD = 20_000, 4000  # characters of what a bot printed, and of its error, that are kept


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
        Whether the processes are shut in; without, only bots that one trusts should run.
    core
        The processor that both bots of a match run on, in turn; None for any.
    """

    time_limit: float = 24.0
    load_limit: float = 60.0
    memory_mb: int = 2048
    walls: bool = True
    core: int | None = None


class ForfeitError(Exception):
    """A bot has lost; the message is one of the course's, the detail says more.

    Attributes
    ----------
    message
        ``TIME OUT``, ``THREW AN EXCEPTION``, ``MODIFIED THE BOARD`` or ``INVALID MOVE``.
    detail
        For the team.
    seconds
        What the bot took.
    """

    def __init__(self, message: str, detail: str, seconds: float = 0.0) -> None:
        super().__init__(message)
        self.message, self.detail, self.seconds = message, detail, seconds


def plain(told: object, most: int = TOLD) -> str:
    """What a bot's process has told, as text that can be kept: not too long, and without what no file can hold."""
    return str(told)[:most].encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


class _TooLateError(Exception):
    """No answer in time."""


class _GoneError(Exception):
    """The process has closed its stream."""


def _ready(descriptor: int, event: int, seconds: float | None) -> bool:
    """Wait until a descriptor can be used, or is at its end; None waits for ever."""
    poll = select.poll()
    poll.register(descriptor, event)
    return bool(poll.poll(None if seconds is None else max(0.0, seconds) * 1000))


TICK = 0.1  # seconds between two looks at a process that thinks, at most


PATIENCE = 10.0
"""Seconds that a process may wait for a processor when its time has ended, until it is taken to have run."""


class _Watch:
    """The clock of one question, which notices what keeps a bot from thinking.

    Parameters
    ----------
    pid
        The bot's process.
    limit
        Seconds for the answer.
    """

    def __init__(self, pid: int, limit: float) -> None:
        self._pid, self.limit, self.restarts = pid, limit, 0
        self.tick = min(TICK, limit / 10)
        self._begin_again()

    def _begin_again(self) -> None:
        self._begin = self._last = time.monotonic()
        self.end = self._begin + self.limit
        self._waited = self._waiting()
        self._lost = self._stalled = 0.0

    def restart(self) -> None:
        """Give the whole time once more."""
        self.restarts += 1
        self._begin_again()

    def elapsed(self) -> float:
        """Seconds since the clock was started."""
        return time.monotonic() - self._begin

    def look(self) -> None:
        """Look at the process; to be called every `tick` seconds."""
        since = time.monotonic() - self._last
        if since < self.tick / 2:
            return
        self._last += since
        state = self._state()
        if state in "Tt":
            self._lost += since
        elif state == "D":
            self._stalled += since
        else:
            self._lost += max(0.0, since - 2 * self.tick)  # the referee itself did not run

    def kept_from_running(self, stalls: bool = False) -> bool:
        """Whether the process, or the referee, did not run for a tenth of the time, by no will of their own.

        Parameters
        ----------
        stalls
            Whether it counts that the process waited for a disk, or in the system.
        """
        self.look()
        self._let_run()
        return self._lost + self._waiting() - self._waited + stalls * self._stalled > 0.1 * self.limit

    def _state(self) -> str:
        """The letter of the process's state: T for stopped, D for waiting for a disk."""
        try:
            return Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            return "?"

    def _let_run(self) -> None:
        """Wait until a process that waits for a processor has run: the system counts a wait when it is over."""
        before, end = self._schedule(), time.monotonic() + PATIENCE
        while self._state() == "R" and self._schedule() == before and time.monotonic() < end:
            time.sleep(0.001)

    def _waiting(self) -> float:
        """Seconds that the process, ready to run, has waited for a processor."""
        return self._schedule()[1] / 1e9

    def _schedule(self) -> tuple[int, int]:
        """Nanoseconds that the process has run, and has waited to; 0 where the system does not say."""
        try:
            ran, waited, *_ = map(int, Path(f"/proc/{self._pid}/schedstat").read_text().split())
        except (OSError, ValueError):
            return 0, 0
        return ran, waited


class BotProcess:
    """One bot in one match.

    Parameters
    ----------
    program, interpreter
        What runs, and in what.
    conditions
        How.

    Raises
    ------
    ExtremeError
        If no process can be made; that is no fault of the bot's.
    """

    def __init__(self, program: Program, interpreter: Interpreter, conditions: Conditions) -> None:
        self._conditions = conditions
        self._asked, self._stalls = 0, STALLS
        self._unread = b""  # the beginning of a message
        self._process: int | None = None
        self._open: list[int] = []
        self._output = tempfile.TemporaryFile()  # noqa: SIM115  (closed by `end`)
        to_bot, from_bot, status = self._pipe(), self._pipe(), self._pipe()
        self._to, self._from = to_bot[1], from_bot[0]
        keep = (to_bot[0], from_bot[1])
        spec = {
            "command": [*interpreter.command, INSIDE if conditions.walls else str(RUNNER), *map(str, keep)],
            "environment": ENVIRONMENT,
            "shown": visible(interpreter, program.trusted),
            "limits": limits(
                conditions.memory_mb, conditions.load_limit + 81 * 2 * (1 + AGAIN) * conditions.time_limit
            ),
            "walls": conditions.walls,
            "core": conditions.core,
            "keep": keep,
        }
        self._launcher = launch(spec, keep, status[1], self._output.fileno())
        try:
            for descriptor in (*keep, status[1]):
                self._close(descriptor)
            self._pid = self._read_status(status[0])
            self._process = os.pidfd_open(self._pid)
            self._open.append(self._process)
            os.set_blocking(self._from, False)
            os.set_blocking(self._to, False)
            paths = list(interpreter.paths)
            if program.trusted:
                paths.append("/package" if conditions.walls else str(Path(__file__).resolve().parent.parent.parent))
            self._first = {
                "file": program.name,
                "source": program.source_for(interpreter.version),
                "converted": program.converted(interpreter.version),
                "paths": paths,
                "filter": filter_code() if conditions.walls else None,
            }
        except BaseException:
            self.end()
            raise

    def _pipe(self) -> tuple[int, int]:
        ends = os.pipe()
        self._open += ends
        return ends

    def _close(self, descriptor: int) -> None:
        self._open.remove(descriptor)
        os.close(descriptor)

    def _read_status(self, descriptor: int) -> int:
        """The process's number; what goes wrong before the bot's program starts comes here too."""
        told = b""
        while part := os.read(descriptor, 4096):
            told += part
        number, _, problem = told.decode(errors="replace").partition("!")
        if problem or not number.strip():
            reason = problem.strip() or "it ended at once"
            raise ExtremeError(f"No process can be made for a bot on this machine: {reason}.")
        return int(number)

    # -----------------------------------------------------------------------------------------
    # Asking

    def load(self) -> float:
        """Import the program and make its player; returns the seconds that took.

        Raises
        ------
        ForfeitError
            If that raises an error, ends the process, or takes too long.
        """
        begin = time.monotonic()
        try:
            self._send(self._first, begin + self._conditions.load_limit)
            for _ in ("started", "ready"):
                answer = self._receive(begin + self._conditions.load_limit)
                if "error" in answer:
                    raise ForfeitError("THREW AN EXCEPTION", plain(answer["error"]))
        except _TooLateError:
            limit = self._conditions.load_limit
            raise ForfeitError("TIME OUT", f"It was not ready to play after {limit:g} s.") from None
        except _GoneError:
            raise ForfeitError("THREW AN EXCEPTION", self._how_it_ended()) from None
        self._freeze()
        return time.monotonic() - begin

    def ask(self, request: dict[str, Any]) -> tuple[dict[str, Any], float, int]:
        """Ask for a move: the answer, the seconds that it took, and how often the bot was asked again.

        Raises
        ------
        ForfeitError
            If the bot gives no answer in time, raises an error, or ends.
        """
        again = 0
        while True:
            self._asked += 1
            watch = _Watch(self._pid, self._conditions.time_limit)
            try:
                self._thaw()
                self._send({**request, "number": self._asked}, watch.end)
                answer = self._answer(watch)
                seconds = watch.elapsed()
                self._freeze()
            except _TooLateError:
                raise ForfeitError("TIME OUT", f"It gave no answer in {watch.limit:g} s.", watch.elapsed()) from None
            except _GoneError:
                raise ForfeitError("THREW AN EXCEPTION", self._how_it_ended(), watch.elapsed()) from None
            if "error" in answer:
                raise ForfeitError("THREW AN EXCEPTION", plain(answer["error"]), seconds)
            if not watch.restarts or again == AGAIN:
                return answer, seconds, again
            again += 1
            request = {**request, "moves": []}  # it knows them by now

    def _answer(self, watch: _Watch) -> dict[str, Any]:
        """The answer to the last question; after an interruption, the bot gets its whole time to come to an end."""
        while True:
            try:
                answer = self._receive(watch.end, watch)
            except _TooLateError:
                if watch.restarts >= AGAIN or not self._excused(watch):
                    raise
                watch.restart()
                continue
            if answer.get("number") != self._asked:
                raise ForfeitError("THREW AN EXCEPTION", "It answered before it was asked.", watch.elapsed())
            return answer

    def _excused(self, watch: _Watch) -> bool:
        """Whether something kept it from thinking that is no fault of its own, as far as one can know."""
        if watch.kept_from_running():
            return True
        stalled = self._stalls > 0 and watch.kept_from_running(stalls=True)
        self._stalls -= stalled
        return stalled

    def _send(self, message: dict[str, Any], end: float) -> None:
        data = json.dumps(message).encode()
        rest = memoryview(struct.pack(">I", len(data)) + data)
        while rest:
            try:
                rest = rest[os.write(self._to, rest) :]
            except BlockingIOError:
                if not _ready(self._to, select.POLLOUT, end - time.monotonic()):
                    raise _TooLateError from None
            except BrokenPipeError:
                raise _GoneError from None

    def _receive(self, end: float, watch: _Watch | None = None) -> dict[str, Any]:
        (size,) = struct.unpack(">I", self._begun(4, end, watch)[:4])
        if size > LONGEST:
            raise ForfeitError("THREW AN EXCEPTION", "Its answer is too long.")
        data = self._begun(4 + size, end, watch)[4:]
        self._unread = b""
        try:
            message = json.loads(data)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise ForfeitError("THREW AN EXCEPTION", "Its answer cannot be read.")
        return message

    def _begun(self, size: int, end: float, watch: _Watch | None) -> bytes:
        """The first bytes of the message, which stay there: what comes too late may be waited for again."""
        while len(self._unread) < size:
            left = end - time.monotonic()
            if watch:
                watch.look()
            if _ready(self._from, select.POLLIN, min(left, watch.tick if watch else TICK)):
                part = os.read(self._from, size - len(self._unread))
                if not part:
                    raise _GoneError
                self._unread += part
            elif left <= 0:
                raise _TooLateError
        if watch and time.monotonic() > end:
            raise _TooLateError
        return self._unread

    # -----------------------------------------------------------------------------------------
    # Freezing and ending

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._process, number)  # type: ignore[arg-type]

    def _freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def _thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _how_it_ended(self) -> str:
        """One sentence about a process that has closed its stream."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._launcher.wait(2)
            if code == 128 + SIGSYS:
                return (
                    "It made a system call that bots may not make: threads, processes, signals and networks are such."
                )
            if code == 128 + signal.SIGXCPU:
                return "It used up its processor time."
            if code >= 128:
                return f"Its process was ended by the signal {signal.Signals(code - 128).name}."
            return f"Its process ended with the code {code}."
        return "It closed the stream to the referee."

    def printed(self) -> str:
        """The beginning of what the bot has printed."""
        self._output.seek(0)
        return plain(self._output.read(SHOWN).decode(errors="replace"), SHOWN)

    def end(self) -> str:
        """End the process with all that it may have started; returns what it printed.  May be called twice."""
        if self._output.closed:
            return ""
        if self._process is not None:
            self._signal(signal.SIGKILL)
            _ready(self._process, select.POLLIN, None)  # it is gone
        if self._launcher.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._launcher.pid, signal.SIGKILL)  # also what a bot without walls has started
            self._launcher.wait()
        printed = self.printed()
        self._output.close()
        for descriptor in list(self._open):
            self._close(descriptor)
        return printed
