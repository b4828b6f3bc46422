"""The pages of a term: what is due and what counts, for everybody; the desk, for people with rights."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from markupsafe import escape
from pydantic import BaseModel

from pttt_ooc.course.data import audit
from pttt_ooc.course.data.assignments import all_assignments, term_of
from pttt_ooc.course.data.dates import readable_instant
from pttt_ooc.course.data.models import Team
from pttt_ooc.course.data.names import NO_TEXT
from pttt_ooc.course.data.rules import REPORT
from pttt_ooc.course.data.term_tables import INSTRUCTOR, Person, Report
from pttt_ooc.course.grades import checkup, exports, gradebook
from pttt_ooc.course.grades.decisions import Desk
from pttt_ooc.course.grades.overview import announcements, as_json, overview, until
from pttt_ooc.course.grades.rulings import ruling_of
from pttt_ooc.course.pages import report_intake as reports
from pttt_ooc.course.pages.context import Course, UsedCourse
from pttt_ooc.course.pages.handlers import Number
from pttt_ooc.course.pages.uploads import form_schema, from_browser, from_program
from pttt_ooc.course.people import post
from pttt_ooc.course.people.accounts import Staff
from pttt_ooc.course.people.people import members
from pttt_ooc.course.people.rights import Allowed
from pttt_ooc.errors import CourseError
from pttt_ooc.site.shell.forms import own_form
from pttt_ooc.site.shell.rendering import render
from pttt_ooc.site.shell.shell import Account, UsedShell

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
programs = APIRouter(prefix="/api/course")
Name = Annotated[str, Path(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
_LINES = 200
_MESSAGES = 100


@router.get("/course")
def course_page(request: Request, course: UsedCourse, account: Allowed) -> Response:
    """What is due, and what counts for the team that is signed in."""
    team = account if isinstance(account, Team) else None
    with course.database.reading() as session:
        told = overview(session, course.storage.data, team)
        handed_in = reports.of_team(session, team) if team else []
        withdrawn = {r.id: found.reason for r in handed_in if (found := ruling_of(session, REPORT, r.id))}
    return render(
        request,
        "course/course.html",
        account,
        team=team,
        reports=handed_in,
        withdrawn=withdrawn,
        **told,
        **_words(told["zone"]),
    )


def _words(zone: Any) -> dict[str, Any]:
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
async def hand_in_report(
    request: Request, course: UsedCourse, shell: UsedShell, account: Allowed, name: Name
) -> Response:
    """Take in a report from the form."""
    assert isinstance(account, Team)
    intake = await run_in_threadpool(reports.intake_of, course, name)
    await from_browser(request, shell, course, intake, account)
    return RedirectResponse(f"/course#{name}", 303)


@router.get("/course/reports/{number}")
def report_file(course: UsedCourse, account: Allowed, number: Number) -> Response:
    """A report: for its own team and people with rights."""
    with course.database.reading() as session:
        found = session.get(Report, number)
    if found is None or not (isinstance(account, Staff) or (account is not None and account.id == found.team_id)):
        raise HTTPException(404, f"There is no report {number} of yours.")
    file = course.storage.upload(found.file)
    return FileResponse(file, media_type="application/octet-stream", filename=found.given)


# ---------------------------------------------------------------------------------------------
# The desk


@router.get("/course/desk")
def desk_page(request: Request, course: UsedCourse, account: Allowed, search: str = "") -> Response:
    """What needs attention, and the grades of all teams."""
    problems = checkup.problems(course.database, course.storage)
    with course.database.reading() as session:
        lines = exports.lines(session)
        assignments, people = all_assignments(session), members(session)
        told: dict[str, Any] = {"announcements": announcements(session), "zone": term_of(session).zone}
        told["deliveries"] = post.facts(post.deliveries(session, _MESSAGES))
    points = {(line.team.id, line.assignment.id): line.points for line in lines}
    teams = list({line.team.id: line.team for line in lines}.values())
    wanted = search.casefold()[:100]
    found = [team for team in teams if any(wanted in text for text in _texts(team, people.get(team.id, [])))]
    context = {"problems": problems, "teams": found, "assignments": assignments, "points": points, "people": people}
    may = isinstance(account, Staff) and account.role == INSTRUCTOR
    more = {"search": search[:100], "instructor": may, **_words(told["zone"])}
    return render(request, "course/desk.html", account, team=None, **context, **told, **more)


def _texts(team: Team, people: list[Person]) -> list[str]:
    """What a search looks at, in small letters."""
    found = [team.name, team.own_name, *(text for one in people for text in (one.name, one.email, one.number))]
    return [text.casefold() for text in found]


@router.get("/course/desk/teams/{number}")
def team_page(request: Request, course: UsedCourse, account: Allowed, number: Number) -> Response:
    """A team: members, grades, their history, and the forms that change them."""
    with course.database.reading() as session:
        team = session.get(Team, number)
        if team is None or not team.of_students:
            raise HTTPException(404, f"There is no team {number}.")
        told = overview(session, course.storage.data, team, decided=True)
        people = members(session).get(team.id, [])
        history = {
            one.assignment.id: gradebook.history(session, team.id, one.assignment.id) for one in told["assignments"]
        }
        handed_in = reports.of_team(session, team)
    may = isinstance(account, Staff) and account.role == INSTRUCTOR
    context = {"shown": team, "people": people, "history": history, "instructor": may, "team": None}
    context |= {"reports": handed_in, "disqualified": {one.assignment.id: one.out for one in told["assignments"]}}
    return render(request, "course/desk_team.html", account, **context, **told, **_words(told["zone"]))


@router.get("/course/desk/log")
def log_page(request: Request, course: UsedCourse, account: Allowed) -> Response:
    """The log."""
    with course.database.reading() as session:
        found, zone = audit.lines(session, _LINES), term_of(session).zone
    return render(request, "course/desk_log.html", account, team=None, lines=found, **_words(zone))


@router.get("/course/desk/grades")
def grades_file(
    course: UsedCourse, account: Allowed, form: Annotated[str, Query(alias="format", max_length=20)] = "csv"
) -> Response:
    """The grades as a file."""
    try:
        with course.database.writing() as session:
            gradebook.settle(session, course.storage.data, "grades exported")
            text = exports.export(session, form)
    except CourseError as error:
        raise HTTPException(400, str(error)) from None
    kind = "application/json" if form == "json" else "text/csv"
    name = f"grades-{form}.{'json' if form == 'json' else 'csv'}"
    return Response(text, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


@router.post("/course/desk/mark")
async def mark(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed) -> Response:
    """Points by hand."""
    fields = await own_form(request, shell)
    values = [fields.get(name, "") for name in ("team", "assignment", "criterion")]
    points, comment = _number(fields.get("points", "")), fields.get("comment", "")
    return await _decide(course, account, fields, "mark", *values, points, comment)


@router.post("/course/desk/adjust")
async def adjust(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed) -> Response:
    """Points more or fewer."""
    fields = await own_form(request, shell)
    values = [fields.get(name, "") for name in ("team", "assignment")]
    points, reason = _number(fields.get("points", "")), fields.get("reason", "")
    return await _decide(course, account, fields, "adjust", *values, points, reason)


@router.post("/course/desk/extend")
async def extend(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed) -> Response:
    """A later deadline; an empty one takes it back."""
    fields = await own_form(request, shell)
    values = [fields.get(name, "") for name in ("team", "assignment")]
    time_given = fields.get("until", "").strip().replace("T", " ") or None
    return await _decide(course, account, fields, "extend", *values, time_given, fields.get("reason", ""))


@router.post("/course/desk/release")
async def release(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed) -> Response:
    """Show teams their points, or hide them."""
    fields = await own_form(request, shell)
    return await _decide(course, account, fields, "release", fields.get("assignment", ""), fields.get("hide") != "yes")


@router.post("/course/desk/announce")
async def announce(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed) -> Response:
    """Tell everybody something."""
    fields = await own_form(request, shell)
    return await _decide(course, account, fields, "announce", fields.get("title", ""), fields.get("text", ""))


async def _decide(
    course: Course, account: Account | None, fields: dict[str, str], what: str, *values: object
) -> Response:
    assert isinstance(account, Staff)

    def work() -> None:
        with course.database.writing() as session:
            getattr(Desk(session, course.storage.data, account.person.email), what)(*values)

    try:
        await run_in_threadpool(work)
    except CourseError as error:
        raise HTTPException(400, str(error)) from None
    number = fields.get("number", "")
    return RedirectResponse(f"/course/desk/teams/{number}" if number.isdecimal() else "/course/desk", 303)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise HTTPException(400, f"{text[:40]!r} is no number.") from None


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
async def hand_in_by_program(
    request: Request, response: Response, course: UsedCourse, account: Allowed, name: Name
) -> ReportOut:
    """Hand in a report; the fields seconds, link and comment may come before the file."""
    assert isinstance(account, Team)
    intake = await run_in_threadpool(reports.intake_of, course, name)
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
