"""The worker's heartbeat: a file that it touches every few seconds, and that says what it waits for."""

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

log = logging.getLogger("pttt.web.pulse")
_BEAT_SECONDS = 2.0  # seconds between two heartbeats
_ALIVE_SECONDS = 30.0  # seconds after its last heartbeat for which the worker counts as alive


class Pulse:
    """The worker's side.

    Parameters
    ----------
    file
        The heartbeat.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def wait_for(self, what: str) -> None:
        """Write to file and log what is missing before submissions can be judged."""
        log.info("getting ready", extra={"waits_for": what})
        self._write(what)

    def ready(self) -> None:
        """Write that submissions are judged from now on."""
        self._write("")

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Touch the file regularly during the block, and delete it afterwards."""
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
        except StoreError as error:  # submissions are judged although the disk is full
            log.error(str(error))

    def _beat(self, over: threading.Event) -> None:
        while True:
            try:
                self._file.touch()
            except OSError as error:
                log.error("the heartbeat cannot be written", extra={"reason": error.strerror})
            if over.wait(_BEAT_SECONDS):
                return


@dataclass(frozen=True)
class Sign:
    """The state of the worker, from its heartbeat.

    Attributes
    ----------
    age
        Seconds since its last heartbeat; None if there is none.
    waits_for
        What it waits for before it can judge, or the sentence of a failure; empty if it judges.
    """

    age: float | None
    waits_for: str

    @property
    def alive(self) -> bool:
        """Whether the worker runs."""
        return self.age is not None and self.age < _ALIVE_SECONDS

    @property
    def words(self) -> str:
        """A sentence for somebody whose submission waits; empty if the worker judges."""
        if not self.alive:
            return "The process that judges is not running yet; if this stays for minutes, tell the instructors."
        if not self.waits_for:
            return ""
        if self.waits_for.endswith("."):  # a failure
            return f"Nothing can be judged at the moment: {self.waits_for}"
        return f"The machine prepares {self.waits_for}."


def read_sign(file: Path) -> Sign:
    """The worker's state, from its file."""
    try:
        # A time in the future means that the clock was put back since: it counts like the same time in the past.
        return Sign(abs(time.time() - file.stat().st_mtime), file.read_text(encoding="utf-8", errors="replace"))
    except FileNotFoundError:
        return Sign(None, "")
