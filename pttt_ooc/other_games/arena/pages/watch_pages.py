"""Two agents play, and people watch: with events from the server, or, without scripts, one move at a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from pttt_ooc.other_games.arena.pages.choices import AGENTS, SECONDS, takes_time
from pttt_ooc.other_games.arena.pages.page_state import (
    WATCHED,
    ArenaState,
    NoAnswerError,
    UsedState,
    chosen_game,
    join_moves,
    numbers,
)
from pttt_ooc.other_games.arena.pages.play_pages import LONGEST, lobby_again
from pttt_ooc.site.service.wire import BusyError, Message
from pttt_ooc.site.shell.accounts import Signed
from pttt_ooc.site.shell.forms import own_form
from pttt_ooc.site.shell.rendering import query, render, render_part
from pttt_ooc.site.shell.shell import UsedShell

MOVE_SECONDS = 0.7
"""Seconds between two moves, so that people can follow."""

_LABELS = {offer.key: offer.label for offer in AGENTS}

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False, prefix="/arena/watch")
Text = Annotated[str, Query(max_length=60)]
Moves = Annotated[str, Query(max_length=LONGEST)]


@router.get("")
async def matches() -> Response:
    """Redirect to the games to watch: people shorten addresses."""
    return RedirectResponse("/arena/matches", 307)


@router.post("")
async def begin(request: Request, state: UsedState, shell: UsedShell, account: Signed) -> Response:
    """Begin a game of two agents."""
    fields = await own_form(request, shell)
    try:
        chosen = _check_choices(fields.get("one", ""), fields.get("other", ""), fields.get("seconds", ""))
        game = chosen_game(fields)
        await run_in_threadpool(state.service.position, game, [])
    except (HTTPException, NoAnswerError) as error:
        return await lobby_again(request, state, account, fields, error)
    return RedirectResponse("/arena/watch/game" + query(game=game, **chosen), 303)


@router.get("/game")
def watch(
    request: Request,
    state: UsedState,
    account: Signed,
    game: Text,
    one: Text,
    other: Text,
    seconds: Text,
    moves: Moves = "",
    ply: Annotated[int | None, Query(ge=0)] = None,
) -> Response:
    """A position of a game: the last one, which a script continues, or the one after `ply` moves, which stays."""
    chosen = {"game": game, **_check_choices(one, other, seconds)}
    played = numbers(moves)
    if ply is not None and ply > len(played):
        raise HTTPException(404, f"The game has {len(played)} moves so far; move {ply} is not one of them.")
    whole = state.service.position(game, played)
    seen = whole if ply is None else state.service.position(game, played[:ply])
    facts = _facts(chosen, seen, whole, paused=ply is not None)
    return render(request, "arena/watch.html", account, asked=chosen, moves=join_moves(played), **facts)


def _facts(chosen: dict[str, str], seen: Message, whole: Message, paused: bool, live: bool = False) -> dict[str, Any]:
    """The facts in the part of the page that changes with each move: a position, and how far the game has got.

    While the game goes on by itself, its moves are no links: each event would repeat the whole game for each move.
    """
    fields = {**chosen, **({"moves": join_moves(whole["moves"])} if whole["moves"] else {})}
    agents = [_LABELS[chosen["one"]], _LABELS[chosen["other"]]]
    times = [f"{chosen['seconds']} s a move" if takes_time(chosen[key]) else "" for key in ("one", "other")]
    addresses = ["/arena/watch/game" + query(**fields, ply=ply) for ply, _ in enumerate(whole["made"], start=1)]
    facts = {"seen": seen, "agents": agents, "times": times, "whole": len(addresses), "fields": fields}
    return {**facts, "made": whole["made"], "addresses": [] if live else addresses, "paused": paused}


@router.post("/game")
async def step(request: Request, state: UsedState, shell: UsedShell) -> Response:
    """One more move."""
    fields = await own_form(request, shell)
    state.spend(request)
    chosen = _check_choices(fields.get("one", ""), fields.get("other", ""), fields.get("seconds", ""))
    game, moves = fields.get("game", "")[:60], numbers(fields.get("moves", "")[:LONGEST])
    seen = await next_position(state, game, moves, [chosen["one"], chosen["other"]], chosen["seconds"])
    return RedirectResponse("/arena/watch/game" + query(game=game, **chosen, moves=join_moves(seen["moves"])), 303)


@router.get("/events")
async def events(
    request: Request, state: UsedState, game: Text, one: Text, other: Text, seconds: Text, moves: Moves = ""
) -> Response:
    """The game from a position on, as events: each has the part of the page for one move."""
    chosen = {"game": game, **_check_choices(one, other, seconds)}
    played = numbers(request.headers.get("last-event-id", moves)[:LONGEST])
    if state.watched >= WATCHED:
        raise HTTPException(503, f"{WATCHED} games are being watched, the most that is possible; try again later.")
    state.spend(request)
    return _Watched(state, _stream_game(request, state, chosen, played))


class _Watched(StreamingResponse):
    """The events of a watched game; the game counts as watched as soon as the handler returns."""

    def __init__(self, state: ArenaState, events: AsyncIterator[str]) -> None:
        super().__init__(events, media_type="text/event-stream")
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._state.watched += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._state.watched -= 1


async def _stream_game(
    request: Request, state: ArenaState, chosen: dict[str, str], moves: list[int]
) -> AsyncIterator[str]:
    """Events until the game is over or nobody watches."""
    agents = [chosen["one"], chosen["other"]]
    over = False
    while not over and not await request.is_disconnected():
        before = len(moves)
        try:
            seen = await next_position(state, chosen["game"], moves, agents, chosen["seconds"])
        except (NoAnswerError, BusyError) as error:
            yield _event("refused", "", str(error))
            return
        moves, over = seen["moves"], seen["over"]
        if len(moves) > before:
            part = render_part(request, "arena/watch_part.html", **_facts(chosen, seen, seen, False, live=not over))
            yield _event("move", join_moves(moves), part)
        await asyncio.sleep(0 if over else MOVE_SECONDS)
    yield _event("over", join_moves(moves), "")


async def next_position(state: ArenaState, game: str, moves: list[int], agents: list[str], seconds: str) -> Message:
    """The position after one more move of an agent."""
    after = await run_in_threadpool(state.service.play_on, game, moves, [*agents], seconds, once=True)
    return await run_in_threadpool(state.service.position, game, after)


def _event(kind: str, id: str, data: str) -> str:
    return f"event: {kind}\n" + (f"id: {id}\n" if id else "") + f"data: {json.dumps(data)}\n\n"


def _check_choices(one: str, other: str, seconds: str) -> dict[str, str]:
    """Two agents and their time; 400 if they are no choices."""
    if one not in _LABELS or other not in _LABELS or seconds not in SECONDS:
        raise HTTPException(400, "There are no such agents here; choose from the lists.")
    return {"one": one, "other": other, "seconds": seconds}
