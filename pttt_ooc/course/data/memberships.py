"""Who was in which team, and when; which teams have nobody left, and which ones rank.

A *guest* is a student whom only a team has let in, by a link; no instructor has confirmed that the person belongs to
the course.  Guests work in their team as others do, but they make no team, and a team that has only guests does not
rank: otherwise everybody could have as many teams as they can invent names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, func, or_, select
from sqlalchemy.orm import Session, aliased

from pttt_ooc.course.data.models import Judged
from pttt_ooc.course.data.term_tables import Membership, Person


@dataclass(frozen=True)
class Stay:
    """A student in a team, from when until when; None: still."""

    person: int
    guest: bool
    since: float
    until: float | None

    def holds(self, at: float) -> bool:
        """Whether the student was in the team at an instant."""
        return self.since <= at and (self.until is None or at < self.until)


def stays(session: Session) -> Mapping[int, Sequence[Stay]]:
    """All stays by team; teams whose members are unknown have none."""
    found: dict[int, list[Stay]] = defaultdict(list)
    columns = Membership.team_id, Membership.person_id, Person.guest, Membership.joined_at, Membership.left_at
    for team, *stay in session.execute(select(*columns).join(Person).order_by(Membership.id)):
        found[team].append(Stay(*stay))
    return found


def left_by_all(session: Session) -> set[int]:
    """Numbers of the teams that had members and have none now: they hand in nothing."""
    return {team for team, found in stays(session).items() if all(one.until is not None for one in found)}


def without_rank(session: Session) -> set[int]:
    """Numbers of the teams that take no rank: everybody has left them, or everybody but guests."""
    return {team for team, found in stays(session).items() if not _ranks(found)}


def _ranks(found: Sequence[Stay]) -> bool:
    known = [one for one in found if not one.guest]  # a team that instructors made may have guests only
    return any(one.until is None for one in known or found)


def times_left(session: Session, person: Person) -> int:
    """How often a student has left a team."""
    left = select(func.count()).where(Membership.person_id == person.id, Membership.left_at.is_not(None))
    return session.scalar(left) or 0


# ---------------------------------------------------------------------------------------------
# What members bring with them from other teams


def _was_handed_in(table: type[Judged], then: Any, now: Any) -> ColumnElement[bool]:
    """The condition that a team handed in a file while it had a member who is in another team now."""
    received = table.received_at
    there = and_(received >= then.joined_at, or_(then.left_at.is_(None), received < then.left_at))
    return and_(then.team_id == table.team_id, there, now.person_id == then.person_id, now.left_at.is_(None))


def was_brought_in(table: type[Judged], team: int) -> ColumnElement[bool]:
    """The condition that another team handed in a file while it had a member who is in this team now."""
    then, now = aliased(Membership), aliased(Membership)
    return exists().where(_was_handed_in(table, then, now), now.team_id == team)


def latest_of_teams(
    session: Session, table: type[Judged], column: Any, *conditions: ColumnElement[bool]
) -> dict[int, float]:
    """The latest time in a column over all files of each team, and over those that its members have brought."""
    then, now = aliased(Membership), aliased(Membership)
    own = select(table.team_id, func.max(column)).where(*conditions).group_by(table.team_id)
    others = select(now.team_id, func.max(column)).select_from(table).join(then, then.team_id == table.team_id)
    others = others.join(now, _was_handed_in(table, then, now)).where(*conditions).group_by(now.team_id)
    found: dict[int, float] = {}
    for team, at in (*session.execute(own), *session.execute(others)):
        if at is not None:
            found[team] = max(at, found.get(team, at))
    return found
