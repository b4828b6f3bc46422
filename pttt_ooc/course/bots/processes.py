"""The processes of a league, beside a course's own."""

from __future__ import annotations

from pathlib import Path

from pttt_ooc.course.bots.league import League, is_open, league_directory
from pttt_ooc.course.data.assignments import further_leagues
from pttt_ooc.course.data.database import Database
from pttt_ooc.other_games.extreme.wing import ANALYST
from pttt_ooc.site.play.database_file import kept_file
from pttt_ooc.site.service.wing import Pages

WORKER = "pttt_ooc.course.bots.worker"


def further_workers(data: Path, database: Database) -> list[tuple[str, ...]]:
    """Name, module and arguments of a worker and an analyst for each further league that is open.

    Raises
    ------
    PtttError
        If its settings are refused, or its database cannot be used.
    """
    found: list[tuple[str, ...]] = []
    for name in open_leagues(data, database)[1]:
        found += _workers(League(league_directory(data, name)))
    return found


def _workers(league: League) -> list[tuple[str, ...]]:
    kept_file(league.database, "Bots")
    suffix = f" {league.name}" if league.name else ""
    return [
        (f"league{suffix}", WORKER, str(league.data)),
        (f"analyst{suffix}", ANALYST, str(league.tournament), str(league.practice)),
    ]


def open_leagues(data: Path, database: Database) -> tuple[bool, list[str]]:
    """Whether the course has a league of its own, and the further ones that are open and that assignments name."""
    with database.reading() as session:
        return is_open(data), [name for name in further_leagues(session) if is_open(league_directory(data, name))]


def pages(data: Path) -> list[Pages]:
    """The pages of the league in a course's directory, with its worker and the analyst; none where there is no league.

    Raises
    ------
    PtttError
        If its settings are refused, or its database cannot be used.
    """
    if not is_open(data):
        return []
    league = League(data)
    found = [Pages("league", "The league", ("pttt_ooc.course.server.bot_parts:parts_of",), workers=_workers(league))]
    if league.settings.games:
        parts, answerer = "pttt_ooc.course.server.bot_parts:play_parts", "pttt_ooc.course.bots.opponents:answerer"
        found.append(Pages("bot games", "The games", (parts,), answerer=(answerer, str(data))))
    return found
