"""The worker process: takes submissions from the queue and judges them, one after the other."""

from __future__ import annotations

import fcntl
import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from huey import SqliteHuey
from huey.api import TaskWrapper
from huey.consumer import Consumer
from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.disk.resources import cores
from pttt_ooc.errors import GraderError, PtttError
from pttt_ooc.grader.baseline import submit_baseline
from pttt_ooc.grader.database import Database
from pttt_ooc.grader.evaluation import open_evaluator
from pttt_ooc.grader.jobs import Judge, Stopped
from pttt_ooc.grader.lives import handle_signals, watch_parent
from pttt_ooc.grader.logs import lines_logged, start_logging
from pttt_ooc.grader.models import BASELINE, UNFINISHED, Submission
from pttt_ooc.grader.pulse import Pulse
from pttt_ooc.grader.queue import open_queue, task_of, waiting
from pttt_ooc.grader.rights import keep_private
from pttt_ooc.grader.settings import read_settings
from pttt_ooc.grader.storage import Storage
from pttt_ooc.grader.value import find_value
from pttt_ooc.stages.compilation import ensure_compiled

log = logging.getLogger("pttt.grader.worker")
_SWEEP = 20.0  # seconds between two looks for submissions that the queue has lost
_NICE = 10  # the pages come first


def run(data: Path, stopping: threading.Event) -> None:
    """Judge submissions until `stopping` is set.

    Raises
    ------
    GraderError
        If another worker is at work in the directory, or the grader cannot be opened.
    """
    settings, storage = read_settings(data), Storage(data)
    threads = settings.threads or cores()
    pulse = Pulse(storage.alive, stopping)
    with _alone(data):
        database = Database.of(data, settings.database_url, settings.game)
        with pulse.beating(), lines_logged(log):
            pulse.wait_for("kernels, which are compiled once for a machine, within minutes")
            ensure_compiled()
            pulse.wait_for("the value of the game")
            game_value = find_value(settings, database, storage, threads)
            pulse.wait_for("the index of the game, which is built once")
            with open_evaluator(settings, storage, game_value.interval, threads) as evaluator:
                pulse.wait_for(f"the strategies of {BASELINE}")
                submit_baseline(database, storage, evaluator)
                judge = Judge(database, storage, evaluator, stopping)
                judge.forget()
                _consume(storage, database, judge, pulse, stopping)
        database.close()


def _consume(storage: Storage, database: Database, judge: Judge, pulse: Pulse, stopping: threading.Event) -> None:
    queue = open_queue(storage.queue)

    def judged(submission: int) -> None:
        try:
            judge.judge(submission)
        except Stopped:
            log.info("put back", extra={"submission": submission})

    task = task_of(queue, judged)
    # What was in the queue when the last worker ended is in the database as well, in the order of arrival.
    queue.storage.flush_queue()
    requeue(database, queue, task)
    with database.reading() as session:
        storage.sweep(session.scalars(select(Submission.file)))
    consumer = Consumer(queue, workers=1, periodic=False, initial_delay=0.02, max_delay=0.25, check_worker_health=False)
    consumer.start()
    handle_signals(stopping)  # after the consumer, which would have its own way
    pulse.ready()
    log.info("ready", extra={"threads": judge.evaluator.engine.threads})
    while not stopping.wait(_SWEEP):
        requeue(database, queue, task)
    consumer.stop(graceful=True)
    log.info("stopped")


def requeue(database: Database, queue: SqliteHuey, task: TaskWrapper) -> int:
    """Put all submissions without a verdict into the queue that are not in it; returns how many they were.

    The one that is being judged is put in a second time, which does no harm.
    """
    queued = waiting(queue)
    with database.reading() as session:
        lost = [number for number in _unfinished(session) if number not in queued]
    for number in lost:
        task(number)
    return len(lost)


def _unfinished(session: Session) -> list[int]:
    query = select(Submission.id).where(Submission.status.in_(UNFINISHED)).order_by(Submission.id)
    return list(session.scalars(query))


@contextmanager
def _alone(data: Path) -> Iterator[None]:
    # The operating system lets go of this lock however the process ends.
    with open(data / "worker.lock", "a", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise GraderError(f"Another worker is at work in {data}; stop it first.") from None
        yield


def main() -> None:
    """Run the worker for the data directory that is the argument; the parent holds the other end of stdin."""
    keep_private()
    start_logging("worker")
    os.nice(_NICE)
    stopping = threading.Event()
    handle_signals(stopping)
    watch_parent(stopping)
    try:
        run(Path(sys.argv[1]), stopping)
    except PtttError as error:
        log.error(str(error))
        sys.exit(1)


if __name__ == "__main__":
    main()
