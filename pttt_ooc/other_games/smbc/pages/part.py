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

from pttt_ooc.errors import GameError, PlayError
from pttt_ooc.other_games.smbc.match_play import BOT, ME
from pttt_ooc.other_games.smbc.pages.answerer_client import AskedBot
from pttt_ooc.other_games.smbc.pages.matches import Matches
from pttt_ooc.other_games.smbc.pages.views import ExploreAddress, Seat, rows_of
from pttt_ooc.other_games.smbc.rules import GOALS, UNDECIDED
from pttt_ooc.other_games.smbc.vocabulary import ENDS, PLAYERS, numbers_of
from pttt_ooc.site.play import owners
from pttt_ooc.site.play.owners import answer, form_again
from pttt_ooc.site.service.wire import Client
from pttt_ooc.site.shell.accounts import Signed
from pttt_ooc.site.shell.forms import number, own_form
from pttt_ooc.site.shell.parts import Link, Part, state_of
from pttt_ooc.site.shell.rendering import render, wants_part
from pttt_ooc.site.shell.shell import Account, UsedShell
from pttt_ooc.site.shell.throttle import Throttle

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
RoundNumber = Annotated[int | None, Query(ge=1, le=999)]


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
            404, f"{squares!r} are not squares; squares are 0 to 8, in the order in which they were taken."
        )
    view = ExploreAddress(mine, other, first, second, tuple(map(int, squares)), iteration)
    try:
        seen = state.bot.see((mine, other), iteration, view.squares, (first, second))
    except GameError as error:
        raise HTTPException(404, str(error)) from error
    context = {"view": view, "seen": seen, "points": points, "rows": rows_of(view, seen)}
    return render(request, "smbc/explore_page.html", account, **context)


# ---------------------------------------------------------------------------------------------
# Play


@router.get("/play")
def lobby(request: Request, state: UsedState, account: Signed) -> Response:
    """Matches and results."""
    return _lobby(request, state, account, {}, "")


def _lobby(
    request: Request, state: SecretGoalsState, account: Account | None, typed: dict[str, str], wrong: str
) -> Response:
    owner = owners.owner_of(request, account)
    counted = state.matches.tallies(owner) if owner else []
    return render(
        request,
        "smbc/lobby.html",
        account,
        points=state.bot.facts.winning_score,
        under_way=state.matches.list_matches(owner, finished=False) if owner else [],
        finished=state.matches.list_matches(owner, finished=True) if owner else [],
        standings=[(tally, state.bot.expectation(tally.first)) for tally in counted],
        typed=typed,
        wrong=wrong,
    )


@router.post("/play")
async def begin(request: Request, state: UsedState, shell: UsedShell, account: Signed) -> Response:
    """Begin a match."""
    fields = await own_form(request, shell)
    owner, cookie = owners.owner_or_new(request, account)
    try:
        if fields.get("first") not in _FIRST:
            raise HTTPException(400, "Choose who moves first: you, the bot, or chance.")
        state.begun.check(request, "matches have been begun")
        id = await run_in_threadpool(state.matches.begin, owner, _FIRST[fields["first"]])
    except (HTTPException, PlayError) as error:
        return await form_again(error, partial(_lobby, request, state, account, fields))
    response = RedirectResponse(f"/smbc/play/{id}", 303)
    owners.keep(request, response, cookie)
    return response


@router.get("/play/{id}")
def one_match(request: Request, state: UsedState, account: Signed, id: str, round: RoundNumber = None) -> Response:
    """A match, or one of its rounds when it is over."""
    return _match_page(request, state, account, id, round=round)


@router.post("/play/{id}/moves")
async def move(request: Request, state: UsedState, shell: UsedShell, account: Signed, id: str) -> Response:
    """Take a square."""
    fields = await own_form(request, shell)
    version, square = _version(fields), number(fields, "square", 8, "Choose a square of the board.")
    change = partial(state.matches.move, _owner(request, account), id, version, square)
    return await _answer_change(request, state, account, id, change)


@router.post("/play/{id}/rounds")
@router.post("/play/{id}/hints")
@router.post("/play/{id}/resignation")
async def change(request: Request, state: UsedState, shell: UsedShell, account: Signed, id: str) -> Response:
    """Begin the next round, ask for a hint, or resign."""
    fields, matches = await own_form(request, shell), state.matches
    asked = {"rounds": matches.go_on, "hints": matches.hint, "resignation": matches.resign}
    do = partial(asked[request.url.path.rpartition("/")[2]], _owner(request, account), id, _version(fields))
    return await _answer_change(request, state, account, id, do)


@router.post("/play/{id}/share")
async def share(request: Request, state: UsedState, shell: UsedShell, account: Signed, id: str) -> Response:
    """Make a finished match's link for everybody, or take it back."""
    fields = await own_form(request, shell)
    change = partial(state.matches.store.share, _owner(request, account), id, "stop" not in fields)
    return await _answer_change(request, state, account, id, change)


@router.get("/play/{id}/shared")
def shared_match(request: Request, state: UsedState, account: Signed, id: str, round: RoundNumber = None) -> Response:
    """A match that its player has shared, for everybody."""
    return _render_match(request, account, state.matches.shared_seat(id, round), own=False)


def _owner(request: Request, account: Account | None) -> str:
    return owners.known_owner(request, account, "match")


async def _answer_change(
    request: Request, state: SecretGoalsState, account: Account | None, id: str, change: Callable[[], Any]
) -> Response:
    return await answer(request, change, partial(_match_page, request, state, account, id), f"/smbc/play/{id}")


def _match_page(
    request: Request,
    state: SecretGoalsState,
    account: Account | None,
    id: str,
    notice: str = "",
    round: int | None = None,
) -> Response:
    seat = state.matches.seat(_owner(request, account), id, round)
    return _render_match(request, account, seat, own=True, notice=notice)


def _render_match(request: Request, account: Account | None, seat: Seat, **facts: Any) -> Response:
    template = "smbc/match_part.html" if wants_part(request) else "smbc/match_page.html"
    return render(request, template, account, seat=seat, **facts)


def _version(fields: dict[str, str]) -> int:
    return number(fields, "version", 99_999, "The form does not say which move this is; reload the page.")
