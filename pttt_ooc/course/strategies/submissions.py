"""Submissions: taking in those of all kinds; finding, listing and opening those of strategies.

Strategies of the instructors' own, such as an exact equilibrium, belong to a team of the house: it plays in the
head-to-head, like the baseline, without token, rank and grade.  Only people with rights see its submissions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from pttt_ooc.course.data.audit import note
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.limits import SubmissionError, hold
from pttt_ooc.course.data.models import ACCEPTED, HIDDEN, Judged, Submission, Team
from pttt_ooc.course.data.names import check_name, name_key, readable_name
from pttt_ooc.course.data.standings import touch
from pttt_ooc.course.data.storage import Incoming, Storage
from pttt_ooc.course.people.teams import find_team
from pttt_ooc.errors import CourseError

EQUILIBRIUM = "Equilibrium"
"""The usual name of the team of the house."""

_PIECE = 1 << 20
Row = TypeVar("Row", bound=Judged)


def facts_of_file(incoming: Incoming, team: Team) -> dict[str, Any]:
    """The columns of a received file's row that all kinds have."""
    now = time.time()
    return {
        "team_id": team.id,
        "file": incoming.name,
        "digest": incoming.digest,
        "size": incoming.size,
        "received_at": now,
        "changed_at": now,
        "begun_at": incoming.begun_at,
    }


def read_file(storage: Storage, file: Path) -> Incoming:
    """A file of this machine, read as if it had been uploaded."""
    incoming = Incoming(storage)
    try:
        with open(file, "rb") as source:
            while data := source.read(_PIECE):
                incoming.write(data)
    except BaseException:
        incoming.discard()
        raise
    return incoming


@dataclass(frozen=True)
class Page:
    """A page of a list: its rows, the number of all rows, the page's number from 1, and the number of pages."""

    rows: Sequence[Submission]
    total: int
    number: int
    pages: int


def find_twin(session: Session, team: Team, player: int, digest: str) -> Submission | None:
    """The team's earlier submission of the very same file, if any."""
    own = Submission.team_id == team.id, Submission.player == player, Submission.digest == digest
    return session.scalar(select(Submission).where(*own))


def take_in(
    database: Database,
    incoming: Incoming,
    team: Team,
    *,
    find: Callable[[Session], Row | None],
    make: Callable[[], Row],
    check: Callable[[Session], object] = lambda session: None,
    lock: Callable[[Session, Team], object] = hold,
    settle: Callable[[Session, Row], object] = lambda session, row: None,
) -> tuple[Row, bool]:
    """Make a submission of any kind from a received file; returns its row, and whether it is new.

    The file is on disk before the row is committed, so a confirmed file is never lost.  No file stays without a row.

    Parameters
    ----------
    find
        Returns the row of the very same file, if there is one: sent twice, even at once, it is one submission.
    make
        Makes the row, once the file is kept.
    check
        Raises an error if the team may not submit now, under the lock.
    lock
        Lets the team's other uploads wait until the transaction ends.
    settle
        Called with the new row, in the same transaction.

    Raises
    ------
    CourseError
        If the team was removed.  What `check` raises comes through, too.
    StoreError
        If the file cannot be kept.
    """
    try:
        with database.reading() as session:
            there = find(session)
        if there is None:
            incoming.keep()
            made = make()
            with database.writing() as session:
                lock(session, team)
                there = find(session)
                if there is None:
                    check(session)
                    session.add(made)
                    session.flush()
                    settle(session, made)
        if there is not None:
            incoming.discard()
            return there, False
    except BaseException as error:
        incoming.discard()
        if isinstance(error, IntegrityError):
            raise CourseError(f"The team {team.name} was removed.") from None
        raise
    return made, True


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
    """The submissions that everybody may play against: by team, latest first; only those of a team if it is named."""
    query = select(Submission).where(Submission.open_to_play, Submission.status == ACCEPTED, Submission.ruling == "")
    query = query if team is None else query.where(Submission.team_id == team)
    return sorted(session.scalars(query), key=lambda s: (s.team.key, -s.id))


def list_accepted(session: Session, team: int, most: int = 200) -> list[Submission]:
    """A team's accepted submissions, the latest first."""
    query = select(Submission).where(Submission.team_id == team, Submission.status == ACCEPTED)
    return list(session.scalars(query.order_by(Submission.id.desc()).limit(most)))


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


def take_in_house(session: Session, storage: Storage, name: str, files: tuple[Path, Path], by: str) -> list[Submission]:
    """Take in two files, player 0's and player 1's, for a team of the house; the worker judges them.

    Raises
    ------
    CourseError
        If a file is missing, or students have a team of this name.
    """
    for file in files:
        if not file.is_file():
            raise CourseError(f"{file}: There is no such file.")
    # The team of the house is made with its first strategies; no team of students becomes one.
    name = check_name(name)
    team = find_team(session, name)
    if team is not None and not team.house:
        raise CourseError(f"There already is a team {readable_name(team.name)}; choose another --name.")
    if team is None:
        team = Team(name=name, key=name_key(name), created_at=time.time(), house=True)
        session.add(team)
        session.flush()
    # Each file as an ordinary upload, which the worker judges; one that was handed in before is not taken again.
    made = []
    for player, file in enumerate(files):
        incoming = read_file(storage, file)
        try:
            row = find_twin(session, team, player, incoming.digest)
            if row is None:
                incoming.keep()
                # Hidden: its values are in the head-to-head, but students do not see the submission.
                row = Submission(**facts_of_file(incoming, team), player=player, ruling=HIDDEN)
                session.add(row)
                session.flush()
            else:
                incoming.discard()
            made.append(row)
        except BaseException:
            incoming.discard()
            raise
    touch(session)
    note(session, by, "house", team=team.name, submissions=[row.id for row in made])
    return made
