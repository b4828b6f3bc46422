"""The worker process of strategies: judges those without a verdict, one after the other."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from sqlalchemy import select

from pttt_ooc.course.data.database import FILED, Database
from pttt_ooc.course.data.game_directory import course_database, course_of, mirror_teams
from pttt_ooc.course.data.models import BASELINE
from pttt_ooc.course.data.rules import STRATEGIES
from pttt_ooc.course.data.settings import read_settings
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.course.data.worker_process import Grading, Work
from pttt_ooc.course.people.post import sending
from pttt_ooc.course.strategies.assessor import open_assessor
from pttt_ooc.course.strategies.baseline import submit_baseline
from pttt_ooc.course.strategies.certifier import Certifier
from pttt_ooc.course.strategies.jobs import Judge
from pttt_ooc.course.strategies.orders import settle_orders
from pttt_ooc.course.strategies.pairs import PairValues
from pttt_ooc.course.strategies.starter_kit import ensure_kit
from pttt_ooc.course.strategies.value import find_value
from pttt_ooc.course.strategies.verdicts import verdict_on
from pttt_ooc.disk.locks import hold
from pttt_ooc.disk.resources import cores
from pttt_ooc.disk.stop_signals import handle_signals
from pttt_ooc.errors import CourseError
from pttt_ooc.pipeline.stages.compilation import ensure_compiled
from pttt_ooc.site.service.logs import lines_logged
from pttt_ooc.site.service.pulse import Pulse

log = logging.getLogger("pttt.course.worker")
_FAILURE_SECONDS = 5.0  # seconds after a failure, such as of the database


def run(data: Path, stopping: threading.Event, grading: Grading) -> None:
    """Judge submissions until `stopping` is set.

    Before it is ready, a signal interrupts it anywhere.  Afterwards an interrupted judgement goes back into the queue.

    Raises
    ------
    CourseError
        If another worker is at work in the directory, or the course cannot be opened.
    KeyboardInterrupt
        If a signal comes before it is ready.
    """
    settings, storage = read_settings(data), Storage(data)
    threads = settings.threads or cores()
    pulse = Pulse(storage.alive)
    busy = f"Another worker is at work in {data}; stop it first."
    # One worker for a directory.  From here on it gives a sign of life, with what it is waiting for.
    with (
        hold(data / "worker.lock", lambda _: busy, error=CourseError),
        closing(Database.of(data, settings.database_url, settings.game)) as database,
        _course_of(data, database) as course,
        pulse.beating(),
        lines_logged(log),
    ):
        # What every judgement needs: compiled kernels, the value of the game, and an engine on its index.
        pulse.wait_for("kernels, which are compiled once for a machine, within minutes")
        ensure_compiled()
        pulse.wait_for("the value of the game")
        game_value = find_value(settings, database, storage, threads, grading.settle)
        pulse.wait_for("the index of the game, which is built once")
        with open_assessor(settings, storage, game_value.interval, threads) as assessor:
            # The order of rows comes first: the files of the baseline and of the starter kit follow it.
            settle_orders(database, storage, settings)
            pulse.wait_for(f"the strategies of {BASELINE}")
            submit_baseline(database, storage, assessor)
            pulse.wait_for("the starter kit, which is made once")
            ensure_kit(storage, settings, assessor)
            # The three kinds of work: verdicts, values of pairs of strategies, and dry runs of the instructors.
            judge = Judge(database, storage, assessor, stopping, grading.settle, course)
            pairs = PairValues(database, storage, assessor, stopping)
            again = partial(verdict_on, assessor, storage, stopping=stopping)
            rehearse = grading.rehearse(database, storage.data, STRATEGIES, again)
            # Put in order what an earlier worker left: gradients and files that nobody needs, and grades.
            judge.forget()
            judge.sweep()
            judge.settle("start of the worker")  # one that was killed may have left a verdict without its grades
            with database.reading() as session:
                storage.sweep([file for table in FILED for file in session.scalars(select(table.file))])
            # Ready: from here on a signal ends a judgement in order, and its submission waits again.
            handle_signals(stopping)
            log.info("ready", extra={"threads": threads})
            with (
                sending(database, settings, stopping),
                closing(Certifier(database, storage, settings)) as certifier,
            ):

                def step() -> bool:
                    # One unit of work: verdicts first, for which students wait; then pairs, then dry runs.
                    certifier.look_after()
                    return judge.judge_next() or pairs.step() or rehearse()

                Work(pulse, stopping, _FAILURE_SECONDS).repeat(step)


@contextmanager
def _course_of(data: Path, own: Database) -> Iterator[tuple[Database, Path] | None]:
    """The course's database and directory, if `data` has a further game of it; the game gets the course's teams."""
    directory, database = course_of(data), course_database(data)
    if directory is None or database is None:
        yield None
        return
    with closing(database):
        mirror_teams(database, own)
        yield database, directory
