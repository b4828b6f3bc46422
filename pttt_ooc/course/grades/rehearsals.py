"""Dry runs of judging again, by the worker of a kind: one submission at a time, whenever its queue is empty."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.term_tables import Rejudgement
from pttt_ooc.course.data.worker_process import Grading
from pttt_ooc.course.grades.gradebook import settle, settle_if_graded
from pttt_ooc.course.grades.rejudging import Row, changed_points, enter_verdict, points_now, row_of, verdict_of
from pttt_ooc.errors import CourseError, PtttError

log = logging.getLogger("pttt.course.worker")

JudgeRow = Callable[[Any], dict[str, Any]]
"""Returns the verdict that a submission would get now, as columns; OSError or PtttError if it cannot be judged."""


class Rehearsals:
    """The dry runs of a kind that are asked for.

    Parameters
    ----------
    data
        The directory of the course.
    judge
        May raise Stopped: the submission is judged again later.
    """

    def __init__(self, database: Database, data: Path, kind: str, judge: JudgeRow) -> None:
        self._database, self._data, self._kind, self._judge = database, data, kind, judge

    def step(self) -> bool:
        """Judge the next submission of the oldest dry run, or end it; returns whether there was one."""
        with self._database.reading() as session:
            waiting = select(Rejudgement).where(Rejudgement.dry_run, Rejudgement.finished_at.is_(None))
            found = session.scalar(waiting.where(Rejudgement.kind == self._kind).order_by(Rejudgement.id).limit(1))
            number = next(iter(found.numbers[len(found.verdicts) :]), None) if found else None
            row = row_of(session, self._kind, number) if number is not None else None
        if found is None:
            return False
        if number is None:
            self._end(found.id)
        else:
            self._enter(found.id, self._entry(number, row))
        return True

    def _entry(self, number: int, row: Row | None) -> dict[str, object]:
        """A submission's verdicts before and after, in words, and the new one as columns; None if it is not changed."""
        if row is None or row.unfinished:
            why = "removed meanwhile" if row is None else "it is being judged"
            return {"number": number, "before": why, "after": why, "verdict": None}
        before = verdict_of(row)
        try:
            verdict = self._judge(row)
        except (OSError, PtttError) as error:
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
            except CourseError as error:
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
            row = row_of(session, self._kind, entry["number"])
            if row is not None and not row.unfinished and entry["verdict"] is not None:
                enter_verdict(row, entry["verdict"])
        session.flush()
        settle(session, self._data, "rehearsal")
        return changed_points(before, points_now(session))


def _rehearse(database: Database, data: Path, kind: str, judge: JudgeRow) -> Callable[[], bool]:
    return Rehearsals(database, data, kind, judge).step


GRADING = Grading(settle_if_graded, _rehearse)
"""What workers ask of the grades."""
