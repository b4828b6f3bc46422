"""The pages and the API on which teams hand in bots and read verdicts; no team sees another team's bot."""

from __future__ import annotations

import re
from pathlib import Path as Folder
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import Field

from pttt_ooc.course.bots.submissions import Bot
from pttt_ooc.course.data.models import Team
from pttt_ooc.course.data.rules import BOTS
from pttt_ooc.course.grades.rulings import ruling_of
from pttt_ooc.course.pages.bot_context import OpenLeague
from pttt_ooc.course.pages.handlers import Bearer, Number, Signed, reader, under_way
from pttt_ooc.course.pages.schemas import ProgramOut
from pttt_ooc.course.pages.uploads import form_schema, from_browser, from_program
from pttt_ooc.other_games.extreme.pages.part import AREA, BASE
from pttt_ooc.site.service.pulse import read_sign
from pttt_ooc.site.shell.parts import Link, Part, below
from pttt_ooc.site.shell.rendering import render_renewed, wants_part
from pttt_ooc.site.shell.shell import UsedShell

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
programs = APIRouter()


def _league(request: Request) -> OpenLeague:
    """The course's own league, or the further one that the address names."""
    name = request.path_params.get("league")
    if name is None:
        own: OpenLeague = request.app.state.league
        return own
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,39}", name):
        raise HTTPException(404, "There is no such league.")
    further: OpenLeague = request.app.state.leagues.league(name)
    return further


UsedLeague = Annotated[OpenLeague, Depends(_league)]


def part_of(league: OpenLeague) -> Part:
    """The part of the application for handing in."""
    return Part(
        name="league",
        directory=Folder(__file__).parent / "bots",
        routers=(below(BASE, router, programs),),
        links=(Link(f"{BASE}/hand-in", "Hand in a bot", AREA),),
        state=league,
        largest_body=league.files.settings.largest_bytes,
    )


@router.get("/hand-in")
@router.get("/parts/bots")
def hand_in_page(request: Request, league: UsedLeague, account: Signed) -> Response:
    """The form, and the team's bots."""
    facts = {"team": account, **_bots_context(league, account)}
    return render_renewed(request, "leagues/hand_in.html", "leagues/parts/bots.html", reader(request, account), **facts)


def _bots_context(league: OpenLeague, team: Team | None) -> dict[str, Any]:
    bots = league.bots.of_team(team.id) if team else []
    stamp = f"{len(bots)}-{sum(bot.changed_at for bot in bots):.3f}"
    settings = league.files.settings
    return {
        "base": league.base,
        "settings": settings,
        "bots": bots,
        "stamp": stamp,
        "entered": league.bots.playing_bot(team.id) if team else None,
        "begins": settings.begins.timestamp() if settings.begins else None,
        "sign": read_sign(league.files.alive),
    }


@router.post("/bots")
async def hand_in(request: Request, league: UsedLeague, shell: UsedShell, account: Signed) -> Response:
    """Take in a bot from the form."""
    bot, _ = await from_browser(request, shell, league.course, league.intake, account)
    if wants_part(request):
        return Response(status_code=204, headers={"HX-Redirect": f"{league.base}/bots/{bot.id}"})
    return RedirectResponse(f"{league.base}/bots/{bot.id}", 303)


@router.get("/bots/{number}")
@router.get("/parts/bots/{number}")
def one_bot(request: Request, league: UsedLeague, account: Signed, number: Number) -> Response:
    """The verdict on one of the team's own bots."""
    facts = {"team": account, **_verdict(league, account, number)}
    return render_renewed(request, "leagues/bot.html", "leagues/parts/bot.html", reader(request, account), **facts)


def _verdict(league: OpenLeague, team: Team | None, number: int) -> dict[str, Any]:
    bot = _own(league, team, number)
    with league.course.database.reading() as session:
        ruling = ruling_of(session, BOTS, bot.id, league.name or "")
    return {
        "base": league.base,
        "settings": league.files.settings,
        "bot": bot,
        "ruling": ruling,
        **under_way(bot, league.bots.place(bot) if bot.unfinished else 0, league.files.alive),
        "trials": league.bots.trials(bot.id),
    }


def _own(league: OpenLeague, team: Team | None, number: int, content: bool = False) -> Bot:
    found = league.bots.find(number, team.id, content) if team else None
    if found is None:  # the same answer for another team's bot as for none
        raise HTTPException(404, f"There is no bot {number} of yours.")
    return found


@router.get("/bots/{number}/file")
def file_page(league: UsedLeague, account: Signed, number: Number) -> Response:
    """The file of one of the team's own bots, as it was handed in."""
    bot = _own(league, account, number, content=True)
    headers = {"Content-Disposition": f'attachment; filename="{bot.file}"'}
    return Response(bot.content, media_type="text/plain; charset=utf-8", headers=headers)


# ---------------------------------------------------------------------------------------------
# Programs


class BotOut(ProgramOut):
    """One of the team's own bots, and its verdict."""

    file: str
    python: str
    why: str
    changes: str
    warnings: str
    breaches: str
    moves: int
    trials: list[str] = Field(default_factory=list, description="How it does where bots before it had difficulties.")


_FORM = form_schema("One file like team39.py.")


@programs.post("/api/bots", summary="Extreme TicTacToe: hand in a bot", status_code=201, openapi_extra=_FORM)
async def hand_in_by_program(request: Request, response: Response, league: UsedLeague, team: Bearer) -> BotOut:
    """Hand in a bot; 200 if it is the very file that the team handed in last."""
    bot, _ = await from_program(request, response, league.course, league.intake, team)
    return BotOut.model_validate(await run_in_threadpool(_own, league, team, bot.id))


@programs.get("/api/bots", summary="Extreme TicTacToe: your bots")
def list_by_program(league: UsedLeague, team: Bearer) -> list[BotOut]:
    """The team's own bots, latest first."""
    return [BotOut.model_validate(bot) for bot in league.bots.of_team(team.id, texts=True)]


@programs.get("/api/bots/{number}", summary="Extreme TicTacToe: one of your bots")
def one_by_program(league: UsedLeague, team: Bearer, number: Number) -> BotOut:
    """One of the team's own bots, and its verdict."""
    found = BotOut.model_validate(_own(league, team, number))
    return found.model_copy(update={"trials": [str(trial) for trial in league.bots.trials(number)]})
