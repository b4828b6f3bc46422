"""Dry runs of judging again, by the worker: one submission at a time, whenever its queue is empty."""

from __future__ import annotations

import logging
import threading
import time

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.database import Database
from pttt_ooc.course.kinds.strategies.assessor import Assessor
from pttt_ooc.course.models import Submission
from pttt_ooc.course.storage import Storage
from pttt_ooc.course.term.gradebook import settle
from pttt_ooc.course.term.rejudging import changed_points, points_now, verdict_of
from pttt_ooc.course.term.retrial import enter_verdict, verdict_now
from pttt_ooc.course.term.tables import Rejudgement
from pttt_ooc.course.worker_process import Stopped
from pttt_ooc.errors import GraderError, StoreError

log = logging.getLogger("pttt.grader.worker")


class Rehearsals:
    """The dry runs that are asked for.

    Parameters
    ----------
    stopping
        When it is set, judging is interrupted; the submission is judged again later.
    """

    def __init__(self, database: Database, storage: Storage, assessor: Assessor, stopping: threading.Event) -> None:
        self._database, self._storage, self._assessor, self._stopping = database, storage, assessor, stopping

    def step(self) -> bool:
        """Judge the next submission of the oldest dry run, or end it; returns whether there was one.

        Raises
        ------
        Stopped
            If `stopping` is set.
        """
        with self._database.reading() as session:
            waiting = select(Rejudgement).where(Rejudgement.dry_run, Rejudgement.finished_at.is_(None))
            found = session.scalar(waiting.order_by(Rejudgement.id).limit(1))
            number = next(iter(found.numbers[len(found.verdicts) :]), None) if found else None
            row = session.get(Submission, number) if number is not None else None
        if found is None:
            return False
        if number is None:
            self._end(found.id)
        else:
            self._enter(found.id, self._entry(number, row))
        return True

    def _entry(self, number: int, row: Submission | None) -> dict[str, object]:
        """A submission's verdicts before and after, in words, and the new one as columns; None if it is not changed."""
        if row is None or row.unfinished:
            why = "removed meanwhile" if row is None else "it is being judged"
            return {"number": number, "before": why, "after": why, "verdict": None}

        def tell(share: float) -> None:
            if self._stopping.is_set():
                raise Stopped

        before = verdict_of(row)
        try:
            verdict = verdict_now(self._assessor, self._storage, row, tell)
        except (OSError, StoreError) as error:
            return {"number": number, "before": before, "after": f"it cannot be judged: {error}"[:300], "verdict": None}
        enter_verdict(row, verdict)  # of no session any more
        return {"number": number, "before": before, "after": verdict_of(row), "verdict": verdict}

    def _enter(self, number: int, entry: dict[str, object]) -> None:
        with self._database.writing() as session:
            found = session.get(Rejudgement, number)
            if found is not None and found.finished_at is None:
                found.verdicts = [*found.verdicts, entry]

    def _end(self, number: int) -> None:
        trouble, grades = "", list[str]()
        with self._database.reading() as session:
            try:
                grades = self._grades(session, number)
            except GraderError as error:
                trouble = str(error)[:500]
            session.rollback()
        with self._database.writing() as session:
            found = session.get(Rejudgement, number)
            if found is not None:
                found.grades, found.trouble, found.finished_at = grades, trouble, time.time()
        log.info("a dry run is over", extra={"rejudgement": number, "grades": len(grades)})

    def _grades(self, session: Session, number: int) -> list[str]:
        """What would change, in a transaction that is taken back."""
        found = session.get(Rejudgement, number)
        before = points_now(session)
        for entry in found.verdicts if found else []:
            row = session.get(Submission, entry["number"])
            if row is not None and not row.unfinished and entry["verdict"] is not None:
                enter_verdict(row, entry["verdict"])
        session.flush()
        settle(session, self._storage.data, "rehearsal")
        return changed_points(before, points_now(session))
