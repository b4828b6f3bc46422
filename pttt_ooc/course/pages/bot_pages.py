"""The pages and the API on which teams hand in bots and read verdicts, of the course's own league and of further ones.

No team sees another team's bot.  A further league's pages show its tournament, and practice before it, too.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path as Folder
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import Field

from pttt_ooc.course.bots.league import League, is_there, league_directory
from pttt_ooc.course.bots.submissions import Bot, Bots
from pttt_ooc.course.data.assignments import frozen_since, further_leagues, settle_assignments
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.models import Team
from pttt_ooc.course.data.rules import BOTS
from pttt_ooc.course.grades.decisions import ruling_of
from pttt_ooc.course.pages import intakes
from pttt_ooc.course.pages.context import Bearer, Course, Number, Signed, reader, under_way
from pttt_ooc.course.pages.schemas import ProgramOut
from pttt_ooc.course.pages.uploads import Intake, form_schema, from_browser, from_program
from pttt_ooc.course.people.accounts import Staff
from pttt_ooc.other_games.extreme.pages import exports, part, practice_pages
from pttt_ooc.other_games.extreme.pages.part import AREA, BASE, BeforeTournament, TournamentPages
from pttt_ooc.other_games.extreme.pages.tournament_reader import PracticeReader, TournamentReader
from pttt_ooc.site.service.pulse import read_sign
from pttt_ooc.site.shell.parts import Link, Part, areas_of, below
from pttt_ooc.site.shell.rendering import render_renewed, wants_part
from pttt_ooc.site.shell.shell import Account, UsedShell


@dataclass
class OpenLeague:
    """The web server's side of a league; `name` None: the course's own; otherwise a further one."""

    course: Course
    files: League
    bots: Bots
    name: str | None = None

    @classmethod
    def of(cls, course: Course, name: str | None = None) -> OpenLeague:
        """The league beside a course, or a further one; it must be there."""
        files = League(league_directory(course.storage.data, name))
        settle_assignments(course.database, course.storage.data)
        return cls(course, files, Bots(files), name)

    @property
    def base(self) -> str:
        """The beginning of its addresses."""
        return "/extreme" if self.name is None else f"/leagues/{self.name}"

    @property
    def intake(self) -> Intake[Bot]:
        """How bots are taken in."""
        return intakes.bots(self.course, self.files.settings, self.bots, self.name)


router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
programs = APIRouter()


def _league(request: Request) -> OpenLeague:
    """The course's own league, or the further one that the address names."""
    name = request.path_params.get("league")
    if name is None:
        own: OpenLeague = request.app.state.league
        return own
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,39}", name):
        raise HTTPException(404, "There is no such league.")
    further: OpenLeague = request.app.state.leagues.league(name)
    return further


UsedLeague = Annotated[OpenLeague, Depends(_league)]


def part_of(league: OpenLeague) -> Part:
    """The part of the application for handing in."""
    return Part(
        name="league",
        directory=Folder(__file__).parent / "bots",
        routers=(below(BASE, router, programs),),
        links=(Link(f"{BASE}/hand-in", "Hand in a bot", AREA),),
        state=league,
        largest_body=league.files.settings.largest_bytes,
    )


@router.get("/hand-in")
@router.get("/parts/bots")
def hand_in_page(request: Request, league: UsedLeague, account: Signed) -> Response:
    """The form, and the team's bots."""
    facts = {"team": account, **_bots_context(league, account)}
    return render_renewed(request, "leagues/hand_in.html", "leagues/parts/bots.html", reader(request, account), **facts)


def _bots_context(league: OpenLeague, team: Team | None) -> dict[str, Any]:
    bots = league.bots.of_team(team.id) if team else []
    stamp = f"{len(bots)}-{sum(bot.changed_at for bot in bots):.3f}"
    settings = league.files.settings
    return {
        "base": league.base,
        "settings": settings,
        "bots": bots,
        "stamp": stamp,
        "entered": league.bots.playing_bot(team.id) if team else None,
        "begins": settings.begins.timestamp() if settings.begins else None,
        "sign": read_sign(league.files.alive),
    }


@router.post("/bots")
async def take_in(request: Request, league: UsedLeague, shell: UsedShell, account: Signed) -> Response:
    """Take in a bot from the form."""
    bot, _ = await from_browser(request, shell, league.course, league.intake, account)
    if wants_part(request):
        return Response(status_code=204, headers={"HX-Redirect": f"{league.base}/bots/{bot.id}"})
    return RedirectResponse(f"{league.base}/bots/{bot.id}", 303)


@router.get("/bots/{number}")
@router.get("/parts/bots/{number}")
def one_bot(request: Request, league: UsedLeague, account: Signed, number: Number) -> Response:
    """The verdict on one of the team's own bots."""
    facts = {"team": account, **_verdict(league, account, number)}
    return render_renewed(request, "leagues/bot.html", "leagues/parts/bot.html", reader(request, account), **facts)


def _verdict(league: OpenLeague, team: Team | None, number: int) -> dict[str, Any]:
    bot = _own(league, team, number)
    with league.course.database.reading() as session:
        ruling = ruling_of(session, BOTS, bot.id, league.name or "")
    return {
        "base": league.base,
        "settings": league.files.settings,
        "bot": bot,
        "ruling": ruling,
        **under_way(bot, league.bots.place(bot) if bot.unfinished else 0, league.files.alive),
        "trials": league.bots.trials(bot.id),
    }


def _own(league: OpenLeague, team: Team | None, number: int, content: bool = False) -> Bot:
    found = league.bots.find(number, team.id, content) if team else None
    if found is None:  # the same answer for another team's bot as for none
        raise HTTPException(404, f"There is no bot {number} of yours.")
    return found


@router.get("/bots/{number}/file")
def file_page(league: UsedLeague, account: Signed, number: Number) -> Response:
    """The file of one of the team's own bots, as it was handed in."""
    bot = _own(league, account, number, content=True)
    headers = {"Content-Disposition": f'attachment; filename="{bot.file}"'}
    return Response(bot.content, media_type="text/plain; charset=utf-8", headers=headers)


# ---------------------------------------------------------------------------------------------
# Programs


class BotOut(ProgramOut):
    """One of the team's own bots, and its verdict."""

    file: str
    python: str
    why: str
    changes: str
    warnings: str
    breaches: str
    moves: int
    trials: list[str] = Field(default_factory=list, description="How it does where bots before it had difficulties.")


_FORM = form_schema("One file like team39.py.")


@programs.post("/api/bots", summary="Extreme TicTacToe: hand in a bot", status_code=201, openapi_extra=_FORM)
async def take_in_by_program(request: Request, response: Response, league: UsedLeague, team: Bearer) -> BotOut:
    """Hand in a bot; 200 if it is the very file that the team handed in last."""
    bot, _ = await from_program(request, response, league.course, league.intake, team)
    return BotOut.model_validate(await run_in_threadpool(_own, league, team, bot.id))


@programs.get("/api/bots", summary="Extreme TicTacToe: your bots")
def list_by_program(league: UsedLeague, team: Bearer) -> list[BotOut]:
    """The team's own bots, latest first."""
    return [BotOut.model_validate(bot) for bot in league.bots.of_team(team.id, texts=True)]


@programs.get("/api/bots/{number}", summary="Extreme TicTacToe: one of your bots")
def one_by_program(league: UsedLeague, team: Bearer, number: Number) -> BotOut:
    """One of the team's own bots, and its verdict."""
    found = BotOut.model_validate(_own(league, team, number))
    return found.model_copy(update={"trials": [str(trial) for trial in league.bots.trials(number)]})


@dataclass
class FurtherLeagues:
    """The further leagues of a course, opened when they are first asked for."""

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
    """Show the further league that the address names: its tournament, and its pages in the navigation."""
    further: FurtherLeagues = request.app.state.leagues
    name, base = league.name or "", league.base
    request.state.extreme = further.tournaments[name]
    links = (("hand-in", "Hand in a bot"), ("standings", "Ranking"), ("matches", "Watch"), ("practice", "Practice"))
    request.state.areas = areas_of([Link(f"{base}/{page}", label, f"League {name}") for page, label in links])


_PAGES = (router, programs, part.router, exports.router, practice_pages.router)
_ROUTER = below("/leagues/{league}", *_PAGES, dependencies=(Depends(_choose),))


def further_parts_of(course: Course, others: Sequence[Part]) -> list[Part]:
    """The parts of the application for further leagues; `others`: the other parts."""
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
    """What the pages show before the tournament begins; people with rights also see practice while it is frozen."""
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
