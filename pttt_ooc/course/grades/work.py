"""What teams have handed in for an assignment, by kind: what may count, and its figures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.agents.standings import agent_candidates, league_shares
from pttt_ooc.course.bots.league import League, is_there, league_directory
from pttt_ooc.course.bots.submissions import open_bots
from pttt_ooc.course.data.assignments import further_of
from pttt_ooc.course.data.choice import Candidates, Option, within_dates
from pttt_ooc.course.data.game_directory import strategies_of
from pttt_ooc.course.data.models import ACCEPTED, BASELINE, WITHDRAWN, Judged, Submission, Team
from pttt_ooc.course.data.rules import AGENTS, BOTS, REPORT, STRATEGIES
from pttt_ooc.course.data.term_tables import Assignment, Report
from pttt_ooc.errors import CourseError

PARTS: Mapping[str, tuple[str, ...]] = {
    STRATEGIES: ("player 0", "player 1"),
    BOTS: ("bot",),
    AGENTS: ("agent",),
    REPORT: ("report",),
}
"""The slots of each kind, for people."""


def candidates(session: Session, assignment: Assignment, data: Path) -> Candidates:
    """The submissions that may count for an assignment: accepted, and begun within their team's dates.

    Parameters
    ----------
    data
        The directory of the course, for kinds with files of their own.
    """
    if assignment.kind == AGENTS:
        return agent_candidates(session, assignment)
    with strategies_of(session, assignment, data) as source:
        rows = [] if source is None else _find_accepted(source, assignment, data)
    return within_dates(session, assignment, rows)


def _find_accepted(session: Session, assignment: Assignment, data: Path) -> list[tuple[Judged, int, float | None]]:
    if assignment.kind == STRATEGIES:
        counted = select(Submission).where(Submission.status == ACCEPTED, Submission.ruling != WITHDRAWN)
        strategies = session.scalars(counted)
        return [(row, row.player, row.exploitability) for row in strategies]
    if assignment.kind == REPORT:
        reports = select(Report).where(Report.status == ACCEPTED, Report.assignment_id == assignment.id)
        reports = reports.where(Report.ruling != WITHDRAWN)
        return [(row, 0, None) for row in session.scalars(reports)]
    with open_bots(league_directory(data, further_of(assignment))) as bots:
        return [(row, 0, None) for row in bots.list_accepted()] if bots else []


def team_figures(
    session: Session, assignment: Assignment, data: Path, choices: Mapping[int, list[Option]]
) -> dict[int, float]:
    """Figures of teams rather than submissions: marks of a tournament, shares of a head-to-head.

    Parameters
    ----------
    choices
        The options of each team; the last one plays the head-to-head.
    """
    if assignment.kind == BOTS:
        return marks_of_tournament(league_directory(data, further_of(assignment)))
    if assignment.kind == AGENTS:
        playing = {team: found[-1].chosen[0].number for team, found in choices.items() if found}
        return league_shares(session, playing)
    return {}


def marks_of_tournament(data: Path) -> dict[int, float]:
    """The marks of each team in the tournament of the league in `data`, by its number; empty before it is over."""
    from pttt_ooc.other_games.extreme.tournament_record import FACTS, Record

    if not is_there(data):
        return {}
    directory = League(data).tournament
    if not (directory / FACTS).is_file():
        return {}
    record = Record(directory)
    state = record.state()
    if state.waiting:
        return {}
    marks = record.marks(state.tables)
    return {team_of_key(key): marks[key]["total"] for key in record.teams}


def team_of_key(key: str) -> int:
    """The number of the team that has this key in the tournament."""
    if not re.fullmatch(r"t[0-9]{1,9}", key):
        raise CourseError(f"The tournament has the team {key!r}, which is not in this course.")
    return int(key[1:])


def figures(kind: str, option: Option, of_teams: Mapping[int, float], team: int) -> dict[str, float]:
    """The figures of an option; what was not handed in has none.

    Parameters
    ----------
    of_teams
        See :func:`team_figures`.
    """
    if kind == BOTS:
        return {"marks": of_teams[team]} if team in of_teams else {}
    if kind == AGENTS:
        score = option.chosen[0].figure
        own = {} if score is None else {"score": -score}
        return {**own, **({"league": of_teams[team]} if team in of_teams else {})}
    found: dict[str, float] = {}
    for slot, one in option.chosen.items():
        if kind == STRATEGIES and one.figure is not None:
            found[f"player{slot}"] = max(0.0, one.figure)
    if len(found) == 2:
        found["sum"] = found["player0"] + found["player1"]
    return found


def baseline(session: Session, assignment: Assignment, data: Path) -> dict[str, float]:
    """The figures of Uniform in the game of an assignment, as far as they are known; other kinds have none."""
    if assignment.kind != STRATEGIES:
        return {}
    query = select(Submission).join(Team, Team.id == Submission.team_id).where(Team.name == BASELINE)
    with strategies_of(session, assignment, data) as source:
        rows = [] if source is None else list(source.scalars(query.where(Submission.status == ACCEPTED)))
    found = {f"player{row.player}": row.exploitability for row in rows if row.exploitability is not None}
    return {**found, **({"sum": sum(found.values())} if len(found) == 2 else {})}
