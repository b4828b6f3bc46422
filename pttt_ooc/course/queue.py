"""The queue: the submissions without a verdict.

It is a query and nothing else, so it cannot disagree with the database, get lost or hold anything twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Generic, Protocol, TypeVar

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from pttt_ooc.course.models import QUEUED, UNFINISHED, Judged, Submission

ATTEMPTS = 3
"""Failed judgements after which a submission is given up."""

RETRY_SECONDS = 20.0
"""Seconds before a strategy whose judgement failed is tried again; others are judged meanwhile."""

GAVE_UP = "The server could not judge this file"
"""The note on a strategy whose judgement has failed so often."""

Row = TypeVar("Row", bound=Judged)
Verdict = dict[str, Any]
"""Columns and their new values."""


class Store(Protocol):
    """A database."""

    def reading(self) -> AbstractContextManager[Session]:
        """A session to read in."""

    def writing(self) -> AbstractContextManager[Session]:
        """A session that is committed at the end."""


class Queue(Generic[Row]):
    """The submissions of a kind, between queue and verdict.

    Parameters
    ----------
    table
        Their table.
    gave_up
        The verdict on a submission that the server cannot judge, by its number.
    """

    def __init__(self, database: Store, table: type[Row], gave_up: Callable[[int], Verdict]) -> None:
        self.database, self._table, self._gave_up = database, table, gave_up

    def begin(self, row: Row, status: str) -> bool:
        """Begin to judge a row, in the session that it belongs to; False if it has been tried too often.

        A file that takes the worker down with it must not do so for ever.
        """
        if row.attempts >= ATTEMPTS:
            _write(row, self._gave_up(row.id))
            return False
        _write(row, {"status": status, "attempts": row.attempts + 1})
        return True

    def update(self, number: int, **values: Any) -> None:
        """Write down a verdict, or how far the work is, unless there is a verdict already.

        The team may have been removed meanwhile, or another worker, started by mistake, was faster.
        """
        with self.database.writing() as session:
            row = session.get(self._table, number)
            if row is not None and row.unfinished:
                _write(row, values)

    def put_back(self, number: int, counts: bool = False, **values: Any) -> None:
        """Put a submission whose judgement was broken off back into the queue.

        Parameters
        ----------
        counts
            Whether the attempt counts: the file may be the cause.
        """
        with self.database.writing() as session:
            row = session.get(self._table, number)
            if row is not None and row.unfinished:
                _write(row, {**values, "status": QUEUED, "attempts": max(0, row.attempts - (not counts))})


def _write(row: Judged, values: Verdict) -> None:
    for key, value in {**values, "changed_at": time.time()}.items():
        setattr(row, key, value)


# ---------------------------------------------------------------------------------------------
# Strategies


def waiting(session: Session) -> list[int]:
    """Numbers of all strategies without a verdict, first come first."""
    return list(session.scalars(select(Submission.id).where(Submission.status.in_(UNFINISHED)).order_by(Submission.id)))


def next_up(session: Session) -> int | None:
    """Number of the strategy to judge now, if there is one."""
    now = time.time()
    lately = (
        Submission.changed_at > now - RETRY_SECONDS,
        Submission.changed_at <= now,
    )  # the clock may have been put back
    failed_lately = (Submission.status == QUEUED, Submission.attempts > 0, *lately)
    is_due = or_(*(~condition for condition in failed_lately))
    query = select(Submission.id).where(Submission.status.in_(UNFINISHED), is_due)
    return session.scalar(query.order_by(Submission.id).limit(1))
