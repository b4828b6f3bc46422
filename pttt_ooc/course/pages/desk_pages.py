"""The desk, for people with rights: what needs attention, grades, decisions, submissions, and judging again."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, HTTPException, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse
from sqlalchemy.orm import Session

from pttt_ooc.course.bots.league import league_directory
from pttt_ooc.course.data import audit
from pttt_ooc.course.data.assignments import all_assignments, further_games, further_leagues, term_of
from pttt_ooc.course.data.limits import SubmissionError
from pttt_ooc.course.data.models import ACCEPTED, REJECTED, Team
from pttt_ooc.course.data.term_tables import INSTRUCTOR, Rejudgement
from pttt_ooc.course.grades import checkup, decisions, downloads, exports, gradebook, rejudging, search, similarity
from pttt_ooc.course.grades.decisions import Desk
from pttt_ooc.course.grades.diagnosis import notes
from pttt_ooc.course.grades.overview import announcements, overview
from pttt_ooc.course.pages.context import Course, Number, UsedCourse, no_team
from pttt_ooc.course.pages.intakes import reports_of
from pttt_ooc.course.pages.term_pages import describe_times, send_zip
from pttt_ooc.course.people import post
from pttt_ooc.course.people.accounts import Staff
from pttt_ooc.course.people.people import members
from pttt_ooc.course.people.rights import Allowed
from pttt_ooc.errors import CourseError
from pttt_ooc.site.shell.forms import own_form
from pttt_ooc.site.shell.rendering import render, render_renewed
from pttt_ooc.site.shell.shell import Account, UsedShell

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False, prefix="/course/desk")
T = TypeVar("T")
Words = Annotated[str, Query(max_length=100)]
PageNumber = Annotated[int, Query(ge=1, lt=1 << 20)]
Name = Annotated[str, Path(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
_LINES, _MESSAGES = 200, 100
_LATEST = 20
_CHOSEN = re.compile(f"({'|'.join(rejudging.NOUNS)})-[0-9]{{1,9}}")


def _is_instructor(account: Account | None) -> bool:
    return isinstance(account, Staff) and account.role == INSTRUCTOR


@router.get("")
def desk_page(
    request: Request, course: UsedCourse, account: Allowed, search_for: Annotated[str, Query(alias="search")] = ""
) -> Response:
    """What needs attention, and the grades of all teams."""
    problems = checkup.problems(course.database, course.storage)
    with course.database.reading() as session:
        lines = exports.lines(session)
        assignments, people = all_assignments(session), members(session)
        told: dict[str, Any] = {"announcements": announcements(session), "zone": term_of(session).zone}
        told["deliveries"] = post.facts(post.deliveries(session, _MESSAGES))
        teams = {line.team.id: line.team for line in lines}
        wanted = search.find_teams(session, teams, search_for[:100])
    points = {(line.team.id, line.assignment.id): line.points for line in lines}
    found = [team for number, team in teams.items() if wanted is None or number in wanted]
    context = {
        "problems": problems,
        "notes": notes(course.storage.data),
        "teams": found,
        "assignments": assignments,
        "points": points,
        "people": people,
    }
    more = {"search": search_for[:100], "instructor": _is_instructor(account), **describe_times(told["zone"])}
    return render(request, "course/desk.html", account, team=None, **context, **told, **more)


@router.get("/teams/{number}")
def team_page(request: Request, course: UsedCourse, account: Allowed, number: Number) -> Response:
    """A team: members, grades, their history, and the forms that change them."""
    with course.database.reading() as session:
        team = session.get(Team, number)
        if team is None or not team.of_students:
            raise no_team(number)
        told = overview(session, course.storage.data, team, decided=True)
        people = members(session).get(team.id, [])
        history = {
            one.assignment.id: gradebook.history(session, team.id, one.assignment.id) for one in told["assignments"]
        }
        handed_in = reports_of(session, team)
    context = {"shown": team, "people": people, "history": history, "instructor": _is_instructor(account), "team": None}
    context |= {"reports": handed_in, "disqualified": {one.assignment.id: one.out for one in told["assignments"]}}
    return render(request, "course/desk_team.html", account, **context, **told, **describe_times(told["zone"]))


@router.get("/log")
def log_page(request: Request, course: UsedCourse, account: Allowed) -> Response:
    """The log."""
    with course.database.reading() as session:
        found, zone = audit.lines(session, _LINES), term_of(session).zone
    return render(request, "course/desk_log.html", account, team=None, lines=found, **describe_times(zone))


@router.get("/grades")
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


# ---------------------------------------------------------------------------------------------
# Submissions


@router.get("/submissions")
def submissions_page(
    request: Request,
    course: UsedCourse,
    account: Allowed,
    search_for: Annotated[str, Query(alias="search", max_length=100)] = "",
    kind: Words = "",
    state: Words = "",
    page: PageNumber = 1,
) -> Response:
    """All that teams have handed in, with a search."""
    try:
        with course.database.reading() as session:
            found = search.find(session, course.storage.data, search_for, kind, state, page)
            latest, zone = rejudging.rejudgements(session, _LATEST), term_of(session).zone
            done = {one.id: rejudging.done_of(session, one) for one in latest}
            further = [*further_games(session), *further_leagues(session)]
    except CourseError as error:
        raise HTTPException(400, str(error)) from None
    context: dict[str, Any] = {
        **{"found": found, "search": search_for, "kind": kind, "state": state},
        "again": rejudging.NOUNS,
        "further": further,
        "kinds": search.KINDS,
        "states": search.STATES,
        "latest": latest,
        "done": done,
        "instructor": _is_instructor(account),
        **describe_times(zone),
    }
    return render(request, "course/desk_submissions.html", account, team=None, **context)


@router.post("/rejudge")
async def rejudge(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed) -> Response:
    """Judge chosen strategies and agents again, or all that a search finds; or only tell what would change."""
    fields = await own_form(request, shell)

    def work(desk: Desk) -> list[int]:
        chosen = _chosen_numbers(desk.session, course, fields)
        if not any(chosen.values()):
            raise CourseError("No submission is chosen; choose at least one.")
        begin = rejudging.ask_for_rehearsal if fields.get("dry_run") == "yes" else rejudging.begin_again
        for kind, numbers in chosen.items():
            begin(desk.session, numbers, desk.by, kind)
        return [one.id for one in rejudging.rejudgements(desk.session, len(chosen))]

    made = await _transact(course, account, work)
    one = f"/course/desk/rejudgements/{made[0]}"
    return RedirectResponse(one if len(made) == 1 else "/course/desk/submissions#latest", 303)


def _chosen_numbers(session: Session, course: Course, fields: dict[str, str]) -> dict[str, list[int]]:
    """The numbers of the submissions to judge again, by kind; a kind without any is left out."""
    if fields.get("which") != "all":
        given = [name.partition("-") for name in fields if _CHOSEN.fullmatch(name)]
        found = {kind: [int(number) for one, _, number in given if one == kind] for kind in rejudging.NOUNS}
        return {kind: numbers for kind, numbers in found.items() if numbers}
    wanted = fields.get("kind", "")
    if wanted:
        rejudging.table_of(wanted)
    text, state = fields.get("search", "")[:100], fields.get("state", "")
    chosen: dict[str, list[int]] = {}
    for kind in [wanted] if wanted else rejudging.NOUNS:
        listed = search.find(session, course.storage.data, text, kind, state, size=1 << 30)
        judged = set(rejudging.all_numbers(session, kind=kind))
        numbers = sorted(one.number for one in listed.rows if one.number in judged and not one.of)
        chosen |= {kind: numbers} if numbers else {}
    return chosen


@router.get("/rejudgements/{number}")
@router.get("/parts/rejudgements/{number}")
def rejudgement_page(request: Request, course: UsedCourse, account: Allowed, number: Number) -> Response:
    """The progress of judging again, and what a dry run has found."""
    facts = {"team": None, **_rejudgement(course, number)}
    return render_renewed(request, "course/desk_rejudgement.html", "course/parts/rejudgement.html", account, **facts)


def _rejudgement(course: Course, number: int) -> dict[str, Any]:
    with course.database.reading() as session:
        one = session.get(Rejudgement, number)
        if one is None:
            raise HTTPException(404, f"There is no rejudgement {number}.")
        done, zone = rejudging.done_of(session, one), term_of(session).zone
        pages = search.pages_of(session, one.kind, one.numbers)
    total = len(one.numbers)
    over = one.finished_at is not None if one.dry_run else done == total
    left = (time.time() - one.at) / done * (total - done) if done and not over else None
    changed = [entry for entry in one.verdicts if entry["before"] != entry["after"]]
    return {
        **{"one": one, "done": done, "total": total, "over": over, "changed": changed, "left": left, "pages": pages},
        **{"noun": rejudging.NOUNS[one.kind], "stamp": f"{done}-{over}", "ACCEPTED": ACCEPTED, "REJECTED": REJECTED},
        **describe_times(zone),
    }


# ---------------------------------------------------------------------------------------------
# Decisions: a form each, which leads back


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise HTTPException(400, f"{text[:40]!r} is no number.") from None


def _rule(desk: Desk, fields: Mapping[str, str]) -> object:
    number = fields["submission"]
    if not number.isdecimal() or len(number) > 9:
        raise CourseError(f"{number[:40]!r} is no number of a submission.")
    values = fields["kind"], int(number), fields["ruling"], fields["reason"]
    return decisions.rule(desk.session, desk.data, desk.by, *values, of=fields["of"])


def _disqualify(desk: Desk, fields: Mapping[str, str]) -> object:
    values = fields["team"], fields["assignment"], fields["reason"]
    return decisions.disqualify(desk.session, desk.data, desk.by, *values, holds=fields["undo"] != "yes")


_DECISIONS: Mapping[str, Callable[[Desk, Mapping[str, str]], object]] = {
    "mark": lambda desk, f: desk.mark(f["team"], f["assignment"], f["criterion"], _number(f["points"]), f["comment"]),
    "adjust": lambda desk, f: desk.adjust(f["team"], f["assignment"], _number(f["points"]), f["reason"]),
    "extend": lambda desk, f: desk.extend(  # an empty time takes the extension back
        f["team"], f["assignment"], f["until"].strip().replace("T", " ") or None, f["reason"]
    ),
    "release": lambda desk, f: desk.release(f["assignment"], f["hide"] != "yes"),
    "announce": lambda desk, f: desk.announce(f["title"], f["text"]),
    "rule": _rule,
    "disqualify": _disqualify,
}
"""What the forms of the desk decide, by the last part of their addresses, from their fields."""


async def decide(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed) -> Response:
    """Decide something, in a transaction."""
    fields = defaultdict(str, await own_form(request, shell))
    what = request.url.path.rpartition("/")[2]
    await _transact(course, account, lambda desk: _DECISIONS[what](desk, fields))
    if what == "rule":
        return RedirectResponse("/course/desk/submissions?state=ruled", 303)
    number = fields["number"]
    return RedirectResponse(f"/course/desk/teams/{number}" if number.isdecimal() else "/course/desk", 303)


for _what in _DECISIONS:
    router.add_api_route(f"/{_what}", decide, methods=["POST"])


async def _transact(course: Course, account: Account | None, work: Callable[[Desk], T]) -> T:
    """Do something at the desk of the person who asks; a refusal is 400, unless it has its own status."""
    assert isinstance(account, Staff)
    by = account.person.email

    def transact() -> T:
        with course.database.writing() as session:
            return work(Desk(session, course.storage.data, by))

    try:
        return await run_in_threadpool(transact)
    except SubmissionError:
        raise
    except CourseError as error:
        raise HTTPException(400, str(error)) from None


@router.get("/similar")
def similar_page(request: Request, course: UsedCourse, account: Allowed) -> Response:
    """Submissions of different teams that are alike."""
    with course.database.reading() as session:
        found = similarity.alike(session, course.storage.data)
    return render(request, "course/desk_similar.html", account, team=None, found=found)


@router.get("/bots/{number}")
def bot_file(
    course: UsedCourse,
    account: Allowed,
    number: Number,
    league: Annotated[str | None, Query(pattern=r"^[a-z][a-z0-9-]{0,39}$")] = None,
) -> Response:
    """The file of a bot, as it was handed in; of a further league, if it is named."""
    found = downloads.bot_file(league_directory(course.storage.data, league), number)
    if found is None:
        raise HTTPException(404, f"There is no bot {number}.")
    headers = {"Content-Disposition": f'attachment; filename="{found[0]}"'}
    return Response(found[1], media_type="text/plain; charset=utf-8", headers=headers)


@router.get("/assignments/{name}/submissions.zip")
def submissions_zip(course: UsedCourse, account: Allowed, name: Name) -> StreamingResponse:
    """All submissions of an assignment."""
    return send_zip(course, name, f"{name}-submissions.zip")
