"""What of a course needs attention: disk, memory, clock, workers, queues, files, grades, judgements that failed, and
marks that are missing.
"""

from __future__ import annotations

import hashlib
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
from pttt_ooc.course.kinds.bots.league import League, is_there
from pttt_ooc.course.kinds.bots.submissions import MISSING, UNCHECKED, Bot, Bots
from pttt_ooc.course.models import OF_STUDENTS, REJECTED, UNFINISHED, Submission, Team
from pttt_ooc.course.queue import GAVE_UP
from pttt_ooc.course.storage import RESERVE, Storage, upload_hash
from pttt_ooc.course.term import deliveries
from pttt_ooc.course.term.assignments import all_assignments, further_games
from pttt_ooc.course.term.dates import CLOSED
from pttt_ooc.course.term.gradebook import compute, current, is_graded
from pttt_ooc.course.term.rules import AGENTS
from pttt_ooc.course.term.tables import Report
from pttt_ooc.course.term.work import candidates
from pttt_ooc.disk.resources import available_bytes
from pttt_ooc.service.pulse import read_sign

LONG = 600.0
"""Seconds that a submission may wait."""

_DAY = 86400.0
_DISK = 10  # times the reserve: less is told
_MEMORY = 500_000_000  # bytes; the judge of the course's game takes 1.7 GB more than it keeps while it judges
_CLOCK = 60.0  # seconds by which a time may be in the future
_LATEST = 20  # verdicts whose mean time foretells how long the queue takes


def problems(database: Database, storage: Storage) -> list[str]:
    """A sentence for each problem; the most urgent first."""
    found = [*_disk(storage), *_memory()]
    sign = read_sign(storage.alive)
    if not sign.alive:
        found.append("No worker judges submissions; `pttt serve` starts it.")
    elif sign.waits_for:
        found.append(f"The worker does not judge yet: it waits for {sign.waits_for}.")
    with database.reading() as session:
        if all_assignments(session, AGENTS) and not read_sign(storage.data / ALIVE).alive:
            found.append("No worker judges agents; see the log of `pttt serve`, or start it.")
        found += [*_clock(session), *_queue(session), *_league(storage), *_files(session, storage)]
        found += [*_judgements(session), *deliveries.problems(session)]
        found += [*_late_starters(session, storage.data), *_marks(session)]
        games = further_games(session)
    return found + [problem for game in games for problem in _of_game(directory_of(storage.data, game), game)]


def _of_game(directory: Path, game: str) -> list[str]:
    """The problems of a further game."""
    if not (directory / DEFAULT).is_file() or not read_sign(Storage(directory).alive).alive:
        return [f"No worker judges {game}; see the log of `pttt serve`, or start it."]
    storage = Storage(directory)
    with closing(Database.of(directory, None, game, prepared=True)) as database, database.reading() as session:
        found = [*_queue(session), *_files(session, storage), *_judgements(session)]
    return [f"{game}: {problem}" for problem in found]


def damaged_files(database: Database, storage: Storage) -> list[str]:
    """A sentence for each file whose content is not what was received; reads all of them."""
    with database.reading() as session:
        rows: list[Submission | Report | Agent] = [*session.scalars(select(Submission))]
        rows += [*session.scalars(select(Report)), *session.scalars(select(Agent))]
    return [
        f"The file of {row.__tablename__.removesuffix('s')} {row.id} has changed since it was "
        "received; restore it from a backup."
        for row in rows
        if _has_changed(storage, row)
    ]


def unsettled_grades(database: Database, storage: Storage) -> list[str]:
    """A sentence if grades are not yet in the history, as after a kill between a verdict and its grades."""
    with database.reading() as session:
        if not is_graded(session):
            return []
        known = current(session)
        unsettled = [
            key
            for key, grade in compute(session, storage.data).items()
            if (grade.points is not None if key not in known else known[key].facts != grade.facts())
        ]
    if not unsettled:
        return []
    return [
        f"{len(unsettled)} grades have changed and are not in the history yet; `pttt course grades` writes them down."
    ]


def _has_changed(storage: Storage, row: Submission | Report | Agent) -> bool:
    try:
        with open(storage.upload(row.file), "rb") as file:
            return hashlib.file_digest(file, upload_hash).hexdigest() != row.digest
    except FileNotFoundError:  # told as lost
        return False


def _disk(storage: Storage) -> list[str]:
    free = storage.free_bytes()
    if free >= _DISK * RESERVE:
        return []
    return [
        f"The disk has {free / 1e9:.1f} GB left; uploads are refused below {RESERVE / 1e9:.1f} GB. Free some space."
    ]


def _memory() -> list[str]:
    left = available_bytes()
    if left >= _MEMORY:
        return []
    return [f"The machine has {left / 1e6:.0f} MB of memory left; the system may kill the worker. End other programs."]


def _clock(session: Session) -> list[str]:
    latest = max(session.scalar(select(func.max(table.received_at))) or 0.0 for table in FILED)
    ahead = latest - time.time()
    if ahead <= _CLOCK:
        return []
    return [
        f"A submission was received {ahead / 60:.0f} min after the present time: the clock was put back, or was ahead "
        "then. Set it right; deadlines follow it."
    ]


def _queue(session: Session) -> list[str]:
    told = []
    for table in (Submission, Agent):
        waiting, oldest = session.execute(
            select(func.count(), func.min(table.received_at)).where(table.status.in_(UNFINISHED))
        ).one()
        if not waiting:
            continue
        age = time.time() - oldest
        if age > LONG:
            told.append(f"{waiting} {table.__tablename__} wait for a verdict, the oldest one for {age / 60:.0f} min.")
        if table is Submission and (needed := waiting * _seconds_of_a_verdict(session)) > LONG:
            told.append(f"The queue of {waiting} submissions takes about {needed / 60:.0f} min more.")
    return told


def _seconds_of_a_verdict(session: Session) -> float:
    spent = session.scalars(
        select(Submission.evaluation_seconds)
        .where(Submission.evaluation_seconds.is_not(None))
        .order_by(Submission.finished_at.desc())
        .limit(_LATEST)
    ).all()
    return sum(seconds or 0.0 for seconds in spent) / max(1, len(spent))


def _league(storage: Storage) -> list[str]:
    if not is_there(storage.data):
        return []
    league, told = League(storage.data), []
    if not read_sign(league.alive).alive:
        told.append("No worker checks bots; `pttt serve` starts it.")
    with closing(Bots(league)) as bots:
        oldest = bots.oldest_wait()
        with bots.database.reading() as session:
            failed = session.scalars(select(Bot).where(Bot.message.in_((UNCHECKED, MISSING))).order_by(Bot.id)).all()
    if oldest is not None and time.time() - oldest > LONG:
        told.append(f"A bot has been waiting for a verdict for {(time.time() - oldest) / 60:.0f} min.")
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
        f"The server could not judge agent {number}; see the log, then `pttt course rejudge {number} --kind agents`."
        for number in agents
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
