"""Pairs of a team's own strategies, for pages and programs."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.models import ACCEPTED, REJECTED, Entry, Submission, Team
from pttt_ooc.course.data.standings import clip_exploitability
from pttt_ooc.course.data.term_tables import Pair
from pttt_ooc.errors import CourseError
from pttt_ooc.types import Interval


def make_pair(session: Session, team: Team, first: int, second: int) -> Pair:
    """A pair of two strategies of a team, made if it is not there; its value may have to be computed.

    Raises
    ------
    CourseError
        If they are not the team's own, or not one for each player.
    """
    for player, number in enumerate((first, second)):
        row = session.get(Submission, number)
        if row is None or row.team_id != team.id:
            raise CourseError(f"There is no submission {number} of yours.")
        if row.player != player:
            raise CourseError(f"Submission {number} is of player {row.player}; a pair is one of player 0 and one of 1.")
    there = session.scalar(select(Pair).where(Pair.first_id == first, Pair.second_id == second))
    if there is not None:
        return there
    entry = session.get(Entry, (first, second))  # of two best strategies it is known
    made = Pair(team_id=team.id, first_id=first, second_id=second, value=entry.value if entry else None)
    made.made_at = time.time()
    session.add(made)
    session.flush()
    return made


def facts_of(session: Session, pair: Pair, game_value: Interval | None) -> dict[str, Any]:
    """A pair as JSON: both strategies, their own value, and NashConv, the sum of their exploitabilities."""
    both = [session.get(Submission, number) for number in (pair.first_id, pair.second_id)]
    figures = [None if one is None else clip_exploitability(one.exploitability) for one in both]
    first, second = figures
    return {
        "id": pair.id,
        "submissions": [pair.first_id, pair.second_id],
        "statuses": [one.status if one else REJECTED for one in both],
        "exploitability": figures,
        "best": [bool(one and one.best) for one in both],
        "nashconv": None if first is None or second is None else first + second,
        "value": pair.value,
        "game_value": game_value,
        "url": f"/course/pairs/{pair.id}",
        "over": any(one is None or one.status == REJECTED for one in both)
        or (pair.value is not None and all(one is not None and one.status == ACCEPTED for one in both)),
    }
