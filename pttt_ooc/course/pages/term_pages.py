"""The pages of a term: what is due and what counts, reports, and what a team does itself besides handing in.

It picks what counts, and looks at two strategies together: their own value, and what both can lose.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse
from markupsafe import escape
from pydantic import BaseModel, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.assignments import term_of
from pttt_ooc.course.data.dates import readable_instant
from pttt_ooc.course.data.models import ACCEPTED, REJECTED, Entry, Submission, Team
from pttt_ooc.course.data.names import NO_TEXT
from pttt_ooc.course.data.rules import REPORT
from pttt_ooc.course.data.standings import clip_exploitability
from pttt_ooc.course.data.term_tables import Pair, Report
from pttt_ooc.course.grades import downloads
from pttt_ooc.course.grades.decisions import Desk, ruling_of
from pttt_ooc.course.grades.overview import announcements, as_json, overview, until
from pttt_ooc.course.pages.context import Course, Number, UsedCourse, as_handed_in, own_or_any
from pttt_ooc.course.pages.intakes import reports, reports_of
from pttt_ooc.course.pages.uploads import form_schema, from_browser, from_program
from pttt_ooc.course.people.rights import Allowed
from pttt_ooc.errors import CourseError
from pttt_ooc.site.shell.forms import own_form
from pttt_ooc.site.shell.rendering import render, render_renewed
from pttt_ooc.site.shell.shell import Account, UsedShell
from pttt_ooc.types import Interval

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
programs = APIRouter(prefix="/api/course")
Name = Annotated[str, Path(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
_MOST = 1 << 31


@router.get("/course")
def course_page(request: Request, course: UsedCourse, account: Allowed) -> Response:
    """What is due, and what counts for the team that is signed in."""
    team = account if isinstance(account, Team) else None
    with course.database.reading() as session:
        told = overview(session, course.storage.data, team)
        handed_in = reports_of(session, team) if team else []
        withdrawn = {r.id: found.reason for r in handed_in if (found := ruling_of(session, REPORT, r.id))}
    return render(
        request,
        "course/course.html",
        account,
        team=team,
        reports=handed_in,
        withdrawn=withdrawn,
        **told,
        **describe_times(told["zone"]),
    )


def describe_times(zone: Any) -> dict[str, Any]:
    """The functions by which templates write times."""
    return {"local": lambda at: readable_instant(at, zone), "until": until}


@router.get("/course/announcements.atom")
def feed(request: Request, course: UsedCourse, account: Allowed) -> Response:
    """The announcements as an Atom feed."""
    with course.database.reading() as session:
        found = announcements(session)
    base = str(request.base_url).rstrip("/")
    updated = max((one.at for one in found), default=0.0)
    entries = "".join(
        f"<entry><id>{escape(base)}/course#announcement-{one.id}</id><title>{_xml(one.title)}</title>"
        f"<updated>{_iso(one.at)}</updated><content type='text'>{_xml(one.text)}</content></entry>"
        for one in found
    )
    text = (
        "<?xml version='1.0' encoding='utf-8'?><feed xmlns='http://www.w3.org/2005/Atom'>"
        f"<id>{escape(base)}/course</id><title>{_xml(course.settings.title)}</title>"
        f"<updated>{_iso(updated)}</updated><author><name>Instructors</name></author>{entries}</feed>"
    )
    return Response(text, media_type="application/atom+xml")


def _xml(text: str) -> str:
    return escape(NO_TEXT.sub("\ufffd", text))


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


@router.post("/course/reports/{name}")
async def take_in_report(
    request: Request, course: UsedCourse, shell: UsedShell, account: Allowed, name: Name
) -> Response:
    """Take in a report from the form."""
    assert isinstance(account, Team)
    intake = await run_in_threadpool(reports, course, name)
    await from_browser(request, shell, course, intake, account)
    return RedirectResponse(f"/course#{name}", 303)


@router.get("/course/reports/{number}")
def report_file(course: UsedCourse, account: Allowed, number: Number) -> Response:
    """A report: for its own team and people with rights."""
    with course.database.reading() as session:
        found = session.get(Report, number)
    found = own_or_any(found, account, f"report {number} of yours")
    file = course.storage.upload(found.file)
    return as_handed_in(file, f"report {number}", found.given, "application/octet-stream")


# ---------------------------------------------------------------------------------------------
# What a team does itself


class PickIn(BaseModel):
    """A team's pick."""

    submission: int | None = Field(ge=1, lt=_MOST, description="The number; null: the last ones count again.")


@router.post("/course/picks/{name}")
async def pick(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed, name: Name) -> Response:
    """Pick what counts, from the form; an empty number means the last ones."""
    fields = await own_form(request, shell)
    number = fields.get("submission", "")
    if number and (not number.isdecimal() or not 0 < int(number[:10]) < _MOST):
        raise HTTPException(400, f"{number[:40]!r} is no number of a submission.")
    await run_in_threadpool(_pick, course, account, name, int(number) if number else None)
    return RedirectResponse(f"/course#{name}", 303)


@router.get("/course/own/{name}")
def own_files(course: UsedCourse, account: Allowed, name: Name) -> StreamingResponse:
    """All that the team has handed in for an assignment, as one zip."""
    assert isinstance(account, Team)
    return send_zip(course, name, f"{name}-own.zip", account)


def send_zip(course: Course, name: str, file: str, only: Team | None = None) -> StreamingResponse:
    """What was handed in for an assignment, by all teams or by one, as one zip; 404 if there is no such assignment."""
    try:
        with course.database.reading() as session:
            members, zone = downloads.members_of(session, course.storage, name, only), term_of(session).zone
    except CourseError as error:
        raise HTTPException(404, str(error)) from None
    headers = {"Content-Disposition": f'attachment; filename="{file}"'}
    return StreamingResponse(downloads.zip_members(members, zone), media_type="application/zip", headers=headers)


@router.post("/course/pairs")
async def look_at_pair(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed) -> Response:
    """Look at two of the team's strategies together."""
    fields = await own_form(request, shell)
    texts = [fields.get(name, "") for name in ("first", "second")]
    if not all(text.isascii() and text.isdecimal() and 0 < int(text[:10]) < _MOST for text in texts):
        raise HTTPException(400, "Choose a submission of player 0 and one of player 1.")
    facts = await run_in_threadpool(_pair, course, account, int(texts[0]), int(texts[1]))
    return RedirectResponse(facts["url"], 303)


@router.get("/course/pairs/{number}")
@router.get("/course/parts/pairs/{number}")
def pair_page(request: Request, course: UsedCourse, account: Allowed, number: Number) -> Response:
    """Two strategies together."""
    facts = {"team": None, **_shown_pair(course, account, number)}
    return render_renewed(request, "course/pair.html", "course/parts/pair.html", account, **facts)


def _shown_pair(course: Course, account: Account | None, number: int) -> dict[str, Any]:
    facts = _found_pair(course, account, number)
    stamp = "-".join((*facts["statuses"], str(facts["over"])))
    return {"pair": facts, "stamp": stamp, "value": course.game_value()}


def _found_pair(course: Course, account: Account | None, number: int) -> dict[str, Any]:
    value = course.game_value()
    with course.database.reading() as session:
        found = session.get(Pair, number)
        found = own_or_any(found, account, f"pair {number} of yours")
        return pair_facts(session, found, value.interval if value else None)


def _pair(course: Course, account: Account | None, first: int, second: int) -> dict[str, Any]:
    assert isinstance(account, Team)
    value = course.game_value()
    try:
        with course.database.writing() as session:
            made = make_pair(session, account, first, second)
            return pair_facts(session, made, value.interval if value else None)
    except CourseError as error:
        raise HTTPException(400, str(error)) from None


class PairIn(BaseModel):
    """Two of your strategies."""

    first: int = Field(ge=1, lt=_MOST, description="The number of player 0's.")
    second: int = Field(ge=1, lt=_MOST, description="The number of player 1's.")


@programs.post("/pairs", summary="Two of your strategies together")
def pair_by_program(course: UsedCourse, account: Allowed, pair: PairIn) -> dict[str, Any]:
    """Look at two of your strategies together: `value` for player 0 and `nashconv`, once they are known."""
    return _pair(course, account, pair.first, pair.second)


@programs.get("/pairs/{number}", summary="A pair of your strategies")
def one_pair(course: UsedCourse, account: Allowed, number: Number) -> dict[str, Any]:
    """A pair; `over` is true once it no longer changes by itself."""
    return _found_pair(course, account, number)


@programs.post("/picks/{name}", summary="Pick what counts")
def pick_by_program(course: UsedCourse, account: Allowed, name: Name, picked: PickIn) -> dict[str, Any]:
    """Pick which of your submissions counts, where teams choose; the answer is like that of your grades."""
    _pick(course, account, name, picked.submission)
    with course.database.reading() as session:
        return as_json(overview(session, course.storage.data, account if isinstance(account, Team) else None))


def _pick(course: Course, account: Account | None, name: str, number: int | None) -> None:
    assert isinstance(account, Team)
    try:
        with course.database.writing() as session:
            Desk(session, course.storage.data, f"team {account.name}").pick_of_team(account, name, number)
    except CourseError as error:
        raise HTTPException(409, str(error)) from None


# ---------------------------------------------------------------------------------------------
# Pairs of a team's own strategies


def make_pair(session: Session, team: Team, first: int, second: int) -> Pair:
    """A pair of two strategies of a team, made if it is not there; its value may have to be computed.

    Raises
    ------
    CourseError
        If they are not the team's own, or not one for each player.
    """
    for player, number in enumerate((first, second)):
        row = session.get(Submission, number)
        if row is None or row.team_id != team.id:
            raise CourseError(f"There is no submission {number} of yours.")
        if row.player != player:
            raise CourseError(f"Submission {number} is of player {row.player}; a pair is one of player 0 and one of 1.")
    there = session.scalar(select(Pair).where(Pair.first_id == first, Pair.second_id == second))
    if there is not None:
        return there
    entry = session.get(Entry, (first, second))  # for two best strategies the value is known
    made = Pair(team_id=team.id, first_id=first, second_id=second, value=entry.value if entry else None)
    made.made_at = time.time()
    session.add(made)
    session.flush()
    return made


def pair_facts(session: Session, pair: Pair, game_value: Interval | None) -> dict[str, Any]:
    """A pair as JSON: both strategies, their own value, and NashConv, the sum of their exploitabilities."""
    both = [session.get(Submission, number) for number in (pair.first_id, pair.second_id)]
    figures = [None if one is None else clip_exploitability(one.exploitability) for one in both]
    first, second = figures
    return {
        "id": pair.id,
        "submissions": [pair.first_id, pair.second_id],
        "statuses": [one.status if one else REJECTED for one in both],
        "exploitability": figures,
        "best": [bool(one and one.best) for one in both],
        "nashconv": None if first is None or second is None else first + second,
        "value": pair.value,
        "game_value": game_value,
        "url": f"/course/pairs/{pair.id}",
        "over": any(one is None or one.status == REJECTED for one in both)
        or (pair.value is not None and all(one is not None and one.status == ACCEPTED for one in both)),
    }


# ---------------------------------------------------------------------------------------------
# Programs


class ReportOut(BaseModel):
    """A report that was handed in."""

    id: int
    status: str
    note: str
    size: int
    digest: str


@programs.post(
    "/reports/{name}", summary="Hand in a report", status_code=201, openapi_extra=form_schema("A PDF or a zip.")
)
async def take_in_report_by_program(
    request: Request, response: Response, course: UsedCourse, account: Allowed, name: Name
) -> ReportOut:
    """Hand in a report; the fields seconds, link and comment may come before the file."""
    assert isinstance(account, Team)
    intake = await run_in_threadpool(reports, course, name)
    row, _ = await from_program(request, response, course, intake, account)
    response.headers["Location"] = f"/course/reports/{row.id}"
    return ReportOut(id=row.id, status=row.status, note=row.note, size=row.size, digest=row.digest)


@programs.get("", summary="The course")
def course_facts(course: UsedCourse, account: Allowed) -> dict[str, Any]:
    """The assignments with their dates."""
    with course.database.reading() as session:
        return as_json(overview(session, course.storage.data, None))


@programs.get("/grades", summary="Your grades")
def own_grades(course: UsedCourse, account: Allowed) -> dict[str, Any]:
    """What counts for your team now, and your points once they are released."""
    assert isinstance(account, Team)
    with course.database.reading() as session:
        return as_json(overview(session, course.storage.data, account))
