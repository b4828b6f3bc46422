"""The assignments of a course, and the facts of the course that hold for all of them."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.dates import PLANNED, Dates, readable_instant, zone_of
from pttt_ooc.course.data.limits import SubmissionError
from pttt_ooc.course.data.memberships import left_by_all
from pttt_ooc.course.data.models import BASELINE, Fact, Team
from pttt_ooc.course.data.names import readable_name
from pttt_ooc.course.data.rules import BEST, BOTS, LAST, STRATEGIES
from pttt_ooc.course.data.term_tables import Assignment, Extension
from pttt_ooc.errors import CourseError

LEAGUE = "extreme.yaml"
"""The file in the data directory that gives a course a league of bots."""

_TERM, _SETTLED = "term", "settled"
_FIRST = {STRATEGIES: ("strategies", "Strategies", BEST), BOTS: ("bots", "Bots", LAST)}


@dataclass(frozen=True)
class Term:
    """What holds for all assignments.

    Attributes
    ----------
    timezone
        Name of the time zone in which dates are written and late days end.
    late_days
        Free late days that each student has in all; see :mod:`pttt_ooc.course.data.choice`.
    aliases
        Whether public pages show aliases of teams.
    team_size
        Most students of a team that students make themselves; 0: instructors make the teams.
    show_solution
        Whether students see the solutions of the games.
    """

    timezone: str = "UTC"
    late_days: int = 0
    aliases: bool = False
    team_size: int = 0
    show_solution: bool = False

    @property
    def zone(self) -> ZoneInfo:
        """The time zone."""
        return zone_of(self.timezone)


def term_of(session: Session) -> Term:
    """The term of a course."""
    fact = session.get(Fact, _TERM)
    return Term() if fact is None else Term(**fact.value)


def set_term(session: Session, term: Term) -> None:
    """Change the term."""
    session.merge(Fact(name=_TERM, value=asdict(term)))


def settle_assignments(database: Database, data: Path) -> None:
    """Give a course an assignment for each kind that it takes.

    They have no dates and no rule: strategies and bots are taken at any time.  This happens once for each kind: an
    assignment that was removed does not come back.
    """
    wanted = [STRATEGIES, *([BOTS] if (data / LEAGUE).is_file() else [])]
    with database.reading() as session:
        if set(wanted) <= _settled_kinds(session):
            return
    with database.writing() as session:
        before = _settled_kinds(session)
        for kind in wanted:
            there = session.scalar(select(Assignment).where(Assignment.kind == kind).limit(1))
            if kind not in before and there is None:
                name, title, how = _FIRST[kind]
                position = len(all_assignments(session))
                made: dict[str, Any] = {"name": name, "title": title, "kind": kind, "position": position}
                session.add(Assignment(**made, choice=how, rubric=[]))
                session.flush()
        session.merge(Fact(name=_SETTLED, value=sorted({*before, *wanted})))


def _settled_kinds(session: Session) -> set[str]:
    fact = session.get(Fact, _SETTLED)
    return set() if fact is None else set(fact.value)


def all_assignments(session: Session, kind: str | None = None) -> list[Assignment]:
    """The assignments in their order; of one kind, if it is named."""
    query = select(Assignment).order_by(Assignment.position, Assignment.id)
    return list(session.scalars(query if kind is None else query.where(Assignment.kind == kind)))


def find_assignment(session: Session, name: str) -> Assignment:
    """An assignment by its name; CourseError if there is none."""
    found = session.scalar(select(Assignment).where(Assignment.name == name))
    if found is None:
        known = ", ".join(one.name for one in all_assignments(session)) or "none"
        raise CourseError(f"There is no assignment {name!r}; there are: {known}.")
    return found


def extensions(session: Session) -> dict[tuple[int, int], Extension]:
    """The extensions in force, by team and assignment."""
    found: dict[tuple[int, int], Extension] = {}
    for one in session.scalars(select(Extension).order_by(Extension.id)):
        found[one.team_id, one.assignment_id] = one
    return {pair: one for pair, one in found.items() if one.until is not None}


def dates_for(session: Session, assignment: Assignment, team: Team) -> Dates:
    """The dates of an assignment for a team, with its extension."""
    latest = session.scalar(
        select(Extension)
        .where(Extension.team_id == team.id, Extension.assignment_id == assignment.id)
        .order_by(Extension.id.desc())
        .limit(1)
    )
    return assignment.dates.with_extension(latest.until if latest else None, term_of(session).zone)


def further_of(assignment: Assignment) -> str | None:
    """The further game of an assignment of strategies, or the further league of one of bots; None: the course's own."""
    key = {STRATEGIES: "game", BOTS: "league"}.get(assignment.kind)
    return str(assignment.settings[key]) if key and assignment.settings else None


def further_games(session: Session) -> list[str]:
    """The further games that assignments of strategies name, each once."""
    return _further(session, STRATEGIES)


def further_leagues(session: Session) -> list[str]:
    """The further leagues that assignments of bots name, each once."""
    return _further(session, BOTS)


def _further(session: Session, kind: str) -> list[str]:
    found = (further_of(one) for one in all_assignments(session, kind))
    return list(dict.fromkeys(one for one in found if one is not None))


def check_open(
    session: Session, kind: str, team: Team, at: float, name: str | None = None, further: str | None = None
) -> None:
    """Raise a SubmissionError unless an assignment of this kind takes a file that the team began to upload at `at`.

    Nothing is taken from a team that everybody has left.

    Parameters
    ----------
    name
        Only this assignment; None: any of the kind.
    further
        The further game or league; None: the course's own.
    """
    if team.name == BASELINE:
        return
    if team.id in left_by_all(session):
        raise SubmissionError(
            f"Everybody has left the team {readable_name(team.name)}, so it can hand in nothing.", 409
        )
    there = [one for one in all_assignments(session, kind) if name in (None, one.name) and further_of(one) == further]
    if not there:
        raise SubmissionError(f"No assignment of this course takes {kind}.", 409)
    zone = term_of(session).zone
    dates = [dates_for(session, one, team) for one in there]
    if any(one.takes(at) for one in dates):
        return
    coming = [one.opens for one in dates if one.state(at) == PLANNED and one.opens is not None]
    if coming:
        raise SubmissionError(f"Uploads of {kind} begin at {readable_instant(min(coming), zone)}.", 409)
    ended = max(one.end for one in dates if one.end is not None)
    raise SubmissionError(
        f"Uploads of {kind} had to begin by {readable_instant(ended, zone)}; this one is too late.", 409
    )


def veil(session: Session, at: float | None = None, game: str | None = None) -> float | None:
    """Since when the public standings of strategies are frozen; None if they are not.

    Submissions whose upload began since then are shown only to their own team.

    Parameters
    ----------
    at
        The instant; None: now.
    game
        A further game; None: the course's.
    """
    return frozen_since(session, STRATEGIES, at, game)


def frozen_since(session: Session, kind: str, at: float | None = None, further: str | None = None) -> float | None:
    """Since when the public results of a kind are frozen, or of a `further` game or league; None if they are not."""
    now = time.time() if at is None else at
    there = [one for one in all_assignments(session, kind) if further_of(one) == further]
    frozen = [one.frozen_at for one in there if one.dates.is_frozen(now)]
    return min((one for one in frozen if one is not None), default=None)
