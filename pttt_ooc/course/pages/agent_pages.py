"""The pages and addresses of assignments of agents: the standings are for everybody, a file for its team and staff."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path as Folder
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.agents.queue import line
from pttt_ooc.course.agents.settings import ALIVE, AgentSettings, settings_of
from pttt_ooc.course.agents.standings import Row, curves, drawn_by_rule, in_judgement, revision, some_hidden, standings
from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.assignments import dates_for, term_of
from pttt_ooc.course.data.dates import readable_instant
from pttt_ooc.course.data.models import Team
from pttt_ooc.course.data.rules import AGENTS
from pttt_ooc.course.data.term_tables import Assignment
from pttt_ooc.course.grades.decisions import ruling_of
from pttt_ooc.course.pages.context import Course, Number, UsedCourse, as_handed_in, own_or_any, under_way
from pttt_ooc.course.pages.intakes import agents, assignment_of
from pttt_ooc.course.pages.rankings import SINCE
from pttt_ooc.course.pages.schemas import AgentStanding, ProgramOut
from pttt_ooc.course.pages.uploads import form_schema, from_browser, from_program
from pttt_ooc.course.people.accounts import Staff
from pttt_ooc.course.people.rights import Allowed
from pttt_ooc.site.service.pulse import read_sign
from pttt_ooc.site.shell.parts import Part
from pttt_ooc.site.shell.ranking import AskedRanking, Column, RankingQuery, rank_changes, ranking, shade
from pttt_ooc.site.shell.rendering import is_seen, render_renewed
from pttt_ooc.site.shell.shell import Account, UsedShell

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False, prefix="/agents")
programs = APIRouter(prefix="/api/agents")
Name = Annotated[str, Path(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
_MB = 1_000_000


def part_of() -> Part:
    """The part of the application for agents."""
    return Part(
        name="agents",
        directory=Folder(__file__).parent / "agents",
        routers=(router, programs),
        links=(),
        largest_body=2 * _MB,
    )


_COLUMNS: dict[str, Column[Row]] = {
    "rank": Column("Rank", lambda row: row.rank),
    "team": Column("Team", lambda row: row.team.key, text=True),
    "score": Column("Score", lambda row: -(row.agent.score or 0.0), falls=True),
    "league": Column("Head-to-head", lambda row: None if row.league is None else -row.league, falls=True),
    "met": Column("Met", lambda row: -row.met, falls=True),
}


@router.get("/{name}")
@router.get("/{name}/parts/standings")
def assignment_page(
    request: Request, course: UsedCourse, account: Allowed, name: Name, asked: AskedRanking
) -> Response:
    """The standings, the form, and the team's own agents."""
    team = account if isinstance(account, Team) else None
    with course.database.reading() as session:
        assignment = assignment_of(session, name, AGENTS)
        if is_seen(request, revision(session, assignment)):
            return Response(status_code=204)
        dates = dates_for(session, assignment, team) if team else assignment.dates
        zone = term_of(session).zone
        context = _ranking(session, course, account, assignment, asked)
        own = _of_team(session, team, assignment.id) if team else []
    context |= {
        "own": own,
        "takes": dates.takes(time.time()),
        "sign": read_sign(course.storage.data / ALIVE),
        "local": lambda at: readable_instant(at, zone),
    }
    return render_renewed(request, "agents/assignment.html", "agents/parts/standings.html", account, **context)


def _ranking(
    session: Session, course: Course, account: Account | None, assignment: Assignment, asked: RankingQuery
) -> dict[str, Any]:
    team, everything, now = account if isinstance(account, Team) else None, _sees_all(account), time.time()
    frozen, stamp = assignment.dates.is_frozen(now), revision(session, assignment)
    viewer = team.id if team else None

    def make() -> dict[str, Any]:
        rows = standings(session, course.storage.data, assignment, viewer, everything)
        before = standings(session, course.storage.data, assignment, viewer, everything, now - SINCE)
        return {
            "rows": rows,
            "changes": rank_changes({r.team.id: r.rank for r in rows}, {r.team.id: r.rank for r in before}),
            "curves": curves(session, assignment, viewer, everything),
            "judged": in_judgement(session, assignment, viewer, everything),
            "by_rule": _by_rule(rows, course),
        }

    # Readers see different standings only if something is frozen or hidden.
    reader = (viewer, everything) if frozen or some_hidden(session, assignment) else None
    known = course.cache.current(("agents", assignment.id, reader), stamp, make)
    settings = settings_of(assignment.settings)
    columns = {key: one for key, one in _COLUMNS.items() if settings.league or key not in ("league", "met")}
    place = f"/agents/{assignment.name}"
    return {
        **known,
        "assignment": assignment,
        "settings": settings,
        "team": team,
        "ranking": ranking(known["rows"], columns, lambda row: row.team.name, place, asked),
        "frozen": frozen,
        "shade": shade,
        "stamp": stamp,
    }


def _by_rule(rows: Sequence[Row], course: Course) -> list[tuple[str, str]]:
    """The names of each pair of teams whose match was drawn by rule."""
    teams = {row.agent.id: row.team.name for row in rows}
    return [(teams[a], teams[b]) for a, b in drawn_by_rule(course.storage.data, teams)]


def _sees_all(account: Account | None) -> bool:
    return isinstance(account, Staff)


def _of_team(session: Session, team: Team, assignment: int) -> list[Agent]:
    query = select(Agent).where(Agent.team_id == team.id, Agent.assignment_id == assignment)
    return list(session.scalars(query.order_by(Agent.id.desc())))


def _own(session: Session, account: Account | None, name: str, number: int) -> Agent:
    found = session.get(Agent, number)
    if found is not None and found.assignment_id != assignment_of(session, name, AGENTS).id:
        found = None
    return own_or_any(found, account, f"agent {number} of yours in {name}")


@router.post("/{name}")
async def take_in(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed, name: Name) -> Response:
    """Take in an agent from the form."""
    assert isinstance(account, Team)
    intake = await run_in_threadpool(agents, course, name)
    row, _ = await from_browser(request, shell, course, intake, account)
    return RedirectResponse(f"/agents/{name}/{row.id}", 303)


@router.get("/{name}/{number}")
@router.get("/{name}/{number}/part")
def one_agent(request: Request, course: UsedCourse, account: Allowed, name: Name, number: Number) -> Response:
    """The verdict on an agent."""
    facts = {"team": account if isinstance(account, Team) else None, **_verdict(course, account, name, number)}
    return render_renewed(request, "agents/agent.html", "agents/parts/agent.html", account, **facts)


def _verdict(course: Course, account: Account | None, name: str, number: int) -> dict[str, Any]:
    with course.database.reading() as session:
        agent, assignment = _own(session, account, name, number), assignment_of(session, name, AGENTS)
        place = next((at for at, one in enumerate(line(session)) if one.id == number), 0)
        zone, ruling = term_of(session).zone, ruling_of(session, AGENTS, number)
    return {
        **under_way(agent, place, course.storage.data / ALIVE),
        "agent": agent,
        "assignment": assignment,
        "ruling": ruling,
        "local": lambda at: readable_instant(at, zone),
    }


@router.get("/{name}/{number}/file")
def agent_file(course: UsedCourse, account: Allowed, name: Name, number: Number) -> Response:
    """The file of an agent, as it was handed in."""
    with course.database.reading() as session:
        found = _own(session, account, name, number)
    file = course.storage.upload(found.file)
    return as_handed_in(file, f"agent {number}", found.given, "application/octet-stream")


# ---------------------------------------------------------------------------------------------
# Programs


class AgentOut(ProgramOut):
    """One of the team's own agents, and its verdict."""

    given: str
    progress: float
    score: float | None = Field(description="Share of the points against the opponents, from 0 to 1.")
    results: list[dict[str, Any]]


@programs.post(
    "/{name}", summary="Hand in an agent", status_code=201, openapi_extra=form_schema("One file like mine.py.")
)
async def take_in_by_program(
    request: Request, response: Response, course: UsedCourse, account: Allowed, name: Name
) -> AgentOut:
    """Hand in an agent; 200 if it is the very file that the team handed in last."""
    assert isinstance(account, Team)
    intake = await run_in_threadpool(agents, course, name)
    row, _ = await from_program(request, response, course, intake, account)
    return AgentOut.model_validate(row)


@programs.get("/{name}", summary="Your agents")
def list_by_program(course: UsedCourse, account: Allowed, name: Name) -> list[AgentOut]:
    """The team's own agents, latest first."""
    assert isinstance(account, Team)
    with course.database.reading() as session:
        return [
            AgentOut.model_validate(one) for one in _of_team(session, account, assignment_of(session, name, AGENTS).id)
        ]


@programs.get("/{name}/settings", summary="The settings of an assignment of agents")
def settings_by_program(course: UsedCourse, account: Allowed, name: Name) -> AgentSettings:
    """Game, opponents and limits."""
    with course.database.reading() as session:
        return settings_of(assignment_of(session, name, AGENTS).settings)


@programs.get("/{name}/standings", summary="The standings of agents")
def standings_by_program(course: UsedCourse, account: Allowed, name: Name) -> list[AgentStanding]:
    """The standings, best score first."""
    team = account.id if isinstance(account, Team) else None
    with course.database.reading() as session:
        rows = standings(session, course.storage.data, assignment_of(session, name, AGENTS), team, _sees_all(account))
    return [AgentStanding.of(row) for row in rows]


@programs.get("/{name}/{number}", summary="One of your agents")
def one_by_program(course: UsedCourse, account: Allowed, name: Name, number: Number) -> AgentOut:
    """One of the team's own agents, and its verdict."""
    with course.database.reading() as session:
        return AgentOut.model_validate(_own(session, account, name, number))
