"""The worker process: judges the submissions that have no verdict yet, one after the other."""

from __future__ import annotations

import logging
import os
import sys
import threading
from contextlib import closing, suppress
from pathlib import Path

from sqlalchemy import select

from pttt_ooc.course import queue
from pttt_ooc.course.database import Database
from pttt_ooc.course.jobs import Judge, Stopped
from pttt_ooc.course.kinds.strategies.assessor import open_assessor
from pttt_ooc.course.kinds.strategies.baseline import submit_baseline
from pttt_ooc.course.kinds.strategies.value import find_value
from pttt_ooc.course.models import BASELINE, Submission
from pttt_ooc.course.settings import read_settings
from pttt_ooc.course.storage import Storage
from pttt_ooc.disk.locks import hold
from pttt_ooc.disk.resources import cores
from pttt_ooc.disk.rights import keep_private
from pttt_ooc.disk.stop_signals import handle_signals, interrupt_on_signals, watch_parent
from pttt_ooc.errors import GraderError, PtttError
from pttt_ooc.service.logs import lines_logged, start_logging
from pttt_ooc.service.pulse import Pulse
from pttt_ooc.stages.compilation import ensure_compiled

log = logging.getLogger("pttt.grader.worker")
_POLL = 0.2  # seconds between two looks at an empty queue
_PAUSE = 5.0  # seconds after a failure of the database
_NICE = 10  # the pages come first


def run(data: Path, stopping: threading.Event) -> None:
    """Judge submissions until `stopping` is set.

    While it gets ready, a signal interrupts it wherever it is.  Afterwards a judgement that is broken off goes back
    into the queue.

    Raises
    ------
    GraderError
        If another worker is at work in the directory, or the grader cannot be opened.
    KeyboardInterrupt
        If a signal comes before it is ready.
    """
    settings, storage = read_settings(data), Storage(data)
    threads = settings.threads or cores()
    pulse = Pulse(storage.alive)
    busy = f"Another worker is at work in {data}; stop it first."
    with (
        hold(data / "worker.lock", lambda _: busy, error=GraderError),
        closing(Database.of(data, settings.database_url, settings.game)) as database,
        pulse.beating(),
        lines_logged(log),
    ):
        pulse.wait_for("kernels, which are compiled once for a machine, within minutes")
        ensure_compiled()
        pulse.wait_for("the value of the game")
        game_value = find_value(settings, database, storage, threads)
        pulse.wait_for("the index of the game, which is built once")
        with open_assessor(settings, storage, game_value.interval, threads) as assessor:
            pulse.wait_for(f"the strategies of {BASELINE}")
            submit_baseline(database, storage, assessor)
            judge = Judge(database, storage, assessor, stopping)
            judge.forget()
            with database.reading() as session:
                storage.sweep(session.scalars(select(Submission.file)))
            handle_signals(stopping)
            pulse.ready()
            log.info("ready", extra={"threads": threads})
            judge_all(judge, stopping)


def judge_all(judge: Judge, stopping: threading.Event) -> None:
    """Judge whatever is in the queue, and look again and again, until `stopping` is set."""
    while not stopping.is_set():
        try:
            with judge.database.reading() as session:
                number = queue.next_up(session)
            if number is None:
                stopping.wait(_POLL)
            else:
                judge.judge(number)
        except Stopped:
            log.info("put back", extra={"submission": number})
        except Exception:  # the database is away, or its disk is full: nothing is lost
            log.exception("the queue cannot be worked on")
            stopping.wait(_PAUSE)


def main() -> None:
    """Run the worker for the data directory that is the argument; the parent holds the other end of stdin."""
    keep_private()
    start_logging("worker")
    os.nice(_NICE)
    code = 0
    with suppress(KeyboardInterrupt):
        code = _main(Path(sys.argv[1]), threading.Event())
    log.info("stopped")
    sys.exit(code)


def _main(data: Path, stopping: threading.Event) -> int:
    interrupt_on_signals(stopping)
    watch_parent()
    try:
        run(data, stopping)
    except PtttError as error:
        log.error(str(error))
        return 1
    finally:
        stopping.set()  # from here on there is nothing to interrupt
    return 0


if __name__ == "__main__":
    main()
