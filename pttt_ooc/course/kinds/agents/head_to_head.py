"""The matches of the teams' agents against each other: who has met, with how many points, and who has not met yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.kinds.agents.tables import AgentMatch


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
    """A pair of these agents that has not met yet, the lower number first; those that are there longest come first.

    Parameters
    ----------
    without
        A pair that is not looked for.
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
