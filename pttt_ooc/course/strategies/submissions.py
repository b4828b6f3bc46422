"""Submissions of strategies: accepting, finding and listing them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from pttt_ooc.course.data.assignments import check_open
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.limits import Limits, SubmissionError, check_limits, hold
from pttt_ooc.course.data.models import ACCEPTED, Submission, Team
from pttt_ooc.course.data.rules import STRATEGIES
from pttt_ooc.course.data.storage import Incoming
from pttt_ooc.errors import CourseError


def keep_upload(incoming: Incoming, team: Team, player: int) -> Submission:
    """Keep a received file; returns its submission, which is not yet in the database."""
    incoming.keep()
    now = time.time()
    return Submission(
        team_id=team.id,
        player=player,
        file=incoming.name,
        digest=incoming.digest,
        size=incoming.size,
        received_at=now,
        changed_at=now,
        begun_at=incoming.begun_at,
    )


@dataclass(frozen=True)
class Page:
    """A page of a list: its rows, the number of all rows, the page's number from 1, and the number of pages."""

    rows: Sequence[Submission]
    total: int
    number: int
    pages: int


def twin_of(session: Session, team: Team, player: int, digest: str) -> Submission | None:
    """The team's earlier submission of the very same file, if any."""
    return session.scalar(
        select(Submission).where(
            Submission.team_id == team.id, Submission.player == player, Submission.digest == digest
        )
    )


def accept(database: Database, limits: Limits, team: Team, player: int, incoming: Incoming) -> tuple[Submission, bool]:
    """Make a submission of a received file; returns it, and whether it is new.

    The file is on disk before the row is committed: what was confirmed is never lost.

    Raises
    ------
    SubmissionError
        If the team may not submit now.
    StoreError
        If the file cannot be kept.
    """
    with database.reading() as session:
        twin = twin_of(session, team, player, incoming.digest)
        if twin is not None:
            incoming.discard()
            return twin, False
    try:
        submission = keep_upload(incoming, team, player)
        with database.writing() as session:
            hold(session, team)
            check_open(session, STRATEGIES, team, incoming.begun_at)
            check_limits(session, Submission, team, limits)
            session.add(submission)
    except IntegrityError:  # the same file, sent twice at the same time; or the team is gone
        incoming.discard()
        with database.reading() as session:
            twin = twin_of(session, team, player, incoming.digest)
        if twin is None:
            raise CourseError(f"The team {team.name} was removed.") from None
        return twin, False
    except BaseException:
        incoming.discard()
        raise
    return submission, True


def open_to_play(database: Database, number: int, opened: bool, team: int | None = None) -> None:
    """Open an accepted submission for everybody to play against, or close it.

    Parameters
    ----------
    team
        The number of the team that asks; None: an instructor, who may open every submission.

    Raises
    ------
    SubmissionError
        If there is no such submission, or it is not accepted.
    """
    with database.writing() as session:
        found = session.get(Submission, number)
        if found is None or team not in (None, found.team_id):
            raise SubmissionError(f"There is no submission {number}{' of yours' if team else ''}.", 404)
        if opened and found.status != ACCEPTED:
            raise SubmissionError(f"Submission {number} is not accepted, so that nobody can play against it.", 409)
        found.open_to_play, found.changed_at = opened, time.time()


def list_open(session: Session, team: int | None = None) -> list[Submission]:
    """The submissions that everybody may play against: by team, latest first; only those of one team if it is named."""
    query = select(Submission).where(Submission.open_to_play, Submission.status == ACCEPTED, Submission.ruling == "")
    query = query if team is None else query.where(Submission.team_id == team)
    return sorted(session.scalars(query), key=lambda s: (s.team.key, -s.id))


def list_accepted(session: Session, team: int, most: int = 200) -> list[Submission]:
    """A team's accepted submissions, the latest first."""
    query = select(Submission).where(Submission.team_id == team, Submission.status == ACCEPTED)
    return list(session.scalars(query.order_by(Submission.id.desc()).limit(most)))


def find(session: Session, number: int) -> Submission | None:
    """A submission by its number."""
    return session.get(Submission, number)


def list_page(
    session: Session,
    page: int = 1,
    size: int = 25,
    team: int | None = None,
    status: str | None = None,
    shown_if: ColumnElement[bool] | None = None,
) -> Page:
    """Submissions, latest first, a page at a time; see :func:`pttt_ooc.course.data.standings.is_shown`."""
    conditions = [] if shown_if is None else [shown_if]
    if team is not None:
        conditions.append(Submission.team_id == team)
    if status is not None:
        conditions.append(Submission.status == status)
    total = session.scalar(select(func.count(Submission.id)).where(*conditions)) or 0
    pages = max(1, -(-total // size))
    number = min(max(page, 1), pages)
    query = select(Submission).where(*conditions).order_by(Submission.id.desc())
    rows = list(session.scalars(query.offset((number - 1) * size).limit(size)))
    return Page(rows, total, number, pages)


def stamp(session: Session) -> str:
    """A text that changes whenever a submission does, also after the clock was put back."""
    changed = Submission.changed_at
    count, latest, total = session.execute(select(func.count(changed), func.max(changed), func.sum(changed))).one()
    return f"{count}-{latest or 0:.3f}-{total or 0:.2f}"
