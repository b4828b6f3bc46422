"""Which teams are disqualified, and why."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.term.assignments import all_assignments
from pttt_ooc.course.term.rules import STRATEGIES
from pttt_ooc.course.term.tables import Disqualification


def disqualified(session: Session) -> dict[tuple[int, int], Disqualification]:
    """The disqualifications in force, by the numbers of team and assignment."""
    found: dict[tuple[int, int], Disqualification] = {}
    for one in session.scalars(select(Disqualification).order_by(Disqualification.id)):
        found[one.team_id, one.assignment_id] = one
    return {pair: one for pair, one in found.items() if one.holds}


def disqualified_everywhere(session: Session) -> set[int]:
    """Numbers of the teams that are disqualified in every assignment of strategies: they have no standing."""
    found = {pair for pair, _ in disqualified(session).items()}
    assignments = [one.id for one in all_assignments(session, STRATEGIES)] if found else []
    return {team for team, _ in found if assignments and all((team, one) in found for one in assignments)}
