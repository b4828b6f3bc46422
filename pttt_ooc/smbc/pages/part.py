"""The wing as a part of the web application: the solution at any position, and matches against it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse

from pttt_ooc.errors import PlayError
from pttt_ooc.play import owners
from pttt_ooc.service.wire import Client, RefusedError
from pttt_ooc.smbc.match_play import BOT, ME
from pttt_ooc.smbc.pages.answerer_client import AskedBot
from pttt_ooc.smbc.pages.explore_address import ExploreAddress, rows_of
from pttt_ooc.smbc.pages.matches import Matches
from pttt_ooc.smbc.rules import GOALS, UNDECIDED
from pttt_ooc.smbc.vocabulary import ENDS, PLAYERS, numbers_of
from pttt_ooc.web.accounts import Signed
from pttt_ooc.web.forms import number, own_form
from pttt_ooc.web.parts import Link, Part, state_of
from pttt_ooc.web.rendering import out_of_date, render, wants_part
from pttt_ooc.web.shell import Account, UsedShell
from pttt_ooc.web.throttle import Throttle

BEGUN_PER_HOUR = 2000
"""Most matches begun from one address; a whole campus may share one."""

AREA = "Secret goals"
router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False, prefix="/smbc")
_FIRST = {"chance": None, "me": ME, "bot": BOT}


@dataclass
class SecretGoalsState:
    """The state of the handlers."""

    bot: AskedBot
    matches: Matches
    begun: Throttle = field(default_factory=lambda: Throttle(BEGUN_PER_HOUR))


UsedState = Annotated[SecretGoalsState, state_of("smbc")]


def part_of(bot: AskedBot, matches: Matches) -> Part:
    """The part of the application for tic-tac-toe with secret goals."""
    return Part(
        name="smbc",
        directory=Path(__file__).parent,
        routers=(router,),
        links=(Link("/smbc/play", "Play", AREA), Link("/smbc/explore", "Explore", AREA)),
        state=SecretGoalsState(bot, matches),
        names={
            **{"GOALS": GOALS, "PLAYERS": PLAYERS, "ENDS": ENDS, "UNDECIDED": UNDECIDED},
            **{"SIGNS": {"": "", "x": "×", "o": "○"}},
            **{"ME": ME, "BOT": BOT, "numbers_of": numbers_of},
        },
        explain=owners.explain,
    )


def parts(address: str, directory: str) -> list[Part]:
    """The part whose answerer is at `address`, and whose matches are kept in `directory`.

    Raises
    ------
    StoreError
        If the database cannot be used.
    """
    bot = AskedBot(Client(Path(address)))
    return [part_of(bot, Matches(Path(directory), bot))]


# ---------------------------------------------------------------------------------------------
# Explore

Goal = Annotated[int, Query(ge=0, le=2)]
Points = Annotated[int, Query(ge=0, le=8)]


@router.get("/explore")
def explore(
    request: Request,
    state: UsedState,
    account: Signed,
    mine: Points = 0,
    other: Points = 0,
    first: Goal = 0,
    second: Goal = 0,
    squares: Annotated[str, Query(max_length=9)] = "",
    at: Annotated[str, Query(max_length=9)] = "",
    iteration: Annotated[int | None, Query(ge=0, le=10**9)] = None,
) -> Response:
    """A position of a round."""
    points = state.bot.facts.winning_score
    if mine >= points or other >= points:
        raise HTTPException(404, f"No round begins at {mine}-{other}; scores are 0 to {points - 1}.")
    if re.fullmatch("[1-9]+", at):  # an address of version 0.1.0, where squares counted from 1
        before = tuple(int(digit) - 1 for digit in at)
        return RedirectResponse(str(ExploreAddress(mine, other, first, second, before, iteration)), 308)
    if not re.fullmatch("[0-8]*", squares):
        raise HTTPException(
            404, f"{squares!r} are no squares; squares are 0 to 8, in the order in which they were taken."
        )
    view = ExploreAddress(mine, other, first, second, tuple(map(int, squares)), iteration)
    try:
        seen = state.bot.see((mine, other), iteration, view.squares, (first, second))
    except RefusedError as error:
        raise HTTPException(404, str(error)) from error
    context = {"view": view, "seen": seen, "points": points, "rows": rows_of(view, seen)}
    return render(request, "smbc/explore_page.html", account, **context)


# ---------------------------------------------------------------------------------------------
# Play


@router.get("/play")
def lobby(request: Request, state: UsedState, account: Signed) -> Response:
    """Matches and results."""
    owner = owners.owner_of(request, account)
    counted = state.matches.tallies(owner) if owner else []
    return render(
        request,
        "smbc/lobby.html",
        account,
        points=state.bot.facts.winning_score,
        under_way=state.matches.listed(owner, finished=False) if owner else [],
        finished=state.matches.listed(owner, finished=True) if owner else [],
        standings=[(tally, state.bot.expectation(tally.first)) for tally in counted],
    )


@router.post("/play")
async def begin(request: Request, state: UsedState, shell: UsedShell, account: Signed) -> Response:
    """Begin a match."""
    fields = await own_form(request, shell)
    if fields.get("first") not in _FIRST:
        raise HTTPException(400, "Choose who moves first: you, the bot, or chance.")
    state.begun.check(request, "matches have been begun")
    owner, cookie = owners.owner_or_new(request, account)
    id = await run_in_threadpool(state.matches.begin, owner, _FIRST[fields["first"]])
    response = RedirectResponse(f"/smbc/play/{id}", 303)
    owners.keep(request, response, cookie)
    return response


@router.get("/play/{id}")
def one_match(request: Request, state: UsedState, account: Signed, id: str) -> Response:
    """A match."""
    return _match_page(request, state, account, id)


@router.post("/play/{id}/moves")
async def move(request: Request, state: UsedState, shell: UsedShell, account: Signed, id: str) -> Response:
    """Take a square."""
    fields = await own_form(request, shell)
    version, square = _version(fields), number(fields, "square", 8, "Choose a square of the board.")
    change = partial(state.matches.move, _owner(request, account), id, version, square)
    return await _answer(request, state, account, id, change)


@router.post("/play/{id}/rounds")
async def next_round(request: Request, state: UsedState, shell: UsedShell, account: Signed, id: str) -> Response:
    """Begin the next round."""
    fields = await own_form(request, shell)
    change = partial(state.matches.go_on, _owner(request, account), id, _version(fields))
    return await _answer(request, state, account, id, change)


@router.post("/play/{id}/resignation")
async def resign(request: Request, state: UsedState, shell: UsedShell, account: Signed, id: str) -> Response:
    """Resign."""
    fields = await own_form(request, shell)
    change = partial(state.matches.resign, _owner(request, account), id, _version(fields))
    return await _answer(request, state, account, id, change)


def _owner(request: Request, account: Account | None) -> str:
    return owners.known_owner(request, account, "match")


async def _answer(
    request: Request, state: SecretGoalsState, account: Account | None, id: str, change: Callable[[], Any]
) -> Response:
    """The answer to a form: the new board for the page's script, else a redirect; if it came too late, the match."""
    try:
        await run_in_threadpool(change)
    except PlayError as error:
        if error.status != 409:
            raise
        return out_of_date(request, await run_in_threadpool(_match_page, request, state, account, id, str(error)))
    if wants_part(request):
        return await run_in_threadpool(_match_page, request, state, account, id)
    return RedirectResponse(f"/smbc/play/{id}", 303)


def _match_page(
    request: Request, state: SecretGoalsState, account: Account | None, id: str, notice: str = ""
) -> Response:
    seat = state.matches.seat(_owner(request, account), id)
    template = "smbc/match_part.html" if wants_part(request) else "smbc/match_page.html"
    return render(request, template, account, seat=seat, notice=notice)


def _version(fields: dict[str, str]) -> int:
    return number(fields, "version", 99_999, "The form does not say which move this is; reload the page.")
