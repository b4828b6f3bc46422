"""The arena as a part of the web application."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from pttt_ooc.other_games.arena.pages import play_pages, watch_pages
from pttt_ooc.other_games.arena.pages.choices import GAMES, SECONDS, SIZES, agent_name, label_of, takes_time
from pttt_ooc.other_games.arena.pages.page_state import ArenaState, NoAnswerError, UsedState
from pttt_ooc.site.service.wire import Client, Message
from pttt_ooc.site.shell.accounts import Signed
from pttt_ooc.site.shell.parts import Link, Part, Refusal
from pttt_ooc.site.shell.ranking import AskedRanking, Column, Ranking, fold_text, ranking, shade
from pttt_ooc.site.shell.rendering import render, render_game

ANSWER_SECONDS = 60.0
"""Seconds to wait for an answer: a kernel may have to be compiled."""

ROWS = 100
"""Games on one page of a match."""

AREA = "Ultimate and rows"
router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False, prefix="/arena")
MatchName = Annotated[str, Query(max_length=300)]
Number = Annotated[int, Query(ge=0, le=10**9)]
_COLUMNS: dict[str, Column[Message]] = {
    "rating": Column("Rating", lambda row: -row["points"], falls=True),
    "agent": Column("Agent", lambda row: fold_text(agent_name(row["agent"])), text=True),
    "score": Column("Score", lambda row: -row["score"], falls=True),
    "games": Column("Games", lambda row: -row["games"], falls=True),
}


def part_of(client: Client) -> Part:
    """The part of the application for the arena, whose answerer the client asks."""
    return Part(
        name="arena",
        directory=Path(__file__).parent,
        routers=(play_pages.router, watch_pages.router, router),
        links=(
            Link("/arena/play", "Play", AREA),
            Link("/arena/matches", "Watch", AREA, ("/arena/watch",)),
            Link("/arena/standings", "Ranking", AREA),
        ),
        state=ArenaState.of(client),
        names={
            **{"ROWS": ROWS, "GAMES": GAMES, "SECONDS": SECONDS, "SIDES": play_pages.SIDES, "SIZES": SIZES},
            **{"label_of": label_of, "takes_time": takes_time, "agent_name": agent_name},
        },
        explain=lambda error: Refusal(404, str(error)) if isinstance(error, NoAnswerError) else None,
    )


def parts(address: str) -> list[Part]:
    """The part whose answerer is at `address`."""
    return [part_of(Client(Path(address), ANSWER_SECONDS))]


@router.get("/matches")
def matches(request: Request, state: UsedState, account: Signed) -> Response:
    """All matches on disk."""
    found = state.archive.matches()
    stamp = f"{len(found)}-{sum(sum(one['result']) for one in found)}"
    return render(request, "arena/matches.html", account, matches=found, stamp=stamp)


@router.get("/matches/one")
def match(request: Request, state: UsedState, account: Signed, name: MatchName, start: Number = 0) -> Response:
    """A match: its score and its games."""
    found = state.archive.match(name, start, ROWS)
    return render(request, "arena/match.html", account, match=found, stamp=str(found["played"]))


@router.get("/matches/replay")
def replay(
    request: Request, state: UsedState, account: Signed, name: MatchName, game: Number = 0, ply: Number = 0
) -> Response:
    """A game of a match, move by move."""
    seen = state.archive.replay(name, game, ply)
    one, other = map(agent_name, seen["agents"])
    heading = f"{label_of(seen['game'])}: game {seen['number']}"
    told = f"Game {seen['number']}: {one} against {other}"
    return render_game(request, "arena/replay_part.html", account, told, heading, seen=seen)


@router.get("/standings")
def standings(request: Request, state: UsedState, account: Signed, asked: AskedRanking) -> Response:
    """Round robins, with ratings."""

    def rank_rows(rows: list[Message]) -> Ranking[Message]:
        return ranking(rows, _COLUMNS, lambda row: agent_name(row["agent"]), "/arena/standings", asked)

    robins = [{**robin, "ranking": rank_rows(robin["rows"])} for robin in state.archive.standings()]
    context = {"robins": robins, "asked": rank_rows([]), "shade": shade}
    return render(request, "arena/standings.html", account, **context)
