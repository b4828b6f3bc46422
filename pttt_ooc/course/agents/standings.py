"""The standings of an assignment of agents: each team's agent, its score, and the head-to-head of all teams."""

from __future__ import annotations

import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from pttt_ooc.course.agents.head_to_head import head_to_head, league_shares
from pttt_ooc.course.data.agents_tables import Agent, AgentMatch
from pttt_ooc.course.data.candidates import Candidates, within_dates
from pttt_ooc.course.data.choice import PICK, options
from pttt_ooc.course.data.disqualified import out_of
from pttt_ooc.course.data.models import ACCEPTED, HIDDEN, WITHDRAWN, Team
from pttt_ooc.course.data.standings import ranks_of
from pttt_ooc.course.data.standings import revision as standings_revision
from pttt_ooc.course.data.term_tables import Assignment, Pick
from pttt_ooc.disk.numbers import decimals
from pttt_ooc.pipeline.show.miniatures import Miniature, curve


@dataclass(frozen=True)
class Row:
    """A team in the standings.

    Attributes
    ----------
    league
        Share of the points in the head-to-head, over the games that are played; None: none yet.
    met
        Number of teams that it has met.
    results
        Points and games against each other team, by its number.
    """

    rank: int
    team: Team
    agent: Agent
    league: float | None
    met: int
    results: Mapping[int, tuple[float, int]]


def agent_candidates(session: Session, assignment: Assignment) -> Candidates:
    """What may count for an assignment of agents: accepted, and begun within the team's dates."""
    agents = select(Agent).where(Agent.status == ACCEPTED, Agent.assignment_id == assignment.id)
    rows = session.scalars(agents.where(Agent.ruling != WITHDRAWN))
    return within_dates(session, assignment, ((row, 0, None if row.score is None else -row.score) for row in rows))


def playing_agents(
    session: Session, data: Path, assignment: Assignment, until: float | None = None, public: bool = False
) -> dict[int, int]:
    """The number of each team's agent that plays: its best, its last or the picked one, as the assignment says.

    Teams without standing in the assignment have none.

    Parameters
    ----------
    until
        Only what had begun to be uploaded by then; None: all.
    public
        Only what is not hidden from others.
    """
    out = out_of(session, assignment)
    hidden = set(session.scalars(select(Agent.id).where(Agent.ruling == HIDDEN))) if public else set()
    picks: dict[int, dict[int, int]] = {}
    if assignment.choice == PICK:
        for pick in session.scalars(select(Pick).where(Pick.assignment_id == assignment.id).order_by(Pick.id)):
            picks.setdefault(pick.team_id, {})[pick.slot] = pick.submission
    found = {}
    for team, handed_in in agent_candidates(session, assignment).items():
        there = [one for one in handed_in if (until is None or one.at <= until) and one.number not in hidden]
        if team not in out and (chosen := options(there, assignment.choice, picks.get(team, {}))):
            found[team] = chosen[-1].chosen[0].number
    return found


def standings(
    session: Session,
    data: Path,
    assignment: Assignment,
    team: int | None,
    everything: bool,
    at: float | None = None,
) -> list[Row]:
    """The standings, best score first.

    Parameters
    ----------
    team, everything
        What is hidden, and while they are frozen what was uploaded since, counts for the team that looks only, or with
        `everything`.
    at
        Of what had begun to be uploaded by then; None: now.
    """
    until = min((time for time in (_frozen_since(assignment, everything), at) if time is not None), default=None)
    playing = playing_agents(session, data, assignment, until, public=not everything)
    if team is not None and not everything:
        own = playing_agents(session, data, assignment, at).get(team)
        playing = playing if own is None else {**playing, team: own}
    met, shares = head_to_head(session, playing.values()), league_shares(session, playing)
    agents = {one.id: one for one in session.scalars(select(Agent).where(Agent.id.in_(playing.values())))}
    teams = {one.id: one for one in session.scalars(select(Team).where(Team.id.in_(playing)))}
    order = sorted(playing, key=lambda one: (-(agents[playing[one]].score or 0.0), playing[one]))
    ranks = ranks_of({one: -(agents[playing[one]].score or 0.0) for one in order})
    rows: list[Row] = []
    for one in order:
        agent = agents[playing[one]]
        results = {b: met[agent.id, playing[b]] for b in playing if (agent.id, playing[b]) in met}
        rows.append(Row(ranks[one], teams[one], agent, shares.get(one), len(results), results))
    return rows


def _frozen_since(assignment: Assignment, everything: bool) -> float | None:
    return assignment.frozen_at if assignment.dates.is_frozen(time.time()) and not everything else None


def some_hidden(session: Session, assignment: Assignment) -> bool:
    """Whether somebody sees other standings than others, though they are not frozen."""
    hidden = select(Agent.id).where(Agent.assignment_id == assignment.id, Agent.ruling == HIDDEN).limit(1)
    return session.scalar(hidden) is not None


def revision(session: Session, assignment: Assignment) -> str:
    """A text that changes with the standings, with what is judged, and each hour."""
    own, now = Agent.assignment_id == assignment.id, time.time()
    agents = session.execute(select(func.count(), func.max(Agent.changed_at)).where(own)).one()
    met = session.execute(select(func.count(), func.sum(AgentMatch.wins), func.sum(AgentMatch.draws))).one()
    picks = session.execute(select(func.count(), func.max(Pick.id)).where(Pick.assignment_id == assignment.id)).one()
    out = sorted(out_of(session, assignment))
    dates = assignment.dates
    settings = (
        assignment.choice,
        dates.frozen,
        dates.is_frozen(now),
        sorted((assignment.settings or {}).items()),
        now // 3600,
    )
    told = (tuple(agents), tuple(met), tuple(picks), out, settings, standings_revision(session))
    return f"{zlib.crc32(repr(told).encode()):08x}"


def curves(session: Session, assignment: Assignment, team: int | None, everything: bool) -> dict[int, Miniature]:
    """A curve of the scores of each team's agents, in the order in which they were handed in; see :func:`standings`."""
    scores: dict[int, list[float]] = {}
    for agent in _visible_agents(session, assignment, team, everything):
        if agent.status == ACCEPTED and agent.score is not None and agent.ruling != WITHDRAWN:
            scores.setdefault(agent.team_id, []).append(agent.score)
    drawn = {}
    for one, found in scores.items():
        ends = f"from {decimals(100 * found[0], 1)} % to {decimals(100 * found[-1], 1)} %"
        if (picture := curve(found, f"Scores of {len(found)} agents: {ends}")) is not None:
            drawn[one] = picture
    return drawn


def in_judgement(session: Session, assignment: Assignment, team: int | None, everything: bool) -> dict[int, str]:
    """The status of the latest agent of each team that is waiting or being judged; see :func:`standings`."""
    found = _visible_agents(session, assignment, team, everything)
    return {agent.team_id: agent.status for agent in found if agent.unfinished}


def _visible_agents(session: Session, assignment: Assignment, team: int | None, everything: bool) -> list[Agent]:
    """The agents that somebody may see, in the order in which they were handed in."""
    until = _frozen_since(assignment, everything)
    out = out_of(session, assignment)
    found = session.scalars(select(Agent).where(Agent.assignment_id == assignment.id).order_by(Agent.id))
    return [
        one
        for one in found
        if everything
        or one.team_id == team
        or (one.ruling != HIDDEN and one.team_id not in out and (until is None or one.counts_from <= until))
    ]
