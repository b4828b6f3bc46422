"""The review of a finished game: what each move lost, the curve of values, and the values of moves on the board."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.responses import HTMLResponse

from pttt_ooc.arena.pages.answerer_client import NoAnswerError
from pttt_ooc.arena.pages.figures import matters, points, put_figures
from pttt_ooc.arena.pages.page_state import ArenaState, UsedState, joined
from pttt_ooc.arena.pages.play_pages import AgentGame, AskedGame, seen_at
from pttt_ooc.service.wire import Message
from pttt_ooc.web.accounts import Signed
from pttt_ooc.web.rendering import render, wants_part

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False, prefix="/arena/play")


@dataclass(frozen=True)
class RatedMove:
    """A move of a finished game.

    Attributes
    ----------
    number
        From 1.
    mine
        Whether the person made it.
    loss, exact
        What it lost in points, and whether that is exact.
    """

    number: int
    player: int
    mine: bool
    text: str
    loss: float
    exact: bool

    @property
    def lost(self) -> str:
        """What it lost in points, as text; empty if it lost nothing."""
        return points(self.loss, self.exact) if matters(self.loss, self.exact) else ""


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
    try:
        ratings = _ratings(request, state, table)
        why = ""
    except NoAnswerError as error:
        ratings, why = [], str(error)
    seen = whole if ply == last else state.arena.position(table.game, table.moves[:ply])
    if ratings and ply < last:
        put_figures(seen, ratings[ply], table.moves[ply])
    template = "arena/review_part.html" if wants_part(request) else "arena/review.html"
    facts = {"table": table, "seen": seen, "whole": whole, "ply": ply, "last": last, "why": why}
    return render(request, template, account, **facts, **_summary(table, whole, ratings))


def _ratings(request: Request, state: ArenaState, table: AgentGame) -> list[Message]:
    """The ratings of all moves; each that is not remembered counts as a move, and is a question of its own."""
    found = []
    for number, known in enumerate(state.arena.ratings(table.game, table.moves), start=1):
        if known is None:
            state.spend(request)
        found.append(known or state.arena.rating(table.game, table.moves[:number]))
    return found


def _summary(table: AgentGame, whole: Message, ratings: list[Message]) -> dict[str, Any]:
    """All moves with their ratings, the curve, and what belongs to them."""
    named = zip(whole["movers"], whole["texts"], ratings, strict=False)
    moves = [
        RatedMove(number, mover, mover == table.me, text, one["loss"], one["exact"])
        for number, (mover, text, one) in enumerate(named, start=1)
    ]
    own = [move for move in moves if move.mine]
    worst = max(own, key=lambda move: move.loss, default=None)
    end = {None: 0.5, 0: 1.0, 1: 0.0}[whole["winner"]]
    before = [one["before"] for one in ratings]
    curve = [*before, end] if whole["over"] else before
    exact = [one["exact"] for one in ratings]
    return {
        "moves": moves,
        "curve": curve,
        "fields": {**table.settings, "moves": joined(table.moves)},
        "solved": exact.index(True) if any(exact) else None,
        "by": ratings[0]["by"] if ratings else "",
        "sum": sum(move.loss for move in own),
        "worst": worst if worst and worst.lost else None,
    }
