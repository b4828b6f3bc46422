"""A process that is asked by lines and answers by lines, and the processor time that it uses."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence

from pttt_ooc.arena.games.base import ArenaError

LONGEST = 1 << 16
"""Characters of an answer."""


class LineProcess:
    """A program that runs in a process group of its own.

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
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, bufsize=0
            )
        except OSError as error:
            raise ArenaError(f"{self.name} cannot be started: {error.strerror}.") from error
        self._rest = b""

    def tell(self, line: str) -> None:
        """Send a line."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
        except OSError:
            raise ArenaError(f"{self.name} has ended.") from None

    def hear(self, seconds: float) -> str:
        """The next line.

        Raises
        ------
        ArenaError
            The process has ended, is silent for so many seconds, or sends a line without end.
        """
        assert self._process.stdout is not None
        until = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not selector.select(max(until - time.monotonic(), 0)):
                    raise ArenaError(f"{self.name} has not answered for {seconds:g} s.")
                part = os.read(self._process.stdout.fileno(), 1 << 12)
                if not part or len(self._rest) > LONGEST:
                    raise ArenaError(f"{self.name} {'sends a line without end' if part else 'has ended'}.")
                self._rest += part
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode(errors="replace").strip()

    def processor_seconds(self) -> float:
        """Processor time of all threads of the process so far; not of its children.

        Raises
        ------
        ArenaError
            The process has ended, or the system does not tell.
        """
        try:
            return time.clock_gettime(~self._process.pid << 3 | 2)  # the clock of a process, as Linux numbers it
        except OSError as error:
            raise ArenaError(f"The processor time of {self.name} is not known: {error.strerror}.") from error

    def close(self) -> None:
        """End the process and its children."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
