"""What of a course needs attention: disk, worker, queue, files, judgements that failed, marks that are missing."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from pttt_ooc.course.database import DEFAULT, Database
from pttt_ooc.course.database_rows import FILED
from pttt_ooc.course.games.directory import directory_of
from pttt_ooc.course.kinds.agents.settings import ALIVE
from pttt_ooc.course.kinds.agents.tables import Agent
from pttt_ooc.course.models import REJECTED, UNFINISHED, Submission
from pttt_ooc.course.queue import GAVE_UP
from pttt_ooc.course.storage import RESERVE, Storage
from pttt_ooc.course.term.assignments import all_assignments, further_games
from pttt_ooc.course.term.dates import CLOSED
from pttt_ooc.course.term.gradebook import current
from pttt_ooc.course.term.rules import AGENTS
from pttt_ooc.service.pulse import read_sign

LONG = 600.0
"""Seconds that a submission may wait."""

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
        if all_assignments(session, AGENTS) and not read_sign(storage.data / ALIVE).alive:
            found.append("No worker judges agents; start `pttt serve` again.")
        found += [*_queue(session), *_files(session, storage), *_judgements(session), *_marks(session)]
        games = further_games(session)
    return found + [problem for game in games for problem in _of_game(directory_of(storage.data, game), game)]


def _of_game(directory: Path, game: str) -> list[str]:
    """The problems of a further game."""
    if not (directory / DEFAULT).is_file() or not read_sign(Storage(directory).alive).alive:
        return [f"No worker judges {game}; start `pttt serve` again."]
    storage = Storage(directory)
    with closing(Database.of(directory, None, game, prepared=True)) as database, database.reading() as session:
        found = [*_queue(session), *_files(session, storage), *_judgements(session)]
    return [f"{game}: {problem}" for problem in found]


def _queue(session: Session) -> list[str]:
    told = []
    for table in (Submission, Agent):
        counted = select(func.count(), func.min(table.received_at)).where(table.status.in_(UNFINISHED))
        number, oldest = session.execute(counted).one()
        if number and time.time() - oldest > LONG:
            minutes = (time.time() - oldest) / 60
            told.append(f"{number} {table.__tablename__} wait for a verdict, the oldest one for {minutes:.0f} min.")
    return told


def _files(session: Session, storage: Storage) -> list[str]:
    there = {file.name for file in storage.uploads.iterdir()}
    lost = [
        (table.__tablename__.removesuffix("s"), number)
        for table in FILED
        for number, file in session.execute(select(table.id, table.file))
        if file not in there
    ]
    return [f"The file of {what} {number} is lost; restore it from a backup." for what, number in lost]


def _judgements(session: Session) -> list[str]:
    failed = session.scalars(select(Submission.id).where(Submission.status == REJECTED, Submission.note == GAVE_UP))
    agents = session.scalars(select(Agent.id).where(Agent.status == REJECTED, Agent.message == GAVE_UP))
    told = [
        f"The server could not judge agent {number}; see the log, and let its team send it again." for number in agents
    ]
    return told + [
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
