"""What of a course needs attention: disk, worker, queue, files, judgements that failed, marks that are missing."""

from __future__ import annotations

import time
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from pttt_ooc.course.database import Database
from pttt_ooc.course.models import OF_STUDENTS, REJECTED, UNFINISHED, Submission, Team
from pttt_ooc.course.queue import GAVE_UP
from pttt_ooc.course.storage import RESERVE, Storage
from pttt_ooc.course.term import deliveries
from pttt_ooc.course.term.assignments import all_assignments
from pttt_ooc.course.term.dates import CLOSED
from pttt_ooc.course.term.gradebook import current
from pttt_ooc.course.term.tables import Report
from pttt_ooc.course.term.work import candidates
from pttt_ooc.service.pulse import read_sign

LONG = 600.0
"""Seconds that a submission may wait."""

_DAY = 86400.0
_DISK = 10  # times the reserve: less is told


def problems(database: Database, storage: Storage) -> list[str]:
    """A sentence for each problem; the most urgent first."""
    found = []
    free = storage.free_bytes()
    if free < _DISK * RESERVE:
        found.append(
            f"The disk has {free / 1e9:.1f} GB left; uploads are refused below {RESERVE / 1e9:.1f} GB. Free some space."
        )
    sign = read_sign(storage.alive)
    if not sign.alive:
        found.append("No worker judges submissions; `pttt serve` starts it.")
    with database.reading() as session:
        found += [*_queue(session), *_files(session, storage), *_judgements(session), *_bots(storage.data)]
        found += deliveries.problems(session)
        found += [*_late_starters(session, storage.data), *_marks(session)]
    return found


def _bots(data: Path) -> list[str]:
    """What needs attention in the league, if there is one."""
    from pttt_ooc.course.kinds.bots.league import League, is_there
    from pttt_ooc.course.kinds.bots.submissions import MISSING, UNCHECKED, Bot, Bots

    if not is_there(data):
        return []
    league = League(data)
    told = [] if read_sign(league.alive).alive else ["No worker checks bots; `pttt serve` starts it."]
    bots = Bots(league)
    try:
        with bots.database.reading() as session:
            failed = session.scalars(select(Bot).where(Bot.message.in_((UNCHECKED, MISSING))).order_by(Bot.id)).all()
            oldest = session.scalar(select(func.min(Bot.received_at)).where(Bot.status.in_(UNFINISHED)))
    finally:
        bots.close()
    if oldest is not None and time.time() - oldest > LONG:
        told.append(f"A bot waits for its check for {(time.time() - oldest) / 60:.0f} min.")
    return [*told, *(f"The server could not check bot {one.id}: {one.message.lower()}; see the log." for one in failed)]


def _late_starters(session: Session, data: Path) -> list[str]:
    """Assignments that are due within a day, and how many teams have nothing accepted for them."""
    now, told = time.time(), []
    teams = [team.id for team in session.scalars(select(Team).where(*OF_STUDENTS))]
    for one in all_assignments(session):
        if one.due_at is not None and now <= one.due_at < now + _DAY:
            there = candidates(session, one, data)
            missing = sum(team not in there for team in teams)
            if missing:
                told.append(
                    f"{one.name} is due in {(one.due_at - now) / 3600:.1f} h; {missing} teams have nothing yet."
                )
    return told


def _queue(session: Session) -> list[str]:
    waiting = session.execute(
        select(func.count(), func.min(Submission.received_at)).where(Submission.status.in_(UNFINISHED))
    ).one()
    if waiting[0] and time.time() - waiting[1] > LONG:
        minutes = (time.time() - waiting[1]) / 60
        return [f"{waiting[0]} submissions wait for a verdict, the oldest one for {minutes:.0f} min."]
    return []


def _files(session: Session, storage: Storage) -> list[str]:
    there = {file.name for file in storage.uploads.iterdir()}
    lost = [row.id for row in session.scalars(select(Submission)) if row.file not in there]
    reports = [row.id for row in session.scalars(select(Report)) if row.file not in there]
    told = [f"The file of submission {number} is lost; restore it from a backup." for number in lost]
    return [*told, *(f"The file of report {number} is lost; restore it from a backup." for number in reports)]


def _judgements(session: Session) -> list[str]:
    failed = session.scalars(select(Submission.id).where(Submission.status == REJECTED, Submission.note == GAVE_UP))
    return [
        f"The server could not judge submission {number}; see the log, then `pttt course rejudge {number}`."
        for number in failed
    ]


def _marks(session: Session) -> list[str]:
    grades, now = current(session), time.time()
    told = []
    for one in all_assignments(session):
        if one.dates.state(now) == CLOSED:
            rows = [row for (_, number), row in grades.items() if number == one.id and row.facts["submissions"]]
            missing = sum(bool(row.facts["unmarked"]) for row in rows)
            if missing:
                told.append(f"{one.name} is over, and {missing} teams have no points yet for all of its rubric.")
            if rows and not missing and not one.released:
                told.append(f"All of {one.name} is graded; `pttt course release {one.name}` shows teams their points.")
    return told
