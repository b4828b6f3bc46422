"""Free late days: every person has some, and who was in a team pays for what the team hands in late.

A late upload that counts costs late days of everybody who was in the team then, and of everybody who is in it now; so
many are free as the one of them has left who has the fewest.  Within one assignment a person pays once, the most of all
teams.  So neither another team nor other members bring new late days.  A team whose members nobody has told pays for
itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from pttt_ooc.course.data.assignments import term_of
from pttt_ooc.course.data.choice import Option
from pttt_ooc.course.data.memberships import Stay, stays

Payers = frozenset[int]
"""Who pays: numbers of persons, or the number of a team below zero."""


@dataclass
class LateDays:
    """The free late days while grades are computed, one assignment after the other.

    Attributes
    ----------
    each
        What each person has in all.
    stays
        Who was in which team.
    """

    each: int
    stays: Mapping[int, Sequence[Stay]]
    _spent: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, session: Session) -> LateDays:
        """Before anything was handed in."""
        return cls(term_of(session).late_days, stays(session))

    def payers(self, team: int, option: Option | None = None) -> Payers:
        """Who pays for what a team hands in; without an option, for what it would hand in now."""
        late = [] if option is None else [one.at for one in option.chosen.values() if one.days]
        found = self.stays.get(team, ())
        there = {one.person for one in found if one.until is None or any(one.holds(at) for at in late)}
        return frozenset(there) or frozenset({-team})

    def days_left(self, payers: Payers) -> int:
        """How many late days all of them have left."""
        return min(self.each - self._spent.get(one, 0) for one in payers)

    def pay(self, bills: Iterable[tuple[Payers, int]]) -> None:
        """Pay for all that teams have handed in for one assignment."""
        most: dict[int, int] = {}
        for payers, days in bills:
            for one in payers:
                most[one] = max(days, most.get(one, 0))
        for one, days in most.items():
            self._spent[one] = self._spent.get(one, 0) + days
