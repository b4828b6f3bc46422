"""A process that is asked and answers in lines of text, and the processor time that it uses."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from pttt_ooc.other_games.arena.games.base import ArenaError

LONGEST = 1 << 16
"""Maximum bytes of an answer."""

LISTENS = 60.0
"""Seconds within which a program must read a line that it is sent."""

KEPT = 1 << 10
"""How many of the last bytes of the program's standard error are kept."""


class LineProcess:
    """A program that runs in a process group of its own.

    Its standard error is not shown, as engines chat; if it ends, the error message has its last line there.

    Parameters
    ----------
    command
        The program and its arguments.

    Raises
    ------
    ArenaError
        The program cannot be started.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self.name = command[0]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            raise ArenaError(f"{self.name} cannot be started: {error.strerror}.") from error
        assert self._process.stdin is not None
        os.set_blocking(self._process.stdin.fileno(), False)
        self._rest, self._said, self._closed = b"", b"", False
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as stream:
            while part := stream.read(1 << 12):
                self._said = (self._said + part)[-KEPT:]

    def _end(self) -> ArenaError:
        """The error that the program has ended, with its last line."""
        self._listener.join(1)
        lines = self._said.decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return ArenaError(f"{self.name} has ended{f' and said: {last[:200]}' if last else ''}.")

    def tell(self, line: str) -> None:
        """Send a line.

        Raises
        ------
        ArenaError
            The process has ended, or does not read.
        """
        assert self._process.stdin is not None
        stream, rest, until = self._process.stdin.fileno(), line.encode() + b"\n", time.monotonic() + LISTENS
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_WRITE)
            while rest:
                if not selector.select(max(until - time.monotonic(), 0)):
                    raise ArenaError(f"{self.name} does not read what it is told.")
                try:
                    rest = rest[os.write(stream, rest) :]
                except BlockingIOError:  # there is room for less
                    continue
                except OSError:
                    raise self._end() from None

    def hear(self, seconds: float) -> str:
        """The next line.

        Raises
        ------
        ArenaError
            The process has ended, is silent for so many seconds, or sends a line without end.
        """
        return self._line(time.monotonic() + seconds, f"has not answered for {seconds:g} s")

    def hear_word(self, word: str, seconds: float) -> str:
        """The next line whose first word is this one; others before it are ignored.

        Raises
        ------
        ArenaError
            As :meth:`hear`, or none comes within so many seconds in all.
        """
        until, fault = time.monotonic() + seconds, f"has sent no {word} for {seconds:g} s"
        while True:
            line = self._line(until, fault)
            if line.split(" ")[0] == word:
                return line
            if time.monotonic() > until:  # it may send so fast that it never is silent
                raise ArenaError(f"{self.name} {fault}.")

    def _line(self, until: float, fault: str) -> str:
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not selector.select(max(until - time.monotonic(), 0)):
                    raise ArenaError(f"{self.name} {fault}.")
                part = os.read(self._process.stdout.fileno(), 1 << 12)
                if not part:
                    raise self._end()
                if len(self._rest) > LONGEST:
                    raise ArenaError(f"{self.name} sends a line without end.")
                self._rest += part
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode(errors="replace").strip()

    def processor_seconds(self) -> float:
        """Processor time of the process and its descendants so far, with all their threads.

        Those that have ended count with the resolution of the system's table, a hundredth of a second.

        Raises
        ------
        ArenaError
            The process has ended, or the system does not tell.
        """
        try:
            return _processor_seconds(self._process.pid)
        except OSError as error:
            raise ArenaError(f"The processor time of {self.name} is not known: {error.strerror}.") from error

    def close(self) -> None:
        """End the process and its children; a second time does nothing."""
        if self._closed:
            return
        self._closed = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()


def _processor_seconds(process: int) -> float:
    """Processor time of a process, of its children that have ended, and of its living descendants."""
    place = Path("/proc") / str(process)
    total = time.clock_gettime(~process << 3 | 2)  # the clock of a process, as Linux numbers it
    fields = (place / "stat").read_text().rpartition(")")[2].split()
    total += (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")  # of the children that have ended
    for task in (place / "task").iterdir():
        for child in (task / "children").read_text().split():
            with contextlib.suppress(OSError):  # it has ended meanwhile
                total += _processor_seconds(int(child))
    return total
