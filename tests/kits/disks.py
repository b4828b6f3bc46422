"""Shared by the tests: directories in memory, and small disks of their own, which can be full or read-only."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self


@contextmanager
def in_memory_if_possible(otherwise: Path) -> Iterator[Path]:
    """A new directory in memory where there is one: a kill, unlike a power cut, does not ask what is synced."""
    memory = Path("/dev/shm")
    if not (memory.is_dir() and os.access(memory, os.W_OK)):
        yield otherwise
        return
    with tempfile.TemporaryDirectory(dir=memory) as directory:
        yield Path(directory)


class NoDiskError(Exception):
    """The machine does not let us mount anything."""


class Disk:
    """A file system in memory, seen by nobody else and gone with the shell that mounted it: nothing to clean up.

    The shell has a mount namespace of its own (and a user namespace, where we are not the superuser); other
    processes get there through its directory in /proc.

    Parameters
    ----------
    place
        An empty directory.
    megabytes
        The size.
    """

    def __init__(self, place: Path, megabytes: float) -> None:
        mount = f"mount -t tmpfs -o size={int(megabytes * 1024)}k tmpfs '{place}' && cd '{place}' && echo mounted"
        for options in (["-m"], ["-rm"]):
            if not shutil.which("unshare") or (options == ["-m"] and os.geteuid()):
                continue
            # Its own session: Ctrl-C in the terminal is for the tests.
            self._shell = subprocess.Popen(
                ["unshare", *options, "sh"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            )
            if self._say(mount) == "mounted":
                self.path = Path(f"/proc/{self._shell.pid}/root{place}")
                if os.path.ismount(self.path):
                    return
            self.close()
        raise NoDiskError

    def _say(self, command: str) -> str:
        assert self._shell.stdin and self._shell.stdout
        try:
            self._shell.stdin.write(command + " || echo failed\n")
            self._shell.stdin.flush()
        except BrokenPipeError:
            return ""
        return self._shell.stdout.readline().strip()

    def read_only(self, wanted: bool = True) -> None:
        """Let nobody write, or again."""
        assert self._say(f"mount -o remount,{'ro' if wanted else 'rw'} . && echo done") == "done"

    def fill(self, left: int = 0) -> None:
        """Write a file ``ballast`` until only so many bytes are free."""
        with open(self.path / "ballast", "ab") as file:
            try:
                while (free := self.free - left) > 0:
                    file.write(bytes(min(free, 1 << 16)))
                    file.flush()
            except OSError:
                pass

    def empty(self) -> None:
        """Delete the ballast."""
        (self.path / "ballast").unlink()

    @property
    def free(self) -> int:
        """How many bytes are free."""
        found = os.statvfs(self.path)
        return found.f_bavail * found.f_frsize

    def close(self) -> None:
        """Give the memory back."""
        self._shell.kill()
        self._shell.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
