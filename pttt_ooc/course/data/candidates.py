"""What may count for an assignment: what was begun within the dates of each team."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from sqlalchemy.orm import Session

from pttt_ooc.course.data.assignments import extensions, term_of
from pttt_ooc.course.data.choice import Candidate
from pttt_ooc.course.data.dates import Dates, days_late, zone_of
from pttt_ooc.course.data.models import Judged
from pttt_ooc.course.data.term_tables import Assignment

Candidates = dict[int, list[Candidate]]
"""Candidates by the team's number."""


@dataclass(frozen=True)
class TeamDates:
    """The dates of an assignment for each team."""

    assignment: Assignment
    until: Mapping[int, float]
    timezone: str

    @classmethod
    def of(cls, session: Session, assignment: Assignment) -> TeamDates:
        """As the database says now."""
        until = {
            team: one.until
            for (team, number), one in extensions(session).items()
            if number == assignment.id and one.until is not None
        }
        return cls(assignment, until, term_of(session).timezone)

    def dates(self, team: int) -> Dates:
        """Those of a team."""
        return self.assignment.dates.with_extension(self.until.get(team), zone_of(self.timezone))


def within_dates(
    session: Session, assignment: Assignment, rows: Iterable[tuple[Judged, int, float | None]]
) -> Candidates:
    """Of what was handed in, what was begun within its team's dates.

    Parameters
    ----------
    rows
        Each with its slot, and what is measured of it, less being better; None: nothing.
    """
    found: Candidates = defaultdict(list)
    zone, known = term_of(session).zone, cache(TeamDates.of(session, assignment).dates)
    for row, slot, figure in rows:
        dates = known(row.team_id)
        if dates.takes(row.counts_from):
            days = days_late(row.counts_from, dates.due, zone)
            found[row.team_id].append(Candidate(row.id, slot, row.counts_from, days, figure))
    return dict(found)
