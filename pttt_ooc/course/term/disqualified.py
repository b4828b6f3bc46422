"""Which teams are disqualified, and why."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.models import Fact
from pttt_ooc.course.term.assignments import all_assignments, further_of
from pttt_ooc.course.term.rules import STRATEGIES
from pttt_ooc.course.term.tables import Disqualification

MIRRORED = "disqualified"
"""The fact in the database of a further game that names its disqualified teams, which the course's database knows."""


def disqualified(session: Session) -> dict[tuple[int, int], Disqualification]:
    """The disqualifications in force, by the numbers of team and assignment."""
    found: dict[tuple[int, int], Disqualification] = {}
    for one in session.scalars(select(Disqualification).order_by(Disqualification.id)):
        found[one.team_id, one.assignment_id] = one
    return {pair: one for pair, one in found.items() if one.holds}


def disqualified_from_game(session: Session, game: str | None = None) -> set[int]:
    """Numbers of the teams that are disqualified in every assignment of a further game; None: of the course's own."""
    found = disqualified(session)
    assignments = [one.id for one in all_assignments(session, STRATEGIES) if further_of(one) == game] if found else []
    return {team for team, _ in found if assignments and all((team, one) in found for one in assignments)}


def without_standing(session: Session) -> set[int]:
    """Numbers of the teams that are disqualified from the game whose strategies a database has."""
    mirrored = session.get(Fact, MIRRORED)
    return disqualified_from_game(session) if mirrored is None else set(mirrored.value)
