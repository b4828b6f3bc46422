"""The review of a finished game: what each move lost, the curve of values, and the values of moves on the board."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.responses import HTMLResponse

from pttt_ooc.other_games.arena.pages.page_state import NoAnswerError, UsedState, join_moves
from pttt_ooc.other_games.arena.pages.play_pages import AskedGame, seen_at
from pttt_ooc.site.play.review import all_ratings, put_figures, review_game
from pttt_ooc.site.service.wire import Message
from pttt_ooc.site.shell.accounts import Signed
from pttt_ooc.site.shell.rendering import render_game

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False, prefix="/arena/play")


@router.get("/review")
def review(
    request: Request,
    state: UsedState,
    account: Signed,
    table: AskedGame,
    ply: Annotated[int | None, Query(ge=0)] = None,
) -> Response:
    """A finished game after `ply` moves; default: at its end."""
    whole, table = seen_at(state, table)
    last = len(table.moves)
    if not (whole["over"] or table.resigned):
        raise HTTPException(409, "This game is not over; its moves are rated when it is.")
    if ply is not None and ply > last:
        raise HTTPException(404, f"The game has {last} moves; move {ply} is not one of them.")
    ply = last if ply is None else ply

    def rate(number: int) -> Message:
        state.spend(request)  # each that is not remembered counts as a move, and is a question of its own
        return state.cache.rating(table.game, table.moves[:number])

    try:
        ratings, why = all_ratings(state.cache.ratings(table.game, table.moves), rate), ""
    except NoAnswerError as error:
        ratings, why = [], str(error)
    seen = whole if ply == last else state.service.position(table.game, table.moves[:ply])
    if ratings and ply < last:
        put_figures(seen["boards"], ratings[ply], table.moves[ply])
    end = {None: 0.5, 0: 1.0, 1: 0.0}[whole["winner"]] if whole["over"] else None
    shown = review_game(whole["made"], ratings, table.me, ply, end)
    fields = {**table.settings, "moves": join_moves(table.moves)}
    facts = {"table": table, "seen": seen, "whole": whole, "review": shown, "fields": fields, "why": why}
    return render_game(request, "arena/review_part.html", account, f"Review: {table.name}", table.heading, **facts)
