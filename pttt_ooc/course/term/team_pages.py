"""What a team does itself, besides handing in: it picks what counts."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field

from pttt_ooc.course.context import Grader, UsedGrader
from pttt_ooc.course.models import Team
from pttt_ooc.course.term.decisions import Desk
from pttt_ooc.course.term.overview import as_json, overview
from pttt_ooc.course.term.rights import Allowed
from pttt_ooc.errors import GraderError
from pttt_ooc.web.forms import own_form
from pttt_ooc.web.shell import UsedShell

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False, prefix="/course")
programs = APIRouter(prefix="/api/course")
Name = Annotated[str, Path(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
_MOST = 1 << 31


class PickIn(BaseModel):
    """A team's pick."""

    submission: int | None = Field(ge=1, lt=_MOST, description="The number; null: the last ones count again.")


@router.post("/picks/{name}")
async def pick(request: Request, grader: UsedGrader, shell: UsedShell, account: Allowed, name: Name) -> Response:
    """Pick what counts, from the form; an empty number: the last ones."""
    fields = await own_form(request, shell)
    number = fields.get("submission", "")
    if number and (not number.isdecimal() or not 0 < int(number[:10]) < _MOST):
        raise HTTPException(400, f"{number[:40]!r} is no number of a submission.")
    await run_in_threadpool(_pick, grader, account, name, int(number) if number else None)
    return RedirectResponse(f"/course#{name}", 303)


@programs.post("/picks/{name}", summary="Pick what counts")
def pick_by_program(grader: UsedGrader, account: Allowed, name: Name, picked: PickIn) -> dict[str, Any]:
    """Pick which of your submissions counts, where teams choose; the answer is as that of your grades."""
    _pick(grader, account, name, picked.submission)
    with grader.database.reading() as session:
        return as_json(overview(session, grader.storage.data, account if isinstance(account, Team) else None))


def _pick(grader: Grader, account: Any, name: str, number: int | None) -> None:
    assert isinstance(account, Team)
    try:
        with grader.database.writing() as session:
            Desk(session, grader.storage.data, f"team {account.name}").pick_of_team(account, name, number)
    except GraderError as error:
        raise HTTPException(409, str(error)) from None
