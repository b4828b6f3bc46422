"""Which teams are disqualified, and why; and which ones have no standing."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.assignments import all_assignments, further_of
from pttt_ooc.course.data.memberships import without_rank
from pttt_ooc.course.data.models import Fact
from pttt_ooc.course.data.rules import STRATEGIES
from pttt_ooc.course.data.term_tables import Assignment, Disqualification

MIRRORED = "disqualified"
"""The fact in a further game's database that names its teams without standing, which the course's database knows."""


def disqualifications(session: Session) -> dict[tuple[int, int], Disqualification]:
    """The disqualifications in force, by the numbers of team and assignment."""
    found: dict[tuple[int, int], Disqualification] = {}
    for one in session.scalars(select(Disqualification).order_by(Disqualification.id)):
        found[one.team_id, one.assignment_id] = one
    return {pair: one for pair, one in found.items() if one.holds}


def out_of(session: Session, assignment: Assignment) -> set[int]:
    """Numbers of the teams that have no standing in an assignment: disqualified, or without members who rank."""
    return {team for team, number in disqualifications(session) if number == assignment.id} | without_rank(session)


def out_of_game(session: Session, game: str | None = None) -> set[int]:
    """Numbers of the teams without standing in every assignment of a further game; None: of the course's own."""
    found = disqualifications(session)
    assignments = [one.id for one in all_assignments(session, STRATEGIES) if further_of(one) == game] if found else []
    out = {team for team, _ in found if assignments and all((team, one) in found for one in assignments)}
    return out | without_rank(session)


def without_standing(session: Session) -> set[int]:
    """Numbers of the teams without standing in the game whose strategies a database has."""
    mirrored = session.get(Fact, MIRRORED)
    return out_of_game(session) if mirrored is None else set(mirrored.value)
