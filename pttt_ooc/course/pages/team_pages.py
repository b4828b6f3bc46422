"""What a team does itself, besides handing in: it picks what counts, and looks at two strategies together."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse
from pydantic import BaseModel, Field

from pttt_ooc.course.data.assignments import term_of
from pttt_ooc.course.data.models import Team
from pttt_ooc.course.data.term_tables import Pair
from pttt_ooc.course.grades import downloads, pairing
from pttt_ooc.course.grades.decisions import Desk
from pttt_ooc.course.grades.overview import as_json, overview
from pttt_ooc.course.pages.context import Course, UsedCourse
from pttt_ooc.course.pages.handlers import Number
from pttt_ooc.course.people.accounts import Staff
from pttt_ooc.course.people.rights import Allowed
from pttt_ooc.errors import CourseError
from pttt_ooc.site.shell.forms import own_form
from pttt_ooc.site.shell.rendering import render_renewed
from pttt_ooc.site.shell.shell import Account, UsedShell

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False, prefix="/course")
programs = APIRouter(prefix="/api/course")
Name = Annotated[str, Path(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
_MOST = 1 << 31


class PickIn(BaseModel):
    """A team's pick."""

    submission: int | None = Field(ge=1, lt=_MOST, description="The number; null: the last ones count again.")


@router.post("/picks/{name}")
async def pick(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed, name: Name) -> Response:
    """Pick what counts, from the form; an empty number: the last ones."""
    fields = await own_form(request, shell)
    number = fields.get("submission", "")
    if number and (not number.isdecimal() or not 0 < int(number[:10]) < _MOST):
        raise HTTPException(400, f"{number[:40]!r} is no number of a submission.")
    await run_in_threadpool(_pick, course, account, name, int(number) if number else None)
    return RedirectResponse(f"/course#{name}", 303)


@router.get("/own/{name}")
def own_files(course: UsedCourse, account: Allowed, name: Name) -> StreamingResponse:
    """All that the team has handed in for an assignment, as one zip."""
    assert isinstance(account, Team)
    try:
        with course.database.reading() as session:
            members = downloads.members_of(session, course.storage, name, account)
            zone = term_of(session).zone
    except CourseError as error:
        raise HTTPException(404, str(error)) from None
    headers = {"Content-Disposition": f'attachment; filename="{name}-own.zip"'}
    return StreamingResponse(downloads.zip_members(members, zone), media_type="application/zip", headers=headers)


@router.post("/pairs")
async def make_pair(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed) -> Response:
    """Look at two of the team's strategies together."""
    fields = await own_form(request, shell)
    texts = [fields.get(name, "") for name in ("first", "second")]
    if not all(text.isascii() and text.isdecimal() and 0 < int(text[:10]) < _MOST for text in texts):
        raise HTTPException(400, "Choose a submission of player 0 and one of player 1.")
    facts = await run_in_threadpool(_pair, course, account, int(texts[0]), int(texts[1]))
    return RedirectResponse(facts["url"], 303)


@router.get("/pairs/{number}")
@router.get("/parts/pairs/{number}")
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
        own = found is not None and account is not None and account.id == found.team_id
        if found is None or not (own or isinstance(account, Staff)):
            raise HTTPException(404, f"There is no pair {number} of yours.")
        return pairing.facts_of(session, found, value.interval if value else None)


def _pair(course: Course, account: Account | None, first: int, second: int) -> dict[str, Any]:
    assert isinstance(account, Team)
    value = course.game_value()
    try:
        with course.database.writing() as session:
            made = pairing.make_pair(session, account, first, second)
            return pairing.facts_of(session, made, value.interval if value else None)
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
    """A pair; `over` once nothing of it will change by itself."""
    return _found_pair(course, account, number)


@programs.post("/picks/{name}", summary="Pick what counts")
def pick_by_program(course: UsedCourse, account: Allowed, name: Name, picked: PickIn) -> dict[str, Any]:
    """Pick which of your submissions counts, where teams choose; the answer is as that of your grades."""
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
