"""The desk's pages about submissions: finding them, judging them again, rulings, and all of them as one zip."""

from __future__ import annotations

import re
import time
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse
from sqlalchemy.orm import Session

from pttt_ooc.course.bots.league import league_directory
from pttt_ooc.course.data.assignments import further_games, further_leagues, term_of
from pttt_ooc.course.data.dates import readable_instant
from pttt_ooc.course.data.limits import SubmissionError
from pttt_ooc.course.data.models import ACCEPTED, REJECTED
from pttt_ooc.course.data.term_tables import INSTRUCTOR, Rejudgement
from pttt_ooc.course.grades import downloads, rejudging, rulings, search, similar
from pttt_ooc.course.grades.overview import until
from pttt_ooc.course.pages.context import Course, UsedCourse
from pttt_ooc.course.pages.handlers import Number
from pttt_ooc.course.people.accounts import Staff
from pttt_ooc.course.people.rights import Allowed
from pttt_ooc.errors import CourseError
from pttt_ooc.site.shell.forms import own_form
from pttt_ooc.site.shell.rendering import render, render_renewed
from pttt_ooc.site.shell.shell import Account, UsedShell

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False, prefix="/course/desk")
Words = Annotated[str, Query(max_length=100)]
PageNumber = Annotated[int, Query(ge=1, lt=1 << 20)]
Name = Annotated[str, Path(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
_LATEST = 20
_CHOSEN = re.compile(f"({'|'.join(rejudging.NOUNS)})-[0-9]{{1,9}}")


def _is_instructor(account: Account | None) -> bool:
    return isinstance(account, Staff) and account.role == INSTRUCTOR


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
    context: dict[str, Any] = {"found": found, "search": search_for, "kind": kind, "state": state}
    context |= {
        "again": rejudging.NOUNS,
        "further": further,
        "kinds": search.KINDS,
        "states": search.STATES,
        "latest": latest,
        "done": done,
    }
    context |= {"instructor": _is_instructor(account), "local": lambda at: readable_instant(at, zone)}
    return render(request, "course/desk_submissions.html", account, team=None, **context)


@router.post("/rejudge")
async def rejudge(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed) -> Response:
    """Judge chosen strategies and agents again, or all that a search finds; or only tell what would change."""
    fields = await own_form(request, shell)
    assert isinstance(account, Staff)
    by = account.person.email

    def work() -> list[int]:
        with course.database.writing() as session:
            chosen = _chosen_numbers(session, course, fields)
            if not any(chosen.values()):
                raise CourseError("No submission is chosen; choose at least one.")
            for kind, numbers in chosen.items():
                if fields.get("dry_run") == "yes":
                    rejudging.ask_for_rehearsal(session, numbers, by, kind)
                else:
                    rejudging.begin_again(session, numbers, by, kind)
            return [one.id for one in rejudging.rejudgements(session, len(chosen))]

    made = await _run_work(work)
    one = f"/course/desk/rejudgements/{made[0]}"
    return RedirectResponse(one if len(made) == 1 else "/course/desk/submissions#latest", 303)


def _chosen_numbers(session: Session, course: Course, fields: dict[str, str]) -> dict[str, list[int]]:
    """The numbers of what is to be judged again, by kind; only kinds of which something is chosen."""
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
    """How far judging again is, and what a dry run has found."""
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
    told: dict[str, Any] = {"one": one, "done": done, "total": total, "over": over, "changed": changed}
    told |= {
        "noun": rejudging.NOUNS[one.kind],
        "pages": pages,
        "left": left,
        "until": until,
        "local": lambda at: readable_instant(at, zone),
    }
    return {**told, "stamp": f"{done}-{over}", "ACCEPTED": ACCEPTED, "REJECTED": REJECTED}


@router.post("/rule")
async def rule(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed) -> Response:
    """Hide or withdraw a submission, or neither any more."""
    fields = await own_form(request, shell)
    assert isinstance(account, Staff)
    by = account.person.email

    def work() -> None:
        number = fields.get("submission", "")
        if not number.isdecimal() or len(number) > 9:
            raise CourseError(f"{number[:40]!r} is no number of a submission.")
        with course.database.writing() as session:
            values = fields.get("kind", ""), int(number), fields.get("ruling", ""), fields.get("reason", "")
            rulings.rule(session, course.storage.data, by, *values, of=fields.get("of", ""))

    await _run_work(work)
    return RedirectResponse("/course/desk/submissions?state=ruled", 303)


@router.post("/disqualify")
async def disqualify(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed) -> Response:
    """Disqualify a team from an assignment, or no longer."""
    fields = await own_form(request, shell)
    assert isinstance(account, Staff)
    by = account.person.email

    def work() -> None:
        with course.database.writing() as session:
            values = fields.get("team", ""), fields.get("assignment", ""), fields.get("reason", "")
            rulings.disqualify(session, course.storage.data, by, *values, holds=fields.get("undo") != "yes")

    await _run_work(work)
    number = fields.get("number", "")
    return RedirectResponse(f"/course/desk/teams/{number}" if number.isdecimal() else "/course/desk", 303)


async def _run_work(work: Any) -> Any:
    try:
        return await run_in_threadpool(work)
    except SubmissionError:
        raise
    except CourseError as error:
        raise HTTPException(400, str(error)) from None


@router.get("/similar")
def similar_page(request: Request, course: UsedCourse, account: Allowed) -> Response:
    """Submissions of different teams that are alike."""
    with course.database.reading() as session:
        found = similar.alike(session, course.storage.data)
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
    try:
        with course.database.reading() as session:
            members, zone = downloads.members_of(session, course.storage, name), term_of(session).zone
    except CourseError as error:
        raise HTTPException(404, str(error)) from None
    headers = {"Content-Disposition": f'attachment; filename="{name}-submissions.zip"'}
    return StreamingResponse(downloads.zip_members(members, zone), media_type="application/zip", headers=headers)
