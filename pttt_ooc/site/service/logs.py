"""Structured logs: one JSON object a line, on stderr, or of all processes in one file that does not grow for ever.

All processes write to stderr, which they inherit.  To log into a file, stderr becomes a pipe, and one thread of the
first process copies it to the file: lines stay whole, and only one writer renames a full file.
"""

from __future__ import annotations

import io
import json
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from pathlib import Path
from typing import BinaryIO

from pttt_ooc.disk.files import explain_errors

_USUAL = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message", "taskName"}


class JsonLines(logging.Formatter):
    """Formats a record and its extra fields."""

    def __init__(self, process: str) -> None:
        super().__init__()
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line of JSON."""
        line = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "process": self._process,
            "event": record.getMessage(),
        }
        line |= {key: value for key, value in vars(record).items() if key not in _USUAL}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def start_logging(process: str) -> None:
    """Write all logs of this process as JSON; `process` is its name, such as ``"web"``."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(process))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True
    logging.getLogger("uvicorn.access").setLevel(logging.WARNING)
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # it warns of each bad request


@contextmanager
def lines_logged(log: logging.Logger) -> Iterator[None]:
    """Log what the block writes to stderr, one event for each line."""
    with redirect_stderr(_Lines(log)):
        yield


class _Lines(io.TextIOBase):
    def __init__(self, log: logging.Logger) -> None:
        self._log, self._begun = log, ""

    def write(self, text: str) -> int:
        *lines, self._begun = (self._begun + text).split("\n")
        for line in lines:
            if line.strip():
                self._log.info(line.strip())
        return len(text)


# ---------------------------------------------------------------------------------------------
# The log of several processes in one file


MOST_BYTES = 10_000_000
"""Bytes after which the file is renamed."""

OLDER = 9
"""Number of full files that are kept."""


@contextmanager
def logged_to(file: Path | None, most_bytes: int = MOST_BYTES, older: int = OLDER) -> Iterator[None]:
    """Write into `file` what this process and those that it starts write to stderr; None: leave stderr alone.

    When the disk is full, lines are lost: no process waits for the log.  An error that ends the block goes to stderr.

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
        """Write a line; if that fails, the line is lost."""
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
