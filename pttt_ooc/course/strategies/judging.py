"""Judging a submission, from the queue to the verdict; and the verdict that it would get now.

Judging may be interrupted at any step: without a verdict in the database the submission is judged again, from its
file.  The verdict and all its consequences are one commit.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from pttt_ooc.cfr.solving.assessment import Assessment
from pttt_ooc.course.data import models, queue, standings
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.models import ACCEPTED, REJECTED, Entry, Submission
from pttt_ooc.course.data.queue import ATTEMPTS, GAVE_UP, Queue, Verdict
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.course.data.worker_process import Stopped
from pttt_ooc.course.strategies.assessor import Assessor, Refusal, note_on
from pttt_ooc.course.strategies.likeness import GAMES, Likenesses
from pttt_ooc.errors import PtttError


def verdict_on(
    assessor: Assessor, storage: Storage, row: Submission, stopping: threading.Event | None = None
) -> dict[str, Any]:
    """The verdict that a submission would get now, as columns.

    Raises
    ------
    OSError, StoreError
        If its file is lost.
    Stopped
        If `stopping` is set.
    """

    def tell(share: float) -> None:
        if stopping is not None and stopping.is_set():
            raise Stopped

    try:
        strategy = assessor.read(storage.upload(row.file), row.player, tell)
        found = assessor.assess(strategy, tell)
    except Refusal as refusal:
        return {
            "status": REJECTED,
            "note": refusal.note[:500],
            "detail": refusal.detail[:1000],
            "exploitability": None,
        }
    figure = found.exploitability(assessor.game_value)
    return {"status": ACCEPTED, "note": "", "detail": "", "exploitability": figure}


log = logging.getLogger("pttt.course.jobs")
_TELL_SECONDS = 0.4  # seconds between two writes of the progress


class Judge:
    """Judges submissions, one at a time.

    Parameters
    ----------
    stopping
        When it is set, judging is interrupted.
    settle
        See :class:`pttt_ooc.course.data.worker_process.Grading`.
    course
        Database and directory of the course that has the grades; None: these.
    games
        See :class:`~pttt_ooc.course.strategies.likeness.Likenesses`.
    """

    def __init__(
        self,
        database: Database,
        storage: Storage,
        assessor: Assessor,
        stopping: threading.Event,
        settle: Callable[[Session, Path, str], None],
        course: tuple[Database, Path] | None = None,
        games: int = GAMES,
    ) -> None:
        self.database, self.storage, self.assessor, self.stopping = database, storage, assessor, stopping
        self._settle = settle
        self._course = course or (database, storage.data)
        self._queue = Queue(database, Submission, _give_up)
        self._likenesses = Likenesses(database, storage, assessor.engine.index, games)
        self._complete = ""  # the revision at which the matrix was complete

    def judge_next(self) -> bool:
        """Judge the next submission, or complete the matrix if none waits; returns whether there was anything to do."""
        with self.database.reading() as session:
            number = queue.next_up(session)
        if number is None:
            return self.complete_matrix()
        self.judge(number)
        return True

    def complete_matrix(self) -> bool:
        """Compute a best submission's missing values, for example after a ruling; returns whether there were any.

        Raises
        ------
        Stopped
            If `stopping` is set.
        """
        with self.database.reading() as session:
            revision = standings.revision(session)
            if revision == self._complete:
                return False
            first, second = standings.bests(session)
            known = {(entry.first_id, entry.second_id) for entry in session.scalars(select(Entry))}
        self._complete = revision
        for own, others in ((first, second), (second, first)):
            for submission in own.values():
                missing = [other for other in others.values() if _pair(submission, other) not in known]
                if missing:
                    return self._enter_values(submission, missing)
        return False

    def _enter_values(self, submission: Submission, others: Sequence[Submission]) -> bool:
        """Enter values into the matrix; False if the file of a submission cannot be read any more."""

        def tell(share: float) -> None:
            if self.stopping.is_set():
                raise Stopped

        path = self.storage.upload(submission.file)
        try:
            assessment = self.assessor.assess(self.assessor.read(path, submission.player, tell), tell)
            self.assessor.keep(submission, assessment.gradient)
            values = {_pair(submission, other): self.assessor.value(assessment, other) for other in others}
        except (Refusal, OSError):
            log.exception("the matrix stays without a submission's values", extra={"submission": submission.id})
            return False
        with self.database.writing() as session:
            there = set(session.scalars(select(Submission.id).where(Submission.best)))
            for (one, two), value in values.items():
                if {one, two} <= there:
                    session.merge(Entry(first_id=one, second_id=two, value=value))
            standings.touch(session)
        return True

    def judge(self, number: int) -> None:
        """Judge a submission, unless it has a verdict or was removed.

        Raises
        ------
        Stopped
            If `stopping` is set.
        """
        submission = self._claim(number)
        if submission is None:
            return
        facts = {"submission": number, "team": submission.team.name, "player": submission.player}
        log.info("judging", extra=facts)
        try:
            outcome = self._outcome(submission)
        except Refusal as refusal:
            outcome = {"status": models.REJECTED, "note": refusal.note[:500], "detail": refusal.detail[:1000]}
            self._finish(number, outcome)
        except Stopped:
            self._queue.put_back(number, progress=0.0, started_at=None)
            log.info("put back", extra=facts)
            raise
        except Exception:
            log.exception("judging failed", extra={**facts, "attempt": submission.attempts})
            if submission.attempts < ATTEMPTS:
                self._queue.put_back(number, counts=True, progress=0.0)
                return
            outcome = _give_up(number)
            self._finish(number, outcome)
        log.info("judged", extra={**facts, "status": outcome["status"], "note": outcome.get("note", "")})

    def _claim(self, number: int) -> Submission | None:
        with self.database.writing() as session:
            submission = session.get(Submission, number)
            if submission is None or not submission.unfinished:
                return None
            if not self._queue.begin(submission, models.VALIDATING):
                submission.finished_at = submission.changed_at
                return None
            submission.started_at, submission.progress = submission.changed_at, 0.0
            return submission

    def _outcome(self, submission: Submission) -> dict[str, Any]:
        number, path = submission.id, self.storage.upload(submission.file)
        strategy = self.assessor.read(path, submission.player, self._reporter(number, models.VALIDATING, 0, 1))
        self._tell(number, models.EVALUATING, 0.0)
        begun = time.perf_counter()
        assessment = self.assessor.assess(strategy, self._reporter(number, models.EVALUATING, 0, 0.8))
        outcome: dict[str, Any] = {
            "status": models.ACCEPTED,
            "detail": note_on(path),
            "exploitability": assessment.exploitability(self.assessor.game_value),
            "best_response": assessment.best_response,
            "opening": self.assessor.opening(strategy),
        }
        values = self._values(submission, assessment, outcome["exploitability"])
        outcome["evaluation_seconds"] = time.perf_counter() - begun
        self._finish(number, outcome, values)
        self._compare(submission, assessment)
        return outcome

    def sweep(self) -> None:
        """Delete the files of submissions that are gone."""
        self._likenesses.sweep()

    def _compare(self, submission: Submission, assessment: Assessment) -> None:
        """Look for strategies of other teams that play alike; a failure does not affect the verdict."""
        try:
            found = self._likenesses.compare(submission, assessment)
        except (PtttError, SQLAlchemyError, OSError):
            log.exception("no comparison with other strategies", extra={"submission": submission.id})
            return
        if found:
            log.info("plays like others", extra={"submission": submission.id, "others": [n for n, _ in found]})

    def _values(self, submission: Submission, assessment: Assessment, exploitability: float) -> dict[int, float]:
        """Value for player 0 against all opposing bests, if the submission is its team's new best."""
        with self.database.reading() as session:
            bests = standings.bests(session)
        former = bests[submission.player].get(submission.team_id)
        beaten = standings.beats(exploitability, former.exploitability if former else None)
        if submission.ruling == models.WITHDRAWN or not beaten:
            return {}
        self.assessor.keep(submission, assessment.gradient)
        values: dict[int, float] = {}
        others = bests[1 - submission.player]
        report = self._reporter(submission.id, models.EVALUATING, 0.8, 1)
        for other in others.values():
            report(len(values) / len(others))
            values[other.id] = self.assessor.value(assessment, other)
        return values

    def _reporter(self, number: int, status: str, begin: float, end: float) -> Callable[[float], None]:
        """A function that stores the progress now and then, and raises Stopped when `stopping` is set."""
        last = time.monotonic()

        def tell(share: float) -> None:
            nonlocal last
            if self.stopping.is_set():
                raise Stopped
            if time.monotonic() - last > _TELL_SECONDS:
                last = time.monotonic()
                self._tell(number, status, begin + (end - begin) * share)

        return tell

    def _tell(self, number: int, status: str, progress: float) -> None:
        self._queue.update(number, status=status, progress=progress)

    def _finish(self, number: int, outcome: dict[str, Any], values: dict[int, float] | None = None) -> None:
        former = None
        with self.database.writing() as session:
            submission = session.get(Submission, number, with_for_update={"of": Submission})
            if submission is None or not submission.unfinished:
                return
            for key, value in outcome.items():
                setattr(submission, key, value)
            submission.finished_at = submission.changed_at = time.time()
            submission.progress = 1.0
            if submission.status == models.ACCEPTED:
                # An opponent's team may have been removed while the values were computed.
                wanted = [] if not values else list(values)
                there = set(session.scalars(select(Submission.id).where(Submission.id.in_(wanted))))
                known = {k: v for k, v in (values or {}).items() if k in there}
                former = standings.enter(session, submission, known)
        if former is not None:
            self.forget()
        self.settle(f"verdict on submission {number}")

    def settle(self, because: str) -> None:
        """Write down the grades that have changed; what fails is tried again at the next verdict or start."""
        database, data = self._course
        what = "" if database is self.database else f" in {self.storage.data.name}"
        try:
            with database.writing() as session:
                self._settle(session, data, f"{because}{what}")
        except (PtttError, SQLAlchemyError):
            log.exception("grades could not be settled", extra={"because": because})

    def forget(self) -> None:
        """Delete the gradients that no future match needs."""
        with self.database.reading() as session:
            keep = [submission for best in standings.bests(session) for submission in best.values()]
        self.assessor.forget(keep)


def _pair(one: Submission, other: Submission) -> tuple[int, int]:
    """Both numbers, player 0's first."""
    return (one.id, other.id) if one.player == 0 else (other.id, one.id)


def _give_up(number: int) -> Verdict:
    detail = f"It failed {ATTEMPTS} times, which is not your fault. Tell the instructors the number {number}."
    return {"status": models.REJECTED, "note": GAVE_UP, "detail": detail}
