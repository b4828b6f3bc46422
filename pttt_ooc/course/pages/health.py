"""Whether a submission would be judged now, and figures for Prometheus."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from prometheus_client.core import GaugeMetricFamily, Metric, SummaryMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError

from pttt_ooc.course.agents.settings import ALIVE
from pttt_ooc.course.agents.standings import tries_in
from pttt_ooc.course.bots.league import League, is_there, league_directory
from pttt_ooc.course.data.assignments import all_assignments, further_games, further_leagues
from pttt_ooc.course.data.game_directory import directory_of
from pttt_ooc.course.data.models import STATUSES, UNFINISHED, Submission, Team
from pttt_ooc.course.data.rules import AGENTS
from pttt_ooc.course.data.storage import RESERVE, Storage
from pttt_ooc.course.data.term_tables import GradeRow, LogLine, Report
from pttt_ooc.course.pages.context import Course, UsedCourse
from pttt_ooc.disk.resources import available_bytes
from pttt_ooc.disk.tries import Tries
from pttt_ooc.errors import PtttError
from pttt_ooc.other_games.extreme.tournament_record import tries_of as tournament_tries
from pttt_ooc.site.service.pulse import read_sign

log = logging.getLogger("pttt.course.web")
router = APIRouter(include_in_schema=False)


@router.get("/healthz")
def healthz(course: UsedCourse) -> JSONResponse:
    """200 if a submission would be accepted and judged now, else 503 and what is not ready.

    Matches that the machine has broken off are listed, and do not change the status.
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
    """For each further worker its name, its file with signs of life, and the tries of its matches, if any."""
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


class FromDatabase(Collector):
    """Figures of one course."""

    def __init__(self, course: Course) -> None:
        self._course = course

    def describe(self) -> list[Metric]:
        """Nothing, so that registering reads no database."""
        return []

    def collect(self) -> Iterator[Metric]:
        """All current figures."""
        course = self._course
        with course.database.reading() as session:
            counted = session.execute(select(Submission.status, func.count()).group_by(Submission.status))
            counts: dict[str, int] = {status: count for status, count in counted}
            oldest = session.scalar(select(func.min(Submission.received_at)).where(Submission.status.in_(UNFINISHED)))
            judged, spent = session.execute(
                select(func.count(Submission.evaluation_seconds), func.sum(Submission.evaluation_seconds))
            ).one()
            teams = session.scalar(select(func.count(Team.id))) or 0
            reports = session.scalar(select(func.count(Report.id))) or 0
            grades = session.scalar(select(func.count(GradeRow.id))) or 0
            decisions = session.scalar(select(func.count(LogLine.id))) or 0
        statuses = GaugeMetricFamily("pttt_submissions", "Submissions by status.", labels=["status"])
        for status in STATUSES:
            statuses.add_metric([status], counts.get(status, 0))
        yield statuses
        yield GaugeMetricFamily("pttt_teams", "Teams, the baseline included.", value=teams)
        wait = max(0.0, time.time() - oldest) if oldest else 0.0
        yield GaugeMetricFamily(
            "pttt_oldest_wait_seconds", "Age of the oldest submission without a verdict.", value=wait
        )
        yield SummaryMetricFamily(
            "pttt_evaluation_seconds", "Time to evaluate a strategy.", count_value=judged, sum_value=spent or 0.0
        )
        beat = course.storage.seconds_since_beat()
        yield GaugeMetricFamily(
            "pttt_worker_silent_seconds",
            "Seconds since the worker's last sign of life; -1: none.",
            value=-1 if beat is None else beat,
        )
        yield GaugeMetricFamily("pttt_disk_free_bytes", "Free bytes on the disk.", value=course.storage.free_bytes())
        yield GaugeMetricFamily("pttt_memory_available_bytes", "Memory left for programs.", value=available_bytes())
        yield GaugeMetricFamily("pttt_uploads_in_flight", "Uploads being received.", value=len(course.in_flight))
        yield GaugeMetricFamily("pttt_reports", "Reports received.", value=reports)
        yield GaugeMetricFamily("pttt_grades", "Rows in the history of grades.", value=grades)
        yield GaugeMetricFamily("pttt_decisions", "Lines in the log of decisions.", value=decisions)
