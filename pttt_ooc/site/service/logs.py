"""Structured logs: one JSON object a line, on stderr."""

from __future__ import annotations

import io
import json
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr

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
