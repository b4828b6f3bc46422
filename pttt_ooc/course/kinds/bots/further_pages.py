"""The pages of further leagues: those on which teams hand in, standings, and practice before the tournament."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path as Folder
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import HTMLResponse

from pttt_ooc.course.accounts import Staff
from pttt_ooc.course.context import Grader
from pttt_ooc.course.database import Database
from pttt_ooc.course.handlers import UNCHANGED, Seen, Signed, part_since, reader
from pttt_ooc.course.kinds.bots.context import OpenLeague
from pttt_ooc.course.kinds.bots.league import League, is_there, league_directory
from pttt_ooc.course.kinds.bots.submission_pages import UsedLeague, below, programs, router
from pttt_ooc.course.term.assignments import frozen_since, further_leagues
from pttt_ooc.course.term.rules import BOTS
from pttt_ooc.extreme.pages.part import TEMPLATES, BeforeTournament, standings_facts, standings_stamp
from pttt_ooc.extreme.pages.practice_pages import practice_facts
from pttt_ooc.extreme.pages.tournament_reader import PracticeReader, TournamentReader
from pttt_ooc.web.parts import Part
from pttt_ooc.web.ranking import Find, Order
from pttt_ooc.web.rendering import render
from pttt_ooc.web.shell import Account

standings = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)


@dataclass
class FurtherLeagues:
    """The further leagues of a course, opened when they are asked for first."""

    grader: Grader
    opened: dict[str, OpenLeague] = field(default_factory=dict)
    before: dict[str, BeforeTournament] = field(default_factory=dict)
    tournaments: dict[str, TournamentReader] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def league(self, name: str) -> OpenLeague:
        """A further league; 404 if no assignment names it, or it is not there."""
        with self.grader.database.reading() as session:
            known = further_leagues(session)
        if name not in known or not is_there(league_directory(self.grader.storage.data, name)):
            raise HTTPException(404, f"There is no league {name} here.")
        with self.lock:
            if name not in self.opened:
                league = OpenLeague.of(self.grader, name)
                self.before[name] = before_tournament(league.files, self.grader.database)
                self.tournaments[name] = TournamentReader(league.files.tournament)
                self.opened[name] = league
            return self.opened[name]


def further_part_of(grader: Grader) -> Part:
    """The part of the application for further leagues."""
    place = "/leagues/{league}"
    return Part(
        name="leagues",
        directory=Folder(__file__).parent,
        routers=(below(place, router, standings), below(f"/api{place}", programs)),
        links=(),
        state=FurtherLeagues(grader),
        names={"own": "leagues", "css": "grader/grader.css"},
        templates={"extreme": TEMPLATES},
        largest_body=1_024_000,  # extreme.yaml allows no more
    )


def before_tournament(league: League, database: Database) -> BeforeTournament:
    """What the pages show before the tournament begins; people with rights see practice also while it is frozen."""
    settings = league.settings
    readers: dict[float, PracticeReader] = {}

    def frozen(account: Account | None) -> PracticeReader | None:
        if isinstance(account, Staff):
            return None
        with database.reading() as session:
            since = frozen_since(session, BOTS, further=league.name)
        if since is None or not league.frozen_practice(since).exists():  # nothing has been played since
            return None
        return readers.setdefault(since, PracticeReader(league.frozen_practice(since)))

    return BeforeTournament(
        begins=settings.begins.timestamp() if settings.begins else None,
        time_limit=settings.time_limit,
        practice=PracticeReader(league.practice) if settings.practice else None,
        practice_limit=settings.practice_limit,
        kept=settings.practice_matches,
        sign=league.practising,
        frozen=frozen,
    )


@standings.get("/standings")
def standings_page(
    request: Request, league: UsedLeague, account: Signed, sort: Order = "place", find: Find = ""
) -> Response:
    """The tournament of a further league: the overall order, pools and marks."""
    context = _standings(request, league, sort, find)
    return render(request, "leagues/standings.html", reader(request, account), **context)


@standings.get("/parts/standings")
def standings_part(
    request: Request, league: UsedLeague, account: Signed, sort: Order = "place", find: Find = "", seen: Seen = ""
) -> Response:
    """The same, if it has changed."""
    further: FurtherLeagues = request.app.state.leagues
    if standings_stamp(further.tournaments[league.name or ""]) == seen:
        return Response(status_code=UNCHANGED)
    context = _standings(request, league, sort, find)
    return render(request, "leagues/parts/standings.html", reader(request, account), **context)


@standings.get("/practice")
def practice_page(
    request: Request, league: UsedLeague, account: Signed, sort: Order = "rank", find: Find = ""
) -> Response:
    """Ratings and the latest matches before the tournament; while they are frozen, a team sees its own later ones."""
    who = reader(request, account)
    return render(request, "leagues/practice.html", who, **_practice(request, league, who, sort, find))


@standings.get("/parts/practice")
def practice_part(
    request: Request, league: UsedLeague, account: Signed, sort: Order = "rank", find: Find = "", seen: Seen = ""
) -> Response:
    """The same, if it has changed."""
    who = reader(request, account)
    return part_since(request, "leagues/parts/practice.html", who, _practice(request, league, who, sort, find), seen)


def _standings(request: Request, league: OpenLeague, sort: str, find: str) -> dict[str, Any]:
    further, name = request.app.state.leagues, league.name or ""
    return standings_facts(further.tournaments[name], further.before[name], sort, find, league.base, links="")


def _practice(request: Request, league: OpenLeague, who: Account | None, sort: str, find: str) -> dict[str, Any]:
    further: FurtherLeagues = request.app.state.leagues
    return practice_facts(further.before[league.name or ""], who, "", sort, find, league.base, links="")
