"""The worker's sign of life: a file that it touches every few seconds, with what it waits for."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pttt_ooc.disk.files import atomic_write_text
from pttt_ooc.errors import StoreError

log = logging.getLogger("pttt.grader.worker")
_BEAT = 2.0  # seconds between two signs of life
_SILENT = 30.0  # seconds without one after which the worker counts as gone


class Pulse:
    """The worker's side.

    Parameters
    ----------
    file
        The sign of life.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def wait_for(self, what: str) -> None:
        """Write down, in the file and in the log, what is missing before submissions can be judged."""
        log.info("getting ready", extra={"waits_for": what})
        self._write(what)

    def ready(self) -> None:
        """Write down that submissions are judged from now on."""
        self._write("")

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Give signs of life during the block."""
        over = threading.Event()
        thread = threading.Thread(target=self._beat, args=(over,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            self._file.unlink(missing_ok=True)

    def _write(self, what: str) -> None:
        try:
            atomic_write_text(self._file, what)
        except StoreError as error:  # a full disk keeps nobody from judging
            log.error(str(error))

    def _beat(self, over: threading.Event) -> None:
        while True:
            try:
                self._file.touch()
            except OSError as error:
                log.error("no sign of life can be given", extra={"reason": error.strerror})
            if over.wait(_BEAT):
                return


@dataclass(frozen=True)
class Sign:
    """What is known of the worker.

    Attributes
    ----------
    age
        Seconds since its last sign of life; None if there is none.
    waits_for
        What it waits for before it can judge; empty if for nothing.
    """

    age: float | None
    waits_for: str

    @property
    def alive(self) -> bool:
        """Whether there is a worker."""
        return self.age is not None and self.age < _SILENT


def read_sign(file: Path) -> Sign:
    """The latest sign of life."""
    try:
        # A sign that is to come is as old as one that long ago: the clock was put back, and nobody has given one since.
        return Sign(abs(time.time() - file.stat().st_mtime), file.read_text(encoding="utf-8", errors="replace"))
    except FileNotFoundError:
        return Sign(None, "")
