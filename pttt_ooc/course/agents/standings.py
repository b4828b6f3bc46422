"""The standings of an assignment of agents: each team's agent and score, and the matches against each other."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.agents_tables import Agent, AgentMatch
from pttt_ooc.course.data.choice import Candidates, options, within_dates
from pttt_ooc.course.data.models import ACCEPTED, HIDDEN, WITHDRAWN, Team
from pttt_ooc.course.data.rules import PICK
from pttt_ooc.course.data.standings import out_of, ranks_of
from pttt_ooc.course.data.standings import revision as standings_revision
from pttt_ooc.course.data.term_tables import Assignment, Pick
from pttt_ooc.disk.numbers import decimals
from pttt_ooc.disk.tries import Tries
from pttt_ooc.pipeline.show.miniatures import Miniature, curve


@dataclass(frozen=True)
class Row:
    """A team in the standings.

    Attributes
    ----------
    league
        Share of the points in the head-to-head games played so far; None before the first one.
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
    """The agents that may count for an assignment: accepted, and begun within their team's dates."""
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
        Only agents whose upload had begun by then; None: all.
    public
        Only agents that are not hidden from others.
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
        Hidden agents, and agents uploaded since a freeze began, count only for their own `team`, or with `everything`.
    at
        Only agents whose upload had begun by then count; None: all.
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
    """Whether readers see different standings even without a freeze, because agents are hidden."""
    hidden = select(Agent.id).where(Agent.assignment_id == assignment.id, Agent.ruling == HIDDEN).limit(1)
    return session.scalar(hidden) is not None


def revision(session: Session, assignment: Assignment) -> str:
    """A text that changes with the standings, with each change of an agent, and each hour."""
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


# ---------------------------------------------------------------------------------------------
# The head-to-head


FOLDER, TRIES = "agents.tries", 3
"""The folder in a course's directory that counts failed tries; after so many a match is drawn by rule."""


def tries_in(data: Path) -> Tries:
    """The tries of matches that the machine broke off, by :func:`match_name`."""
    return Tries(data / FOLDER, TRIES)


def match_name(first: int, second: int) -> str:
    """The name of the match of two agents, the lower number first."""
    return f"{first}-{second}"


def drawn_by_rule(data: Path, numbers: Iterable[int]) -> list[tuple[int, int]]:
    """The pairs of these agents whose match was drawn by rule."""
    there = sorted(numbers)
    decided = {name for name, found in tries_in(data).all().items() if found.decided}
    return [(a, b) for place, b in enumerate(there) for a in there[:place] if match_name(a, b) in decided]


def head_to_head(session: Session, numbers: Iterable[int]) -> dict[tuple[int, int], tuple[float, int]]:
    """For each ordered pair of these agents that has met: points of the first, and games."""
    wanted = set(numbers)
    found = {}
    for match in session.scalars(select(AgentMatch).where(AgentMatch.first_id.in_(wanted))):
        if match.second_id in wanted:
            games = match.wins + match.draws + match.losses
            points = match.wins + match.draws / 2
            found[match.first_id, match.second_id] = points, games
            found[match.second_id, match.first_id] = games - points, games
    return found


def missing(session: Session, numbers: Iterable[int], without: tuple[int, int] | None = None) -> tuple[int, int] | None:
    """A pair of these agents that has not met yet, the lower number first; the oldest agents come first.

    Parameters
    ----------
    without
        A pair to leave out.
    """
    there = sorted(numbers)
    met = {*head_to_head(session, there), without}
    pairs = ((a, b) for position, b in enumerate(there) for a in there[:position])
    return next((pair for pair in pairs if pair not in met), None)


def league_shares(session: Session, playing: Mapping[int, int]) -> dict[int, float]:
    """For each team whose agent has met another one: its share of the points in the head-to-head."""
    met = head_to_head(session, playing.values())
    found = {}
    for team, number in playing.items():
        own = [result for (first, _), result in met.items() if first == number]
        if own:
            found[team] = sum(points for points, _ in own) / sum(games for _, games in own)
    return found
