"""The pages and addresses on which teams hand in bots and read the verdicts; nobody sees another team's bot."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi import Path as PathParameter
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel

from pttt_ooc.course.kinds.bots.submissions import Bot, HandInError, Whole
from pttt_ooc.course.kinds.bots.uploads import Course, take_in
from pttt_ooc.course.models import Team
from pttt_ooc.course.uploads import Fields
from pttt_ooc.service.pulse import read_sign
from pttt_ooc.web.accounts import Signed, bearer
from pttt_ooc.web.forms import FORM_FIELD, check_form, check_origin
from pttt_ooc.web.parts import Link, Part, Refusal, state_of
from pttt_ooc.web.rendering import render, wants_part
from pttt_ooc.web.shell import UsedShell

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False, prefix="/extreme")
programs = APIRouter(prefix="/api/extreme")
UsedCourse = Annotated[Course, state_of("league")]
Bearer = Annotated[Team, Depends(bearer)]
Number = Annotated[int, PathParameter(ge=1, lt=1 << 31)]


def part_of(course: Course) -> Part:
    """The part of the application for handing in."""
    return Part(
        name="league",
        directory=Path(__file__).parent,
        routers=(router, programs),
        links=(Link("/extreme/hand-in", "Hand in a bot"),),
        state=course,
        names={"settings": course.league.settings},
        explain=explain,
        largest_body=course.league.settings.largest_bytes,
    )


def explain(error: Exception) -> Refusal | None:
    """What is told when a team may not hand in a bot now."""
    if not isinstance(error, HandInError):
        return None
    return Refusal(error.status, str(error), {"Retry-After": str(int(error.wait) + 1)} if error.wait else {})


@router.get("/hand-in")
def hand_in_page(request: Request, course: UsedCourse, account: Signed) -> Response:
    """The form, and what the team has handed in."""
    return render(request, "league/hand_in.html", account, **_listed(course, account.id if account else None))


@router.get("/parts/bots")
def bots_part(request: Request, course: UsedCourse, account: Signed, seen: str = "") -> Response:
    """What the team has handed in, if that has changed."""
    shown = _listed(course, account.id if account else None)
    if shown["stamp"] == seen:
        return Response(status_code=204)
    return render(request, "league/parts/bots.html", account, **shown)


def _listed(course: Course, team: int | None) -> dict[str, Any]:
    bots = course.bots.of_team(team) if team else []
    stamp = f"{len(bots)}-{sum(bot.changed_at for bot in bots):.3f}"
    settings = course.league.settings
    return {
        "bots": bots,
        "stamp": stamp,
        "entered": course.bots.entered(team) if team else None,
        "begins": settings.begins.timestamp() if settings.begins else None,
        "sign": read_sign(course.league.alive),
    }


@router.post("/bots")
async def hand_in(request: Request, course: UsedCourse, shell: UsedShell, account: Signed) -> Response:
    """Take in a bot from the form."""
    check_origin(request)
    if account is None:
        raise HTTPException(401, "You are not signed in, or no longer; sign in and send the file again.")

    def check(fields: Fields) -> None:
        check_form(request, shell, fields.get(FORM_FIELD, ""))

    bot, _ = await take_in(request, course, account.id, check)
    if wants_part(request):
        return Response(status_code=204, headers={"HX-Redirect": f"/extreme/bots/{bot.id}"})
    return RedirectResponse(f"/extreme/bots/{bot.id}", 303)


@router.get("/bots/{number}")
def one_bot(request: Request, course: UsedCourse, account: Signed, number: Number) -> Response:
    """The verdict on one of the team's own bots."""
    return render(request, "league/bot.html", account, **_verdict(course, account.id if account else None, number))


@router.get("/parts/bots/{number}")
def bot_part(request: Request, course: UsedCourse, account: Signed, number: Number, seen: str = "") -> Response:
    """The verdict, if it has changed."""
    shown = _verdict(course, account.id if account else None, number)
    if shown["stamp"] == seen:
        return Response(status_code=204)
    return render(request, "league/parts/bot.html", account, **shown)


def _verdict(course: Course, team: int | None, number: int) -> dict[str, Any]:
    whole = _whole(course, team, number)
    place = course.bots.place(whole.bot) if whole.bot.unfinished else 0
    sign = read_sign(course.league.alive)
    return {
        "whole": whole,
        "bot": whole.bot,
        "place": place,
        "sign": sign,
        "stamp": f"{whole.bot.changed_at:.3f}-{place}-{sign.alive}-{bool(sign.waits_for)}",
        "now": time.time(),
    }


def _whole(course: Course, team: int | None, number: int) -> Whole:
    found = course.bots.whole(number, team) if team else None
    if found is None:  # the same answer for another team's bot as for none
        raise HTTPException(404, f"There is no bot {number} of yours.")
    return found


@router.get("/bots/{number}/file")
def file_page(course: UsedCourse, account: Signed, number: Number) -> Response:
    """The file of one of the team's own bots, as it was handed in."""
    return _file(course, account.id if account else None, number)


def _file(course: Course, team: int | None, number: int) -> Response:
    whole = _whole(course, team, number)
    content = course.bots.content(number, whole.bot.team_id) or b""
    headers = {"Content-Disposition": f'attachment; filename="{whole.bot.file}"'}
    return Response(content, media_type="text/plain; charset=utf-8", headers=headers)


# ---------------------------------------------------------------------------------------------
# Programs


class BotOut(BaseModel):
    """One of the team's own bots, and its verdict."""

    number: int
    file: str
    digest: str
    size: int
    received_at: datetime
    status: str
    python: str
    why: str
    changes: str
    message: str
    detail: str
    printed: str
    moves: int
    load_seconds: float
    slowest: float

    @classmethod
    def of(cls, whole: Whole) -> BotOut:
        """From its row."""
        bot: Bot = whole.bot
        names = set(cls.model_fields) - {"number", "received_at", "changes", "detail", "printed"}
        return cls(
            number=bot.id,
            received_at=datetime.fromtimestamp(bot.received_at, UTC),
            changes=whole.changes,
            detail=whole.detail,
            printed=whole.printed,
            **{name: getattr(bot, name) for name in names},
        )


_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary", "description": "One file like team39.py."}
                    },
                }
            }
        },
    }
}


@programs.post("/bots", summary="Extreme TicTacToe: hand in a bot", status_code=201, openapi_extra=_FORM)
async def hand_in_by_program(request: Request, response: Response, course: UsedCourse, team: Bearer) -> BotOut:
    """Hand in a bot; 200 if it is the very file that the team handed in last."""
    bot, new = await take_in(request, course, team.id)
    response.status_code = 201 if new else 200
    response.headers["Location"] = f"/api/extreme/bots/{bot.id}"
    return BotOut.of(await run_in_threadpool(_whole, course, team.id, bot.id))


@programs.get("/bots", summary="Extreme TicTacToe: your bots")
def list_by_program(course: UsedCourse, team: Bearer) -> list[BotOut]:
    """The team's own bots, latest first."""
    return [BotOut.of(_whole(course, team.id, bot.id)) for bot in course.bots.of_team(team.id)]


@programs.get("/bots/{number}", summary="Extreme TicTacToe: one of your bots")
def one_by_program(course: UsedCourse, team: Bearer, number: Number) -> BotOut:
    """One of the team's own bots, and its verdict."""
    return BotOut.of(_whole(course, team.id, number))
