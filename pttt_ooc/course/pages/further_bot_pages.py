"""The pages of further leagues: those on which teams hand in, tournament, and practice before it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path as Folder

from fastapi import Depends, HTTPException, Request

from pttt_ooc.course.bots.league import League, is_there, league_directory
from pttt_ooc.course.data.assignments import frozen_since, further_leagues
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.rules import BOTS
from pttt_ooc.course.pages.bot_context import OpenLeague
from pttt_ooc.course.pages.bot_pages import UsedLeague, programs, router
from pttt_ooc.course.pages.context import Course
from pttt_ooc.course.people.accounts import Staff
from pttt_ooc.other_games.extreme.pages import exports, part, practice_pages
from pttt_ooc.other_games.extreme.pages.part import BeforeTournament, TournamentPages
from pttt_ooc.other_games.extreme.pages.tournament_reader import PracticeReader, TournamentReader
from pttt_ooc.site.shell.parts import Link, Part, areas_of, below
from pttt_ooc.site.shell.shell import Account


@dataclass
class FurtherLeagues:
    """The further leagues of a course, opened when they are asked for first."""

    course: Course
    opened: dict[str, OpenLeague] = field(default_factory=dict)
    tournaments: dict[str, TournamentPages] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def league(self, name: str) -> OpenLeague:
        """A further league; 404 if no assignment names it, or it is not there."""
        with self.course.database.reading() as session:
            known = further_leagues(session)
        if name not in known or not is_there(league_directory(self.course.storage.data, name)):
            raise HTTPException(404, f"There is no league {name} here.")
        with self.lock:
            if name not in self.opened:
                league = OpenLeague.of(self.course, name)
                before = before_tournament(league.files, self.course.database)
                shown = TournamentReader(league.files.tournament)
                self.tournaments[name] = TournamentPages(shown, before=before, base=league.base)
                self.opened[name] = league
            return self.opened[name]


def _choose(request: Request, league: UsedLeague) -> None:
    """Let the pages show the tournament of the further league that the address names, and the navigation its pages."""
    further: FurtherLeagues = request.app.state.leagues
    name, base = league.name or "", league.base
    request.state.extreme = further.tournaments[name]
    links = (("hand-in", "Hand in a bot"), ("standings", "Ranking"), ("matches", "Watch"), ("practice", "Practice"))
    request.state.areas = areas_of([Link(f"{base}/{page}", label, f"League {name}") for page, label in links])


_PAGES = (router, programs, part.router, exports.router, practice_pages.router)
_ROUTER = below("/leagues/{league}", *_PAGES, dependencies=(Depends(_choose),))


def further_parts_of(course: Course, others: Sequence[Part]) -> list[Part]:
    """The parts of the application for further leagues; `others`: those that are there anyway."""
    further = Part(
        name="leagues",
        directory=Folder(__file__).parent / "bots",
        routers=(_ROUTER,),
        links=(),
        state=FurtherLeagues(course),
        largest_body=1_024_000,  # extreme.yaml allows no more
    )
    pages = part.templates()
    return [further] if any(one.name == pages.name for one in others) else [further, pages]


def before_tournament(league: League, database: Database) -> BeforeTournament:
    """What the pages show before the tournament begins; people with rights see practice also while it is frozen."""
    settings = league.settings
    readers: dict[float, PracticeReader] = {}

    def frozen_practice(account: Account | None) -> PracticeReader | None:
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
        frozen=frozen_practice,
    )
