"""The arena as a part of the web application."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from pttt_ooc.arena.pages.asked import AskedArena, NoAnswerError
from pttt_ooc.web.accounts import Signed
from pttt_ooc.web.parts import Link, Part, Refusal, state_of
from pttt_ooc.web.rendering import render, wants_part

ROWS = 100
"""Games on one page of a match's list."""

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False, prefix="/arena")


@dataclass
class State:
    """What the handlers work on."""

    arena: AskedArena


UsedState = Annotated[State, state_of("arena")]
MatchName = Annotated[str, Query(max_length=300)]
Number = Annotated[int, Query(ge=0, le=10**9)]


def part_of(arena: AskedArena) -> Part:
    """The part of the application for the arena."""
    return Part(
        name="arena",
        directory=Path(__file__).parent,
        routers=(router,),
        links=(Link("/arena/matches", "Matches"),),
        state=State(arena),
        names={"ROWS": ROWS},
        explain=explain,
    )


def explain(error: Exception) -> Refusal | None:
    """What is told when the answerer refuses: what was asked for does not exist, or the rules do not allow it."""
    return Refusal(404, str(error)) if isinstance(error, NoAnswerError) else None


@router.get("/matches")
def matches(request: Request, state: UsedState, account: Signed) -> Response:
    """All matches on disk."""
    return render(request, "arena/matches.html", account, matches=state.arena.matches())


@router.get("/matches/one")
def match(request: Request, state: UsedState, account: Signed, name: MatchName, start: Number = 0) -> Response:
    """One match: how it stands, and its games."""
    return render(request, "arena/match.html", account, match=state.arena.match(name, start, ROWS))


@router.get("/matches/replay")
def replay(
    request: Request, state: UsedState, account: Signed, name: MatchName, game: Number = 0, ply: Number = 0
) -> Response:
    """A game of a match, move by move."""
    template = "arena/replay_part.html" if wants_part(request) else "arena/replay.html"
    return render(request, template, account, seen=state.arena.replay(name, game, ply))
