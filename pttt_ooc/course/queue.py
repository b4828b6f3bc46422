"""The queue: the submissions without a verdict, in the order of their numbers.

It is a query and nothing else, so it cannot disagree with the database, get lost or hold anything twice.
"""

from __future__ import annotations

import time

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from pttt_ooc.course.models import QUEUED, UNFINISHED, Submission

RETRY = 20.0
"""Seconds before a submission whose judgement failed is tried again; others are judged meanwhile."""


def waiting(session: Session) -> list[int]:
    """Numbers of all submissions without a verdict, first come first."""
    return list(session.scalars(select(Submission.id).where(Submission.status.in_(UNFINISHED)).order_by(Submission.id)))


def next_up(session: Session) -> int | None:
    """Number of the submission to judge now, if there is one."""
    now = time.time()
    lately = Submission.changed_at > now - RETRY, Submission.changed_at <= now  # the clock may have been put back
    failed_lately = (Submission.status == QUEUED, Submission.attempts > 0, *lately)
    is_due = or_(*(~condition for condition in failed_lately))
    query = select(Submission.id).where(Submission.status.in_(UNFINISHED), is_due)
    return session.scalar(query.order_by(Submission.id).limit(1))
