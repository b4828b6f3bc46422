"""The log of several processes in one file that does not grow for ever.

All processes write to stderr, which they inherit.  Here it is a pipe, and one thread of the first process writes what
comes into the file: so lines stay whole, and one writer renames the file when it is full.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from pttt_ooc.disk.files import explain_errors

MOST_BYTES = 10_000_000
"""Bytes after which the file is renamed."""

OLDER = 9
"""Number of full files that are kept."""


@contextmanager
def logged_to(file: Path | None, most_bytes: int = MOST_BYTES, older: int = OLDER) -> Iterator[None]:
    """Write into `file` what this process and those that it starts write to stderr; None: leave it.

    When the disk is full, lines are lost: nobody waits for the log.  What ends the block is still told on stderr.

    Raises
    ------
    StoreError
        If the file cannot be written.
    """
    if file is None:
        yield
        return
    log = _RotatingFile(file, most_bytes, older)
    before, (read, write) = os.dup(2), os.pipe()
    sys.stderr.flush()
    os.dup2(write, 2)
    os.close(write)
    thread = threading.Thread(target=_copy, args=(read, log), daemon=True)
    thread.start()
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(before, 2)  # the pipe ends once all processes that inherited it have ended
        os.close(before)
        thread.join(5)


def _copy(read: int, log: _RotatingFile) -> None:
    with open(read, "rb") as lines:
        for line in lines:
            log.write(line)


class _RotatingFile:
    """A file for lines, and its older ones."""

    def __init__(self, file: Path, most_bytes: int, older: int) -> None:
        self._file, self._most_bytes, self._older = file, most_bytes, older
        with explain_errors(f"write the log {file}"):
            file.parent.mkdir(parents=True, exist_ok=True)
            self._opened = self._open()

    def _open(self) -> BinaryIO:
        return open(self._file, "ab", buffering=0, opener=_private)

    def write(self, line: bytes) -> None:
        """Write a line; it is lost if that is not possible."""
        with suppress(OSError):
            if self._opened.tell() and self._opened.tell() + len(line) > self._most_bytes:
                self._rotate()
            self._opened.write(line)

    def _rotate(self) -> None:
        for number in range(self._older, 0, -1):
            former = self._name(number - 1)
            if former.exists():
                os.replace(former, self._name(number))
        full, self._opened = self._opened, self._open()
        full.close()

    def _name(self, number: int) -> Path:
        return self._file if number == 0 else self._file.with_name(f"{self._file.name}.{number}")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
