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
from pttt_ooc.course.handlers import Signed, reader
from pttt_ooc.course.kinds.bots.context import OpenLeague
from pttt_ooc.course.kinds.bots.league import League, is_there, league_directory
from pttt_ooc.course.kinds.bots.submission_pages import UsedLeague, below, programs, router
from pttt_ooc.course.term.assignments import frozen_since, further_leagues
from pttt_ooc.course.term.rules import BOTS
from pttt_ooc.extreme.pages.part import BeforeTournament, key_of
from pttt_ooc.extreme.pages.tournament_reader import PracticeReader, TournamentReader
from pttt_ooc.service.pulse import read_sign
from pttt_ooc.web.parts import Part
from pttt_ooc.web.rendering import render
from pttt_ooc.web.shell import Account

standings = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
_LATEST = 25  # matches of practice that the page lists


@dataclass
class FurtherLeagues:
    """The further leagues of a course, opened when they are asked for first."""

    grader: Grader
    opened: dict[str, OpenLeague] = field(default_factory=dict)
    before: dict[str, BeforeTournament] = field(default_factory=dict)
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
def standings_page(request: Request, league: UsedLeague, account: Signed) -> Response:
    """The pools of a further league's tournament, and its matches."""
    seen = TournamentReader(league.files.tournament).seen()
    stages = (
        [] if seen is None else [(s, [t for t in seen.state.tables if t.stage == s.name]) for s in seen.record.stages]
    )
    context: dict[str, Any] = {"base": league.base, "seen": seen, "stages": stages}
    context |= {"sign": read_sign(league.files.alive), "practice": league.files.settings.practice}
    return render(request, "leagues/standings.html", reader(request, account), team=account, **context)


@standings.get("/practice")
def practice_page(request: Request, league: UsedLeague, account: Signed) -> Response:
    """Ratings and the latest matches before the tournament; while they are frozen, a team sees its own later ones."""
    further: FurtherLeagues = request.app.state.leagues
    before, who = further.before[league.name or ""], reader(request, account)
    seen, live = before.seen_by(who), before.practice.seen() if before.practice else None
    own = key_of(account.id) if account is not None else ""
    context = {
        "base": league.base,
        "before": before,
        "seen": seen,
        "live": live,
        "own": own,
        "sign": read_sign(before.sign),
        "frozen": before.frozen(who) is not None,
        "latest": [*seen.matches.values()][::-1][:_LATEST] if seen else [],
        "of_own": live.of_team(own)[::-1][:10] if live and own else [],
    }
    return render(request, "leagues/practice.html", who, team=account, **context)
