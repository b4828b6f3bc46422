"""What needs attention in a course: disk, memory, clock, workers, queues, files, grades, failed judgements, and missing
marks.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from pttt_ooc.course.agents.settings import ALIVE
from pttt_ooc.course.agents.standings import tries_in
from pttt_ooc.course.bots.league import FILE, TOURNAMENT, League, league_directory
from pttt_ooc.course.bots.league import read_settings as read_league
from pttt_ooc.course.bots.submissions import MISSING, UNCHECKED, Bot, Bots
from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.assignments import all_assignments, further_games, further_leagues, further_of
from pttt_ooc.course.data.database import DEFAULT, FILED, Database
from pttt_ooc.course.data.dates import CLOSED
from pttt_ooc.course.data.game_directory import directory_of
from pttt_ooc.course.data.memberships import left_by_all, without_rank
from pttt_ooc.course.data.models import OF_STUDENTS, REJECTED, UNFINISHED, Submission, Team
from pttt_ooc.course.data.queue import GAVE_UP
from pttt_ooc.course.data.rules import AGENTS, BOTS
from pttt_ooc.course.data.settings import read_settings
from pttt_ooc.course.data.storage import RESERVE, Storage, upload_hash
from pttt_ooc.course.data.term_tables import Report
from pttt_ooc.course.grades.course_file import missing_league
from pttt_ooc.course.grades.gradebook import compute, current, is_graded
from pttt_ooc.course.grades.work import candidates
from pttt_ooc.course.people import post
from pttt_ooc.disk.resources import available_bytes
from pttt_ooc.errors import PtttError
from pttt_ooc.site.service.pulse import read_sign

LONG = 600.0
"""Seconds that a submission may wait."""

_DAY = 86400.0
_DISK = 10  # times the reserve: less free space is reported
_MEMORY = 500_000_000  # bytes; the judge of the course's game takes 1.7 GB more than it keeps while it judges
_CLOCK = 60.0  # seconds by which a time may be in the future
_LATEST = 20  # verdicts whose mean time predicts how long the queue takes


def run_check(what: str, check: Callable[[], list[str]]) -> list[str]:
    """The sentences of a check, or one sentence if it fails, as what it looks at is damaged or unreadable."""
    try:
        return check()
    except PtttError as error:
        return [str(error)]
    except OSError as error:
        return [f"{what[0].upper()}{what[1:]} cannot be looked at: {error.filename or ''}: {error.strerror or error}."]
    except (SQLAlchemyError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        return [
            f"{what[0].upper()}{what[1:]} cannot be looked at, as what is stored is damaged: {type(error).__name__}, "
            f"{reason}; restore a backup."
        ]


def problems(database: Database, storage: Storage) -> list[str]:
    """A sentence for each problem, the most urgent first.  A check that fails is a problem, too."""
    data, found = storage.data, []
    games: list[str] = []
    leagues: list[Path] = [data]

    def look(what: str, check: Callable[[Session], list[str]]) -> None:
        def read() -> list[str]:
            with database.reading() as session:
                return check(session)

        found.extend(run_check(what, read))

    def name_further(session: Session) -> list[str]:
        games.extend(further_games(session))
        leagues.extend(league_directory(data, name) for name in further_leagues(session))
        return []

    look("the list of assignments", name_further)
    look("the leagues of assignments", lambda session: _missing_leagues(session, data))
    found += run_check("the disk", lambda: _disk(storage))
    found += run_check("the memory", _memory)
    found += run_check("the worker", lambda: _worker(storage))
    look("agents", lambda session: _agents(session, data))
    look("the clock", _clock)
    look("the queue", _queue)
    for place in leagues:
        found += run_check(f"the league in {place}", partial(_league, place, data))
    look("files", lambda session: _files(session, storage))
    look("verdicts", _judgements)
    look("messages", post.problems)
    look("deadlines", lambda session: _late_starters(session, data))
    look("marks", _marks)
    look("teams", _guests)
    for game in games:
        found += run_check(f"the game {game}", partial(_of_game, directory_of(data, game), game))
    return list(dict.fromkeys(found))


def _missing_leagues(session: Session, data: Path) -> list[str]:
    """The assignments of bots without a league, for which no bots can be handed in."""
    found = [(one.name, missing_league(data, further_of(one))) for one in all_assignments(session, BOTS)]
    return [f"Assignment {name}: {missing}" for name, missing in found if missing]


def _worker(storage: Storage) -> list[str]:
    sign = read_sign(storage.alive)
    if not sign.alive:
        return ["No worker judges submissions; `pttt course serve` starts it."]
    return [f"The worker does not judge yet: it waits for {sign.waits_for.rstrip('.')}."] if sign.waits_for else []


def _agents(session: Session, data: Path) -> list[str]:
    if not all_assignments(session, AGENTS):
        return []
    sign, told = read_sign(data / ALIVE), list[str]()
    if not sign.alive:
        told.append("No worker judges agents; see the log of `pttt course serve`, or start it.")
    elif sign.waits_for:
        told.append(f"No agents are judged now: {sign.waits_for}")
    for name, found in tries_in(data).all().items():
        pair = "agents " + " and ".join(name.split("-"))
        if found.decided:
            told.append(
                f"The games of the {pair} are drawn by rule, as they were broken off {len(found.reasons)} times: "
                f"{found.reasons[-1]} Judge one of them again, and they are played again."
            )
        elif found.failed:
            told.append(f"The games of the {pair} were broken off {len(found.failed)} times: {found.failed[-1]}")
    return told


def _of_game(directory: Path, game: str) -> list[str]:
    """The problems of a further game."""
    idle = [f"No worker judges {game}; see the log of `pttt course serve`, or start it."]
    if not directory.exists():
        return idle
    read_settings(directory)
    if not (directory / DEFAULT).is_file():
        return [f"The database {directory / DEFAULT} is missing; restore a backup into a new directory."]
    storage = Storage(directory)
    with closing(Database.of(directory, None, game, prepared=True)) as database, database.reading() as session:
        found = [*_queue(session), *_files(session, storage), *_judgements(session)]
    alive = read_sign(storage.alive).alive
    return [*([] if alive else idle), *(f"In {game}: {problem}" for problem in found)]


def damaged_files(database: Database, storage: Storage) -> list[str]:
    """A sentence for each file whose content is not what was received; reads all of them."""
    with database.reading() as session:
        rows: list[Submission | Report | Agent] = [*session.scalars(select(Submission))]
        rows += [*session.scalars(select(Report)), *session.scalars(select(Agent))]
        games = further_games(session)
    told = [
        f"The file of {row.__tablename__.removesuffix('s')} {row.id} has changed since it was "
        "received; restore it from a backup."
        for row in rows
        if _has_changed(storage, row)
    ]
    for game in games:
        told += run_check(f"files of {game}", partial(_damaged_files_of_game, directory_of(storage.data, game), game))
    return told


def _damaged_files_of_game(directory: Path, game: str) -> list[str]:
    if not (directory / DEFAULT).is_file():  # reported elsewhere
        return []
    with closing(Database.of(directory, None, game, prepared=True)) as database:
        return [f"In {game}: {told}" for told in damaged_files(database, Storage(directory))]


def unsettled_grades(database: Database, storage: Storage) -> list[str]:
    """A sentence if grades are not yet in the history, for example after a kill between a verdict and its grades."""
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
    except FileNotFoundError:  # reported as lost
        return False
    except OSError:  # it cannot be read any more
        return True


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
            told.append(f"The {waiting} submissions in the queue will take about {needed / 60:.0f} min.")
    return told


def _seconds_of_a_verdict(session: Session) -> float:
    spent = session.scalars(
        select(Submission.evaluation_seconds)
        .where(Submission.evaluation_seconds.is_not(None))
        .order_by(Submission.finished_at.desc())
        .limit(_LATEST)
    ).all()
    return sum(seconds or 0.0 for seconds in spent) / max(1, len(spent))


def _league(place: Path, data: Path) -> list[str]:
    """The problems of the league in a directory, of the course in `data`."""
    if not (place / FILE).exists():
        kept = (place != data) or any((place / name).exists() for name in (TOURNAMENT, f"{TOURNAMENT}.sqlite"))
        return [f"{place / FILE} is missing; restore it from a backup."] if kept else []
    if not read_league(place).open:
        return []
    league, told = League(place), []
    of = "" if place == data else f" of {place.name}"
    sign = read_sign(league.alive)
    if not sign.alive:
        told.append(f"No worker checks bots{of}; `pttt course serve` starts it.")
    elif sign.waits_for:
        told.append(f"No bots{of} are checked or played now: {sign.waits_for}")
    if not league.settings.has_begun:
        told += _practice(league, of)
    if not league.database.exists():
        lost = f"The database {league.database} is missing; restore a backup into a new directory."
        return [*told, *([lost] if league.tournament.exists() else [])]
    with closing(Bots(league)) as bots:
        oldest = bots.oldest_wait()
        with bots.database.reading() as session:
            failed = session.scalars(select(Bot).where(Bot.message.in_((UNCHECKED, MISSING))).order_by(Bot.id)).all()
    if oldest is not None and time.time() - oldest > LONG:
        told.append(f"A bot{of} has been waiting for a verdict for {(time.time() - oldest) / 60:.0f} min.")
    told += [f"The server could not check bot {one.id}{of}: {one.message.lower()}; see the log." for one in failed]
    return told + _tournament(league)


def _practice(league: League, of: str) -> list[str]:
    """A sentence for each two bots that do not practise with each other any more."""
    from pttt_ooc.other_games.extreme.practice_record import PracticeRecord

    record = PracticeRecord.read(league.practice)
    if record is None:
        return []
    return [
        f"In practice{of}, {one.name} and {other.name} do not meet until one of them has a new version: the machine "
        f"broke their match off {len(reasons)} times: {reasons[-1]}"
        for one, other, reasons in record.given_up()
    ]


def _tournament(league: League) -> list[str]:
    """What is damaged in a tournament that has begun."""
    from pttt_ooc.other_games.extreme.tournament_record import FACTS, Record

    directory = league.tournament
    for place in (directory, *(directory / name for name in ("bots", "matches", "curves"))):
        if place.exists() and not place.is_dir():
            return [f"{place} is no directory; restore it from a backup."]
    if not (directory / FACTS).exists():
        there = directory.is_dir() and any((directory / name).is_dir() for name in ("matches", "bots"))
        return [f"{directory / FACTS} is missing; restore it from a backup."] if there else []
    record = Record(directory)
    record.state()
    told = []
    for name, found in record.tries.all().items():
        log = directory / "matches" / f"{name}.json"
        if found.decided and log.exists():
            told.append(
                f"The match {name} is drawn by rule, as it was broken off {len(found.reasons)} times: "
                f"{found.reasons[-1]} Delete {log}, and it is played again."
            )
        elif found.failed and not found.decided:
            told.append(f"The match {name} was broken off {len(found.failed)} times: {found.failed[-1]}")
    for team in record.teams.values():
        file = record.bot(team.key)
        if not file.is_file():
            told.append(f"{file} is missing; restore it from a backup.")
        elif hashlib.sha256(file.read_bytes()).hexdigest() != team.digest:
            told.append(f"{file} has changed since the tournament began; restore it from a backup.")
    return told


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


def _guests(session: Session) -> list[str]:
    """Teams that have only guests; they may be honest students, whom an instructor must let in."""
    out = without_rank(session) - left_by_all(session)
    return [
        f"The team {session.get_one(Team, number).own_name} takes no rank, as no instructor has let its members into "
        "the course; give one of them a link of `pttt course invite`."
        for number in sorted(out)
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
