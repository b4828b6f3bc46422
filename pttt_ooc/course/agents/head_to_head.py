"""The matches of the teams' agents against each other: who has met, with how many points, and who has not met yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.agents_tables import AgentMatch
from pttt_ooc.disk.tries import Tries

FOLDER, TRIES = "agents.tries", 3
"""The directory in a course's that counts the failed tries of matches, and after how many a match is drawn by rule."""


def tries_in(data: Path) -> Tries:
    """The tries of the matches that the machine has broken off, by :func:`match_name`."""
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
