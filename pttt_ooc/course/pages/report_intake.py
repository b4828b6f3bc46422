"""Reports: a PDF, or a zip with a report and its code, checked at once and graded by hand."""

from __future__ import annotations

import re
import time
import zipfile
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from fastapi import HTTPException
from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.assignments import check_open, find_assignment
from pttt_ooc.course.data.limits import Limits, check_limits, hold
from pttt_ooc.course.data.memberships import was_brought_in
from pttt_ooc.course.data.models import ACCEPTED, REJECTED, Team
from pttt_ooc.course.data.names import NO_TEXT
from pttt_ooc.course.data.rules import REPORT
from pttt_ooc.course.data.storage import Incoming
from pttt_ooc.course.data.term_tables import Report
from pttt_ooc.course.grades.gradebook import hold_grades, settle
from pttt_ooc.course.pages.context import Course
from pttt_ooc.course.pages.uploads import Fields, Intake
from pttt_ooc.errors import CourseError

DEFAULT_MB = 50.0
_PDF, _PDF_WITHIN = b"%PDF-", 1024  # where readers look for the mark of a PDF
_LONGEST_LINK, _LONGEST_COMMENT, _LONGEST_NAME = 500, 2000, 100
_MOST_MEMBERS = 10_000


def intake_of(course: Course, name: str) -> Intake[Report]:
    """How reports of an assignment are taken in; 404 if there is no such assignment of reports."""
    with course.database.reading() as session:
        try:
            assignment = find_assignment(session, name)
        except CourseError as error:
            raise HTTPException(404, str(error)) from None
        if assignment.kind != REPORT:
            raise HTTPException(404, f"{name} takes no reports, but {assignment.kind}.")
    s = course.settings
    hourly, daily = s.submissions_per_hour, s.submissions_per_day
    limits = Limits("reports", hourly, s.waiting_per_team, daily=daily, brought=partial(was_brought_in, Report))

    def check(team: Team, in_flight: int, at: float) -> None:
        with course.database.reading() as session:
            check_open(session, REPORT, team, at, name)
            check_limits(session, Report, team, limits, in_flight)

    def take(team: Team, fields: Fields, incoming: Incoming) -> tuple[Report, bool]:
        return _keep(course, limits, name, assignment.id, team, fields, incoming)

    largest = int(1e6 * (DEFAULT_MB if assignment.largest_mb is None else assignment.largest_mb))
    return Intake(largest, "the field file", check, take, _check_fields)


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


def _keep(
    course: Course, limits: Limits, name: str, assignment: int, team: Team, fields: Fields, incoming: Incoming
) -> tuple[Report, bool]:
    # The very same file again is the report that is there: sending twice makes no second one.
    with course.database.reading() as session:
        twin = session.scalar(_twins(team, assignment, incoming.digest))
        if twin is not None:
            incoming.discard()
            return twin, False
    try:
        # The file is on disk and looked at before its row is made: what was confirmed is never lost.
        incoming.keep()
        status, note = _verdict(course.storage.upload(incoming.name))
        # Of the path that was sent, the last part counts, in harmless characters.
        given = re.sub(r"[^\w .()+-]", "_", re.split(r"[/\\]", incoming.given)[-1])[-_LONGEST_NAME:] or "report"
        now = time.time()
        made = Report(
            team_id=team.id,
            assignment_id=assignment,
            file=incoming.name,
            given=given,
            digest=incoming.digest,
            size=incoming.size,
            received_at=now,
            changed_at=now,
            begun_at=incoming.begun_at,
            status=status,
            note=note,
            seconds=_seconds(fields),
            link=fields.get("link", "").strip(),
            comment=fields.get("comment", "").strip(),
        )
        # Dates and limits are checked once more under the locks, as several uploads of a team may end at the same time.
        with course.database.writing() as session:
            hold_grades(session)  # in the order of all that writes grades down: first the grades, then the team
            hold(session, team)
            check_open(session, REPORT, team, incoming.begun_at, name)
            check_limits(session, Report, team, limits)
            session.add(made)
            session.flush()
            settle(session, course.storage.data, f"report {made.id}")
    except BaseException:
        # Refused after all: no file stays without a row.
        incoming.discard()
        raise
    return made, True


def _twins(team: Team, assignment: int, digest: str) -> Select[tuple[Report]]:
    same = select(Report).where(Report.team_id == team.id, Report.assignment_id == assignment)
    return same.where(Report.digest == digest).limit(1)


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


def of_team(session: Session, team: Team) -> list[Report]:
    """A team's reports, the latest first."""
    return list(session.scalars(select(Report).where(Report.team_id == team.id).order_by(Report.id.desc())))
