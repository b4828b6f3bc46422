"""What a course takes in, of each kind: strategies, also for further games, bots, agents, and reports.

Dates and limits are checked twice: before the file comes, and once it is there, as other uploads of the team may have
ended meanwhile.  An upload that began too late is refused with the dates.  The very same file is not taken again.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from fastapi import HTTPException
from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.agents.settings import settings_of
from pttt_ooc.course.bots.league import LeagueSettings
from pttt_ooc.course.bots.submissions import Bot, Bots
from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.assignments import check_open, find_assignment
from pttt_ooc.course.data.limits import Limits, check_limits, hold
from pttt_ooc.course.data.memberships import was_brought_in
from pttt_ooc.course.data.models import ACCEPTED, REJECTED, Submission, Team
from pttt_ooc.course.data.names import NO_TEXT
from pttt_ooc.course.data.queue import GAVE_UP
from pttt_ooc.course.data.rules import AGENTS, BOTS, REPORT, STRATEGIES
from pttt_ooc.course.data.storage import Incoming
from pttt_ooc.course.data.term_tables import Assignment, Report
from pttt_ooc.course.grades.gradebook import hold_grades, settle
from pttt_ooc.course.pages.context import Course, log
from pttt_ooc.course.pages.uploads import Fields, Intake, Row
from pttt_ooc.course.strategies.submissions import facts_of_file, find_twin, take_in
from pttt_ooc.errors import CourseError

DEFAULT_MB = 50.0
_PROGRAM = re.compile(r"[A-Za-z]\w{0,59}\.py", re.ASCII)
_PDF, _PDF_WITHIN = b"%PDF-", 1024  # where readers look for the mark of a PDF
_LONGEST_LINK, _LONGEST_COMMENT, _LONGEST_NAME = 500, 2000, 100
_MOST_MEMBERS = 10_000


def assignment_of(session: Session, name: str, kind: str) -> Assignment:
    """The assignment of a kind with this name; 404 if there is none."""
    try:
        found = find_assignment(session, name)
    except CourseError as error:
        raise HTTPException(404, str(error)) from None
    if found.kind != kind:
        raise HTTPException(404, f"{name} takes no {kind.removesuffix('s')}s, but {found.kind}.")
    return found


def _intake(
    course: Course,
    table: type[Row],
    limits: Limits,
    largest: int,
    find: Callable[[Session, Team, Fields, Incoming], Row | None],
    make: Callable[[Team, Fields, Incoming], Row],
    *,
    kind: str,
    name: str | None = None,
    fields: str = "the field file",
    check_fields: Callable[[Fields], object] = lambda fields: None,
    lock: Callable[[Session, Team], object] = hold,
    settle: Callable[[Session, Row], object] = lambda session, row: None,
) -> Intake[Row]:
    """How files with a row in the course's database are taken in.

    Parameters
    ----------
    find
        Returns the row of the very same file, which is not taken again.
    make
        Makes the row of a file that is kept.
    name
        The assignment; None: any of this kind.
    lock, settle
        See :func:`~pttt_ooc.course.strategies.submissions.take_in`.
    """

    def check(session: Session, team: Team, in_flight: int, at: float) -> None:
        check_open(session, kind, team, at, name)
        check_limits(session, table, team, limits, in_flight)

    def check_first(team: Team, in_flight: int, at: float) -> None:
        with course.database.reading() as session:
            check(session, team, in_flight, at)

    def take(team: Team, given: Fields, incoming: Incoming) -> tuple[Row, bool]:
        row, new = take_in(
            course.database,
            incoming,
            team,
            find=lambda session: find(session, team, given, incoming),
            make=lambda: make(team, given, incoming),
            check=lambda session: check(session, team, 0, incoming.begun_at),
            lock=lock,
            settle=settle,
        )
        facts = {"kind": kind, "submission": row.id, "team": team.name, "bytes": incoming.size, "new": new}
        log.info("received", extra=facts)
        return row, new

    return Intake(largest, fields, check_first, take, check_fields)


# ---------------------------------------------------------------------------------------------
# Strategies


def player_of(fields: Fields) -> int:
    """The player in a form; 400 if there is none."""
    if fields.get("player") not in ("0", "1"):
        raise HTTPException(400, "The field player must be 0 or 1, and come before the file.")
    return int(fields["player"])


def strategies(course: Course) -> Intake[Submission]:
    """How strategies are taken in."""

    def find(session: Session, team: Team, fields: Fields, incoming: Incoming) -> Submission | None:
        return find_twin(session, team, player_of(fields), incoming.digest)

    def make(team: Team, fields: Fields, incoming: Incoming) -> Submission:
        return Submission(**facts_of_file(incoming, team), player=player_of(fields))

    largest, fields = course.settings.max_upload_bytes, "the fields player and file"
    kept = Submission, course.limits, largest, find, make
    return _intake(course, *kept, kind=STRATEGIES, fields=fields, check_fields=player_of)


def strategies_of_game(course: Course, own: Course) -> Intake[Submission]:
    """How strategies of the further game `own` are taken in: by the course's dates, into the game's own directory."""
    base = strategies(own)

    def check_dates(team: Team, at: float) -> None:
        with course.database.reading() as session:
            check_open(session, STRATEGIES, team, at, further=own.settings.game)

    def check(team: Team, in_flight: int, at: float) -> None:
        check_dates(team, at)
        base.check_limits(team, in_flight, at)

    def take(team: Team, fields: Fields, incoming: Incoming) -> tuple[Submission, bool]:
        try:
            check_dates(team, incoming.begun_at)
        except BaseException:
            incoming.discard()
            raise
        return base.take_in(team, fields, incoming)

    return Intake(base.largest, base.fields, check, take, base.check_fields)


# ---------------------------------------------------------------------------------------------
# Bots and agents: files in Python


def _name_of_program(given: str, what: str) -> str:
    """The last part of a file's name as it was sent; 400 if Python could not import it."""
    name = re.split(r"[/\\]", given)[-1]
    if not _PROGRAM.fullmatch(name):
        raise HTTPException(400, f"{what}, in letters, digits and underscores.")
    return name


def bots(course: Course, settings: LeagueSettings, kept: Bots, league: str | None) -> Intake[Bot]:
    """How bots of a league are taken in, into its own database; `league` None: the course's own."""

    def check_dates(team: Team, at: float) -> None:
        with course.database.reading() as session:
            check_open(session, BOTS, team, at, further=league)

    def check(team: Team, in_flight: int, at: float) -> None:
        check_dates(team, at)
        kept.check_limits(team, in_flight)

    def take(team: Team, fields: Fields, incoming: Incoming) -> tuple[Bot, bool]:
        try:
            check_dates(team, incoming.begun_at)
            name = _name_of_program(incoming.given, "A bot is a file whose name is like team39.py")
            return kept.take_in(team, name, incoming.content(), incoming.begun_at)
        finally:
            incoming.discard()

    return Intake(settings.largest_bytes, "the field file", check, take)


def agents(course: Course, name: str) -> Intake[Agent]:
    """How agents of an assignment are taken in; 404 if there is no such assignment of agents."""
    with course.database.reading() as session:
        assignment = assignment_of(session, name, AGENTS)
    s, of_it = course.settings, Agent.assignment_id == assignment.id
    limits = Limits("agents", s.submissions_per_hour, s.waiting_per_team, of_it, brought=partial(was_brought_in, Agent))

    def own_name(incoming: Incoming) -> str:
        return _name_of_program(incoming.given, "An agent is a file whose name is like mine.py")

    def find(session: Session, team: Team, fields: Fields, incoming: Incoming) -> Agent | None:
        latest = session.scalar(select(Agent).where(Agent.team_id == team.id, of_it).order_by(Agent.id.desc()).limit(1))
        same = latest is not None and (latest.digest, latest.given) == (incoming.digest, own_name(incoming))
        return latest if latest is not None and same and latest.message != GAVE_UP else None

    def make(team: Team, fields: Fields, incoming: Incoming) -> Agent:
        return Agent(**facts_of_file(incoming, team), assignment_id=assignment.id, given=own_name(incoming))

    largest = 1000 * settings_of(assignment.settings).largest_kb
    return _intake(course, Agent, limits, largest, find, make, kind=AGENTS, name=name)


# ---------------------------------------------------------------------------------------------
# Reports: a PDF, or a zip with a report and its code, checked at once and graded by hand


def reports(course: Course, name: str) -> Intake[Report]:
    """How reports of an assignment are taken in; 404 if there is no such assignment of reports."""
    with course.database.reading() as session:
        assignment = assignment_of(session, name, REPORT)
    s = course.settings
    hourly, daily = s.submissions_per_hour, s.submissions_per_day
    limits = Limits("reports", hourly, s.waiting_per_team, daily=daily, brought=partial(was_brought_in, Report))

    def find(session: Session, team: Team, fields: Fields, incoming: Incoming) -> Report | None:
        same = select(Report).where(Report.team_id == team.id, Report.assignment_id == assignment.id)
        return session.scalar(same.where(Report.digest == incoming.digest).limit(1))

    def make(team: Team, fields: Fields, incoming: Incoming) -> Report:
        status, note = _verdict(course.storage.upload(incoming.name))
        # The last part of the path that was sent counts, in harmless characters.
        given = re.sub(r"[^\w .()+-]", "_", re.split(r"[/\\]", incoming.given)[-1])[-_LONGEST_NAME:] or "report"
        return Report(
            **facts_of_file(incoming, team),
            assignment_id=assignment.id,
            given=given,
            status=status,
            note=note,
            seconds=_seconds(fields),
            link=fields.get("link", "").strip(),
            comment=fields.get("comment", "").strip(),
        )

    def lock(session: Session, team: Team) -> None:
        hold_grades(session)  # in this order, as wherever grades are written down: first the grades, then the team
        hold(session, team)

    def settle_report(session: Session, row: Report) -> None:
        settle(session, course.storage.data, f"report {row.id}")

    largest = int(1e6 * (DEFAULT_MB if assignment.largest_mb is None else assignment.largest_mb))
    return _intake(
        course,
        Report,
        limits,
        largest,
        find,
        make,
        kind=REPORT,
        name=name,
        check_fields=_check_fields,
        lock=lock,
        settle=settle_report,
    )


def _check_fields(fields: Fields) -> None:
    _seconds(fields)
    link = fields.get("link", "").strip()
    if link and not _is_link(link):
        raise HTTPException(400, "The field link must be an address that begins with https:// or http://.")
    if len(fields.get("comment", "")) > _LONGEST_COMMENT or NO_TEXT.search(fields.get("comment", "")):
        raise HTTPException(
            400, f"The field comment has at most {_LONGEST_COMMENT} characters, none of them a control."
        )


def _is_link(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    whole = parts.scheme in ("http", "https") and bool(parts.netloc)
    return whole and len(text) <= _LONGEST_LINK and text.isprintable() and " " not in text


def _seconds(fields: Fields) -> float | None:
    text = fields.get("seconds", "").strip()
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 1e9:
        raise HTTPException(400, "The field seconds must be the running time in seconds, such as 5400.")
    return seconds


def _verdict(file: Path) -> tuple[str, str]:
    """Accepted, or rejected and why.  Nothing is unpacked."""
    with open(file, "rb") as content:
        if _PDF in content.read(_PDF_WITHIN):
            return ACCEPTED, ""
    try:
        with zipfile.ZipFile(file) as archive:
            members = len(archive.infolist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        return REJECTED, "Neither a PDF nor a zip file"
    if not 1 <= members <= _MOST_MEMBERS:
        return REJECTED, f"A zip with {members} files; it must have 1 to {_MOST_MEMBERS}"
    return ACCEPTED, ""


def reports_of(session: Session, team: Team) -> list[Report]:
    """A team's reports, the latest first."""
    return list(session.scalars(select(Report).where(Report.team_id == team.id).order_by(Report.id.desc())))
