"""The processes that judge: how they begin and end, and what they do when something fails."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from sqlalchemy.orm import Session

from pttt_ooc.course.data.database import Database
from pttt_ooc.disk.permissions import keep_private
from pttt_ooc.disk.stop_signals import interrupt_on_signals, watch_parent
from pttt_ooc.errors import PtttError
from pttt_ooc.site.service.logs import start_logging
from pttt_ooc.site.service.pulse import Pulse

log = logging.getLogger("pttt.course.worker")
_POLL_SECONDS = 0.2  # seconds between two looks at an empty queue


class Stopped(Exception):
    """The worker must stop: the submission goes back into the queue."""


Rehearse: TypeAlias = Callable[[Database, Path, str, Callable[[Any], dict[str, Any]]], Callable[[], bool]]


@dataclass(frozen=True)
class Grading:
    """What a worker needs from the grades, a layer above it.

    Attributes
    ----------
    settle
        Writes down all grades that have changed, if there is anything to grade.  Takes the session, the course's
        directory, and what led to it.
    rehearse
        Returns the step of the dry runs of a kind.  Takes the database, the course's directory, the kind, and a
        function that judges a row and returns its verdict as columns.
    """

    settle: Callable[[Session, Path, str], None]
    rehearse: Rehearse


class Work:
    """What a worker does again and again.

    Parameters
    ----------
    pulse
        Tells what the worker waits for after a failure.
    stopping
        Ends the work when it is set.
    pause
        Seconds to wait after a failure.
    """

    def __init__(self, pulse: Pulse, stopping: threading.Event, pause: float) -> None:
        self._pulse, self._stopping, self._pause = pulse, stopping, pause
        self._lock = threading.Lock()  # of the pulse, as several threads may repeat steps

    def repeat(self, step: Callable[[], bool], check: Callable[[], object] = lambda: None) -> None:
        """Do `step` again and again, at once if it had something to do; what fails is logged and tried again later.

        Parameters
        ----------
        check
            Called before the first step, and again after each failure.
        """
        while not self._stopping.is_set():
            try:
                check()
                self._tell("")
                while not self._stopping.is_set():
                    if not step():
                        self._stopping.wait(_POLL_SECONDS)
                return
            except Stopped:
                return
            except (PtttError, OSError) as error:  # such as a database that is away for a while: nothing is lost
                log.error(str(error))
                self._tell(f"{str(error).rstrip('.')}.")
            except Exception as error:
                log.exception("an unexpected error")
                self._tell(f"There was an unexpected error, {type(error).__name__}.")
            self._stopping.wait(self._pause)

    def _tell(self, waits_for: str) -> None:
        with self._lock:
            if waits_for:
                self._pulse.wait_for(waits_for)
            else:
                self._pulse.ready()


def run_worker(name: str, run: Callable[[Path, threading.Event], None], niceness: int = 0) -> None:
    """Run a worker for the data directory that is the process's argument; the parent holds the other end of stdin.

    Parameters
    ----------
    name
        Of the process, in the log.
    run
        Works until the event is set.  Until it handles signals itself, they interrupt it wherever it is.
    """
    keep_private()
    start_logging(name)
    os.nice(niceness)
    code = 0
    with suppress(KeyboardInterrupt):
        code = _run(run)
    log.info("stopped")
    sys.exit(code)


def _run(run: Callable[[Path, threading.Event], None]) -> int:
    stopping = threading.Event()
    interrupt_on_signals(stopping)
    watch_parent()
    try:
        run(Path(sys.argv[1]), stopping)
    except PtttError as error:
        log.error(str(error))
        return 1
    finally:
        stopping.set()  # from here on there is nothing to interrupt
    return 0
