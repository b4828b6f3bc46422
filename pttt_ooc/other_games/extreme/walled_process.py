"""A process behind walls, and the messages to and from it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pttt_ooc.errors import CaughtError
from pttt_ooc.other_games.extreme.clock import Clock, Meter
from pttt_ooc.other_games.extreme.system_calls import Listener, refusal_of, taken_descriptor
from pttt_ooc.other_games.extreme.walls import ENVIRONMENT, ExtremeError, Interpreter, inside, launch, visible

LONGEST = 1 << 20  # bytes of a message
SHOWN, TOLD = 20_000, 4000  # characters kept of what a process printed, and of its error
_ENDING_SECONDS = 60.0  # seconds within which the launcher must end after its process

OWN = [signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGABRT]
OWN += [signal.SIGSYS, signal.SIGXCPU, signal.SIGXFSZ, signal.SIGPIPE]
"""Signals that a process can cause itself, as the filter of system calls lets it send none."""

_UNKNOWN_CALL = (
    "It made a system call that is forbidden, as threads, processes, signals and networks are. The system does not say "
    "which call it was."
)


class MachineError(ExtremeError):
    """The machine ended a process or kept it from starting, or one of ours failed: not a stranger's fault."""


class SilentError(CaughtError):
    """A process gives no answer: its time is over, or its stream is closed or damaged.

    Attributes
    ----------
    late
        Whether its time is over.
    forbidden
        Whether it made a forbidden system call.
    code
        The code with which it ended by itself; None if it did not.
    """

    def __init__(self, sentence: str, *, late: bool = False, forbidden: bool = False, code: int | None = None) -> None:
        super().__init__(sentence)
        self.late, self.forbidden, self.code = late, forbidden, code


def plain(told: object, most: int = TOLD) -> str:
    """A process's words as text that can be stored: of limited length, without surrogates and zeros."""
    try:
        text = str(told)
    except RecursionError:
        text = "something that is nested too deeply to be shown"
    return text[:most].encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


class Enclosed:
    """A process that runs one of our files and answers messages; it runs only while it is asked.

    Parameters
    ----------
    script
        The file, and further files of the same directory that it needs.
    interpreter
        The Python that runs it.
    limits
        See :func:`~pttt_ooc.other_games.extreme.walls.limits`.
    walls
        Whether it runs behind walls.
    core
        The processor that it runs on; None: any.
    package
        Whether it sees this package.

    Attributes
    ----------
    pid
        Process number.
    meter
        The system's counters of it.

    Raises
    ------
    ExtremeError
        If no process can be made.
    MachineError
        If the machine ends it before the program begins.
    """

    def __init__(
        self,
        script: Sequence[Path],
        interpreter: Interpreter,
        limits: dict[str, tuple[int, int]],
        walls: bool,
        core: int | None = None,
        package: bool = False,
    ) -> None:
        self._unread = b""  # the beginning of a message
        self._process = -1  # the descriptor of the process, once there is one; it may have ended before
        self._listener: Listener | None = None
        self._open: list[int] = []
        self._output = tempfile.TemporaryFile()  # noqa: SIM115  (closed by `end`)
        to_it, from_it, status = self._pipe(), self._pipe(), self._pipe()
        self._to, self._from = to_it[1], from_it[0]
        keep = (to_it[0], from_it[1])
        spec = {
            "command": [*interpreter.command, inside(script[0]) if walls else str(script[0]), *map(str, keep)],
            "environment": ENVIRONMENT,
            "shown": visible(interpreter, script, package),
            "limits": limits,
            "walls": walls,
            "core": core,
            "keep": keep,
        }
        self._launcher = launch(spec, keep, status[1], self._output.fileno())
        try:
            for descriptor in (*keep, status[1]):
                self._close(descriptor)
            self.pid = self._read_status(status[0])
            with contextlib.suppress(ProcessLookupError):  # it has ended since, and whoever asks it hears how
                self._process = os.pidfd_open(self.pid)
                self._open.append(self._process)
            os.set_blocking(self._from, False)
            os.set_blocking(self._to, False)
            self.meter = Meter(self.pid)
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
        """The process's number, or the error if something went wrong before the program started."""
        told = b""
        while part := os.read(descriptor, 4096):
            told += part
        number, _, problem = told.decode(errors="replace").partition("!")
        if problem or not number.strip():
            if not problem:
                raise MachineError(f"A bot's process ended before its program began, {_ending(self._launcher.wait())}.")
            raise ExtremeError(f"No process can be made for a bot on this machine: {problem.strip()}.")
        return int(number)

    # -----------------------------------------------------------------------------------------
    # Messages

    def send(self, message: dict[str, Any], clock: Clock) -> None:
        """Send a message.

        Raises
        ------
        SilentError
            If the process does not read it in time, or has closed its stream.
        MachineError
            If the machine has ended the process; so does `receive`.
        """
        data = json.dumps(message).encode()
        rest = memoryview(struct.pack(">I", len(data)) + data)
        while rest:
            try:
                rest = rest[os.write(self._to, rest) :]
            except BlockingIOError:
                if not _ready(select.POLLOUT, min(clock.left, clock.tick), self._to) and clock.is_over():
                    raise SilentError(_late(clock), late=True) from None
            except BrokenPipeError:
                raise self._how_it_ended() from None

    def receive(self, clock: Clock, longest: int = LONGEST) -> dict[str, Any]:
        """The next message; the clock is read when it comes.

        Raises
        ------
        SilentError
            If none comes in time, or it cannot be read, or the process has closed its stream.
        """
        (size,) = struct.unpack(">I", self._read_first(4, clock)[:4])
        if size > longest:
            raise SilentError("Its answer is too long.")
        data = self._read_first(4 + size, clock)[4:]
        self._unread = b""
        clock.look()
        if clock.left <= 0:
            raise SilentError(_late(clock), late=True)
        try:
            message = json.loads(data)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise SilentError("Its answer cannot be read.")
        return message

    def _read_first(self, size: int, clock: Clock) -> bytes:
        """The first bytes of the message."""
        while len(self._unread) < size:
            heard = () if self._listener is None else (self._listener.descriptor,)
            ready = _ready(select.POLLIN, min(clock.left, clock.tick), self._from, *heard)
            if self._from in ready:
                part = os.read(self._from, size - len(self._unread))
                if not part:
                    raise self._how_it_ended()
                self._unread += part
            elif self._listener and ready.get(self._listener.descriptor, 0) & select.POLLIN:
                with contextlib.suppress(FileNotFoundError):  # it has ended since, and the stream says how
                    raise SilentError(refusal_of(self._listener.call()), forbidden=True)
            elif clock.is_over():
                raise SilentError(_late(clock), late=True)
            clock.look()
        return self._unread

    # -----------------------------------------------------------------------------------------
    # Forbidden system calls

    def can_listen(self) -> bool:
        """Whether the system lets this process take descriptors of that one, as :meth:`listen` must."""
        try:
            os.close(taken_descriptor(self._process, 0))  # of its standard input
        except OSError:
            return False
        return True

    def listen(self, number: object) -> None:
        """Listen to its forbidden system calls from now on, through its descriptor with that number; it waits in each.

        Raises
        ------
        MachineError
            If it has no such descriptor: the number comes from our file, before a stranger's program runs.
        """
        try:
            if type(number) is not int or not 0 <= number < 1 << 31:
                raise OSError("no descriptor")
            self._listener = Listener(self._process, number)
        except OSError as error:
            raise MachineError(f"The system does not tell of a bot's forbidden system calls: {error}.") from error
        self._open.append(self._listener.descriptor)

    # -----------------------------------------------------------------------------------------
    # Freezing and ending

    def _signal(self, number: signal.Signals) -> None:
        if self._process >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._process, number)

    def freeze(self) -> None:
        """Stop the process until it is thawed."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let the process run again."""
        self._signal(signal.SIGCONT)

    def _how_it_ended(self) -> SilentError:
        """The error of a process that has closed its stream.

        Raises
        ------
        MachineError
            If the process did not end by itself.
        """
        if not self.meter.is_ending():  # else the kernel has closed it
            return SilentError("It closed the stream to the referee.")
        try:
            code = self._launcher.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            raise MachineError("A process does not end.") from None
        if code >= 0:
            return SilentError(f"Its process ended {_ending(code)}.", code=code)
        if -code not in OWN:
            raise MachineError(
                f"A bot's process was ended from outside, {_ending(code)}: by a person, or as the machine had no "
                "memory left."
            )
        if -code == signal.SIGSYS:
            return SilentError(_UNKNOWN_CALL, forbidden=True)
        if -code == signal.SIGXCPU:
            return SilentError("It used up its processor time.")
        return SilentError(f"Its process was ended {_ending(code)}.")

    def printed_text(self) -> str:
        """The beginning of what the process has printed."""
        self._output.seek(0)
        return plain(self._output.read(SHOWN).decode(errors="replace"), SHOWN)

    def end(self) -> str:
        """End the process and all that it started; returns what it printed.  May be called twice."""
        if self._output.closed:
            return ""
        if self._process >= 0:
            self._signal(signal.SIGKILL)
            _ready(select.POLLIN, None, self._process)  # it is gone
        if self._launcher.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._launcher.pid, signal.SIGKILL)  # also what a bot without walls has started
            self._launcher.wait()
        printed = self.printed_text()
        self._output.close()
        for descriptor in list(self._open):
            self._close(descriptor)
        return printed


def _late(clock: Clock) -> str:
    return (
        f"It gave no answer in {clock.limit:g} s: it computed for {clock.processor:.3f} s, and {clock.seconds:.3f} s "
        f"count; it was kept waiting for {clock.waited:.3f} s, which do not."
    )


def _ending(code: int) -> str:
    """How a process ended, from what `Popen` tells."""
    if code >= 0:
        return f"with the code {code}"
    known = -code in {*signal.Signals}  # most real-time signals have no name
    return f"by the signal {signal.Signals(-code).name if known else -code}"


def _ready(event: int, seconds: float | None, *descriptors: int) -> dict[int, int]:
    """Wait until one of the descriptors can be used, or is at its end: the events of each; None waits for ever."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, event)
    return dict(poll.poll(None if seconds is None else max(0.0, seconds) * 1000))
