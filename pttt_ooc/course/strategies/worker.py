"""The worker process of strategies: takes in the baseline, judges one submission after the other, and values pairs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased

from pttt_ooc.course.data.database import FILED, Database
from pttt_ooc.course.data.game_directory import course_database, course_of, mirror_teams
from pttt_ooc.course.data.models import ACCEPTED, BASELINE, Submission, Team
from pttt_ooc.course.data.rules import STRATEGIES
from pttt_ooc.course.data.settings import read_settings
from pttt_ooc.course.data.storage import Incoming, Storage
from pttt_ooc.course.data.term_tables import Pair
from pttt_ooc.course.data.worker_process import Grading, Stopped, Work
from pttt_ooc.course.people.post import sending
from pttt_ooc.course.people.teams import add_baseline
from pttt_ooc.course.strategies.assessor import Assessor, Refusal, open_assessor
from pttt_ooc.course.strategies.certificates import Certifier
from pttt_ooc.course.strategies.game_facts import SMALL, find_value, settle_orders
from pttt_ooc.course.strategies.judging import Judge, verdict_on
from pttt_ooc.course.strategies.starter_kit import KitMaker
from pttt_ooc.course.strategies.submissions import facts_of_file, read_file, take_in
from pttt_ooc.disk.locks import hold
from pttt_ooc.disk.resources import cores
from pttt_ooc.disk.stop_signals import handle_signals
from pttt_ooc.errors import CourseError, StoreError
from pttt_ooc.games.structure.strategy import uniform_strategy
from pttt_ooc.pipeline.files.tensors import export_strategy
from pttt_ooc.pipeline.stages.compilation import ensure_compiled
from pttt_ooc.site.service.logs import lines_logged
from pttt_ooc.site.service.pulse import Pulse


def take_in_baseline(database: Database, storage: Storage, assessor: Assessor) -> None:
    """Take in both uniform strategies, as ordinary files, if they are missing."""
    add_baseline(database)
    for player in (0, 1):
        with database.reading() as session:
            team = session.scalars(select(Team).where(Team.name == BASELINE)).one()
            if session.scalar(select(Submission).where(Submission.team_id == team.id, Submission.player == player)):
                continue
        path = storage.incoming / f"uniform{player}.zip"
        # Compressed fast: all submissions wait for it.
        export_strategy(uniform_strategy(assessor.engine.index, player), assessor.rows[player], path)
        incoming = read_file(storage, path)
        path.unlink()
        make = partial(_submission, incoming, team, player)
        take_in(database, incoming, team, find=lambda session: None, make=make)


def _submission(incoming: Incoming, team: Team, player: int) -> Submission:
    return Submission(**facts_of_file(incoming, team), player=player)


class PairValues:
    """Computes the values of pairs, whenever the worker's queue is empty.

    Parameters
    ----------
    stopping
        When it is set, the work is broken off, and begun again by the next worker.
    """

    def __init__(self, database: Database, storage: Storage, assessor: Assessor, stopping: threading.Event) -> None:
        self._database, self._storage, self._assessor, self._stopping = database, storage, assessor, stopping
        self._failed: set[int] = set()

    def step(self) -> bool:
        """Compute the value of the oldest accepted pair that has none; returns whether there was one.

        Raises
        ------
        Stopped
            If `stopping` is set.
        """
        with self._database.reading() as session:
            found = next((one for one in _waiting(session) if one.id not in self._failed), None)
            both = [session.get(Submission, n) for n in (found.first_id, found.second_id)] if found else []
        if found is None or both[0] is None or both[1] is None:
            return False

        def tell(share: float) -> None:
            if self._stopping.is_set():
                raise Stopped

        try:
            strategy = self._assessor.read(self._storage.upload(both[0].file), 0, tell)
            value = self._assessor.value(self._assessor.assess(strategy, tell), both[1])
        except (Refusal, OSError, StoreError):
            log.exception("no value of a pair", extra={"pair": found.id})
            self._failed.add(found.id)  # it is left out until the next start
            return True
        with self._database.writing() as session:
            row = session.get(Pair, found.id)
            if row is not None:
                row.value = value
        return True


def _waiting(session: Session) -> list[Pair]:
    first, second = aliased(Submission), aliased(Submission)
    query = select(Pair).join(first, first.id == Pair.first_id).join(second, second.id == Pair.second_id)
    query = query.where(Pair.value.is_(None), first.status == ACCEPTED, second.status == ACCEPTED)
    return list(session.scalars(query.order_by(Pair.id)))


log = logging.getLogger("pttt.course.worker")
_FAILURE_SECONDS = 5.0  # seconds to wait after a failure, for example of the database


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
        pulse.wait_for("its kernels, which takes minutes the first time")
        ensure_compiled()
        pulse.wait_for("the game's value")
        game_value = find_value(settings, database, storage, threads, grading.settle)
        about = ", about a minute" if sum(settings.infosets) > SMALL else ""
        pulse.wait_for(f"the game's index{about}")
        with open_assessor(settings, storage, game_value.interval, threads) as assessor:
            # The order of rows comes first: the files of the baseline and of the starter kit follow it.
            settle_orders(database, storage, settings)
            pulse.wait_for(f"the strategies of {BASELINE}, with which yours is compared")
            take_in_baseline(database, storage, assessor)
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
                closing(KitMaker(storage, settings)) as kit,
            ):

                def step() -> bool:
                    # One unit of work: verdicts first, for which students wait; then pairs, then dry runs.
                    # The starter kit and certificates are made by processes of their own meanwhile.
                    kit.look_after()
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
