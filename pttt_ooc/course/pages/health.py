"""Whether a submission would be judged now."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from pttt_ooc.course.agents.settings import ALIVE
from pttt_ooc.course.agents.standings import tries_in
from pttt_ooc.course.bots.league import League, is_there, league_directory
from pttt_ooc.course.data.assignments import all_assignments, further_games, further_leagues
from pttt_ooc.course.data.game_directory import directory_of
from pttt_ooc.course.data.rules import AGENTS
from pttt_ooc.course.data.storage import RESERVE, Storage
from pttt_ooc.course.pages.context import Course, UsedCourse
from pttt_ooc.disk.tries import Tries
from pttt_ooc.errors import PtttError
from pttt_ooc.other_games.extreme.tournament_record import tries_of as tournament_tries
from pttt_ooc.site.service.pulse import read_sign

log = logging.getLogger("pttt.course.web")
router = APIRouter(include_in_schema=False)


@router.get("/healthz")
def healthz(course: UsedCourse) -> JSONResponse:
    """200 if a submission would be accepted and judged now, else 503 and what is not ready.

    Matches that the machine has broken off are told, and change nothing of that.
    """
    state = {"database": _database(course), "worker": _told_by(course.storage.alive), "disk": _disk(course)}
    broken_off: dict[str, dict[str, int]] = {}
    try:
        for name, sign, tries in _others(course) if state["database"] == "ok" else ():
            state[name] = _told_by(sign)
            if tries is not None and (found := _broken_off(tries)):
                broken_off[name] = found
    except (PtttError, SQLAlchemyError, OSError):
        log.exception("what else judges cannot be looked at")
        state["others"] = "failed"
    good = all(part == "ok" for part in state.values())
    told = {"broken_off": broken_off} if broken_off else {}
    return JSONResponse({"status": "ok" if good else "failed", **state, **told}, 200 if good else 503)


def _others(course: Course) -> Iterator[tuple[str, Path, Tries | None]]:
    """The name of each further worker, where it says that it is alive, and the tries of its matches, if it has any."""
    data = course.storage.data
    with course.database.reading() as session:
        takes_agents, games = bool(all_assignments(session, AGENTS)), further_games(session)
        leagues = [None, *further_leagues(session)]
    if takes_agents:
        yield "agents", data / ALIVE, tries_in(data)
    for league in leagues:
        place = league_directory(data, league)
        if is_there(place):
            found = League(place)
            yield "league" if league is None else f"league {league}", found.alive, tournament_tries(found.tournament)
    for game in games:
        place = directory_of(data, game)
        yield f"game {game}", Storage(place).alive, None


def _broken_off(tries: Tries) -> dict[str, int]:
    found = tries.all().values()
    counts = {
        "tried again": sum(bool(one.failed) and not one.decided for one in found),
        "drawn by rule": sum(one.decided for one in found),
    }
    return {what: count for what, count in counts.items() if count}


def _database(course: Course) -> str:
    try:
        with course.database.reading() as session:
            session.execute(select(1))
    except Exception:
        log.exception("the database cannot be read")
        return "failed"
    return "ok"


def _told_by(file: Path) -> str:
    sign = read_sign(file)
    if not sign.alive:
        return "silent"
    return f"waits for {sign.waits_for}" if sign.waits_for else "ok"


def _disk(course: Course) -> str:
    return "ok" if course.storage.free_bytes() >= RESERVE else "full"
