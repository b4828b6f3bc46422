"""The queue: the submissions without a verdict.

It is a query and nothing else, so it cannot disagree with the database, get lost or hold anything twice.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.memberships import latest_of_teams, left_by_all
from pttt_ooc.course.data.models import BASELINE, QUEUED, UNFINISHED, Judged, Submission, Team
from pttt_ooc.course.data.term_tables import Rejudgement

ATTEMPTS = 3
"""Failed judgements after which a submission is given up."""

RETRY_SECONDS = 20.0
"""Seconds before a strategy whose judgement failed is tried again; others are judged meanwhile."""

GAVE_UP = "The server could not judge this file"
"""The note on a strategy whose judgement has failed too often."""

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

        A file that makes the worker crash must not do so for ever.
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
        """Put a submission back into the queue, because its judgement was broken off.

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


@dataclass(frozen=True)
class Waiting:
    """A strategy without a verdict.

    Attributes
    ----------
    again
        Whether it had a verdict before.
    failed_at
        When its judgement failed last; None: it has not.
    """

    number: int
    team: int
    under_judgement: bool
    again: bool
    failed_at: float | None


def line(session: Session) -> list[Waiting]:
    """The strategies without a verdict in the order of their judgement: the teams take turns.

    Strategies under judgement come first, then the baseline's, without which no team has a rank.  Then the first one of
    each team that has none judged yet, first come first.  Then each team's first one, beginning with the team whose
    last judgement is longest ago, then each team's second one, and so on.  Strategies that are judged again come after
    all others, and those of a team that everybody has left come last.  What members handed in earlier in other teams
    counts for their present team, too.
    """
    columns = (Submission.id, Submission.team_id, Submission.status, Submission.attempts, Submission.started_at)
    query = select(*columns, Submission.changed_at).where(Submission.status.in_(UNFINISHED)).order_by(Submission.id)
    found = [
        Waiting(number, team, status != QUEUED, started is not None and not attempts, changed if attempts else None)
        for number, team, status, attempts, started, changed in session.execute(query)
    ]
    if len({one.team for one in found}) < 2:
        return sorted(found, key=lambda one: (not one.under_judgement, one.again, one.number))
    served, left = latest_of_teams(session, Submission, Submission.started_at), left_by_all(session)
    baseline = session.scalar(select(Team.id).where(Team.name == BASELINE))
    turns: Counter[tuple[int, bool]] = Counter()
    places = {}
    for one in sorted(found, key=lambda one: (not one.under_judgement, one.number)):
        turn = turns[one.team, one.again]
        turns[one.team, one.again] += 1
        first = turn == 0 and one.team not in served
        class_of = not one.under_judgement, one.team != baseline, one.team in left, one.again, not first, turn
        places[one] = (*class_of, served.get(one.team, 0.0), one.number)
    return sorted(found, key=places.__getitem__)


def waiting(session: Session) -> list[int]:
    """Numbers of all strategies without a verdict, in the order of their judgement."""
    return [one.number for one in line(session)]


def next_up(session: Session) -> int | None:
    """Number of the strategy to judge now, if there is one."""
    now = time.time()

    def failed_lately(one: Waiting) -> bool:
        at = one.failed_at  # the clock may have been put back
        return not one.under_judgement and at is not None and now - RETRY_SECONDS < at <= now

    return next((one.number for one in line(session) if not failed_lately(one)), None)


def positions(session: Session) -> dict[int, int]:
    """Place in the queue of every strategy without a verdict, from 1; 0: it is being judged."""
    found: dict[int, int] = {}
    place = 1
    for one in line(session):
        found[one.number] = 0 if one.under_judgement else place
        place += not one.under_judgement
    return found


def numbers_again(session: Session, kind: str) -> set[int]:
    """The numbers of all submissions of a kind that were ever put back into the queue."""
    query = select(Rejudgement).where(Rejudgement.kind == kind, ~Rejudgement.dry_run)
    return {number for one in session.scalars(query) for number in one.numbers}
