"""Which of a team's submissions may count for an assignment, and who pays for late days.

An assignment has slots: a strategy for each player, or one bot, or one report.  An *option* is a submission for each
slot (or none), with the number of late days that it costs.  The option with the most points counts.

Every person has some free late days.  A late upload that counts costs late days of everybody who was in the team then
or is in it now; as many of them are free as the person with the fewest has left.  For one assignment a person pays only
once, the most that any of their teams owes.  So a change of teams or members brings no new late days.  A team whose
members are unknown pays for itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from sqlalchemy.orm import Session

from pttt_ooc.course.data.assignments import extensions, term_of
from pttt_ooc.course.data.dates import Dates, days_late, zone_of
from pttt_ooc.course.data.memberships import Stay, stays
from pttt_ooc.course.data.models import Judged
from pttt_ooc.course.data.rules import BEST, PICK
from pttt_ooc.course.data.term_tables import Assignment


@dataclass(frozen=True)
class Candidate:
    """An accepted submission within the dates.

    Attributes
    ----------
    number
        Of the submission.
    slot
        Which part of the assignment it is for.
    at
        When its upload began.
    days
        Late days that had begun then.
    figure
        How good it is, the lower the better; None where nothing is measured.
    """

    number: int
    slot: int
    at: float
    days: int
    figure: float | None = None


@dataclass(frozen=True)
class Option:
    """What may count: the chosen candidates by slot, and the late days of the latest of them."""

    chosen: Mapping[int, Candidate]
    days: int


def options(candidates: Sequence[Candidate], how: str, picks: Mapping[int, int]) -> list[Option]:
    """All options, with fewest late days first; none without candidates.

    Parameters
    ----------
    how
        :data:`BEST`: for every number of late days, the best of what was there by then.  :data:`LAST`: the last ones.
        :data:`PICK`: the team's own picks, and the last ones in slots without a valid pick.
    picks
        Numbers of submissions by slot.
    """
    if not candidates:
        return []
    if how == BEST:
        found = [
            _option([one for one in candidates if one.days <= days], _goodness)
            for days in sorted({one.days for one in candidates})
        ]
        return [one for position, one in enumerate(found) if one not in found[:position]]
    if how == PICK:
        return [_option(candidates, lambda one: (picks.get(one.slot) != one.number, *_recency(one)))]
    return [_option(candidates, _recency)]


def _goodness(one: Candidate) -> tuple[float, ...]:
    return (float("inf") if one.figure is None else one.figure, one.at, one.number)


def _recency(one: Candidate) -> tuple[float, ...]:
    return (-one.at, -one.number)


def _option(candidates: Sequence[Candidate], key: object) -> Option:
    chosen: dict[int, Candidate] = {}
    for one in sorted(candidates, key=key):  # type: ignore[call-overload]
        chosen.setdefault(one.slot, one)
    return Option(dict(sorted(chosen.items())), max(one.days for one in chosen.values()))


# ---------------------------------------------------------------------------------------------
# What was handed in within the dates of each team


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
        """The dates that the database has now."""
        until = {
            team: one.until
            for (team, number), one in extensions(session).items()
            if number == assignment.id and one.until is not None
        }
        return cls(assignment, until, term_of(session).timezone)

    def dates(self, team: int) -> Dates:
        """The dates of a team."""
        return self.assignment.dates.with_extension(self.until.get(team), zone_of(self.timezone))


def within_dates(
    session: Session, assignment: Assignment, rows: Iterable[tuple[Judged, int, float | None]]
) -> Candidates:
    """The submissions whose upload began within their team's dates.

    Parameters
    ----------
    rows
        Each with its slot and its figure, the lower the better; None: nothing is measured.
    """
    found: Candidates = defaultdict(list)
    zone, known = term_of(session).zone, cache(TeamDates.of(session, assignment).dates)
    for row, slot, figure in rows:
        dates = known(row.team_id)
        if dates.takes(row.counts_from):
            days = days_late(row.counts_from, dates.due, zone)
            found[row.team_id].append(Candidate(row.id, slot, row.counts_from, days, figure))
    return dict(found)


# ---------------------------------------------------------------------------------------------
# Who pays for late days


Payers = frozenset[int]
"""Who pays: the numbers of persons, or minus the number of a team."""


@dataclass
class LateDays:
    """The free late days while grades are computed, one assignment after the other.

    Attributes
    ----------
    each
        Free late days of each person in all.
    stays
        Who was in which team.
    """

    each: int
    stays: Mapping[int, Sequence[Stay]]
    _spent: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, session: Session) -> LateDays:
        """The late days before anything was handed in."""
        return cls(term_of(session).late_days, stays(session))

    def payers(self, team: int, option: Option | None = None) -> Payers:
        """Who pays for a team's option; without one, for what the team would hand in now."""
        late = [] if option is None else [one.at for one in option.chosen.values() if one.days]
        found = self.stays.get(team, ())
        there = {one.person for one in found if one.until is None or any(one.holds(at) for at in late)}
        return frozenset(there) or frozenset({-team})

    def days_left(self, payers: Payers) -> int:
        """How many free late days the one with the fewest has left."""
        return min(self.each - self._spent.get(one, 0) for one in payers)

    def pay(self, bills: Iterable[tuple[Payers, int]]) -> None:
        """Pay for all that teams have handed in for one assignment."""
        most: dict[int, int] = {}
        for payers, days in bills:
            for one in payers:
                most[one] = max(days, most.get(one, 0))
        for one, days in most.items():
            self._spent[one] = self._spent.get(one, 0) + days
