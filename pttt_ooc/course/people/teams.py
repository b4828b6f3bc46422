"""Teams, their tokens and their aliases.

A token is ``NUMBER.SECRET``: the team's number finds the row, the secret's hash is compared in constant time.
The secret has 256 random bits, so that a plain SHA-256 is enough.

Public pages show a team's `name`.  If the course wants aliases, that is the alias, and the team's own name is kept
beside it, so that no page has to remember to hide anything.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from dataclasses import dataclass

from sqlalchemy import func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from pttt_ooc.course.data.assignments import term_of
from pttt_ooc.course.data.audit import CONSOLE, note
from pttt_ooc.course.data.database import FILED, Database
from pttt_ooc.course.data.memberships import left_by_all
from pttt_ooc.course.data.models import ACCEPTED, BASELINE, OF_STUDENTS, Submission, Team
from pttt_ooc.course.data.names import check_name, name_key, readable_name
from pttt_ooc.course.data.standings import touch
from pttt_ooc.course.data.term_tables import Assignment, GradeRow, Invitation
from pttt_ooc.course.people import sessions
from pttt_ooc.errors import CourseError


@dataclass(frozen=True)
class TeamFacts:
    """A row of the list of teams."""

    name: str
    submissions: int
    accepted: int
    created_at: float


def secret_hash(secret: str) -> str:
    """The hash of a token's secret, which is all that is stored."""
    return hashlib.sha256(secret.encode()).hexdigest()


def authenticate(session: Session, token: str) -> Team | None:
    """The team that has this token."""
    number, _, secret = token.partition(".")
    team = session.get(Team, int(number)) if re.fullmatch(r"[0-9]{1,9}", number) else None
    expected = team.token_hash if team and team.token_hash else secret_hash(secrets.token_hex(8))
    return team if hmac.compare_digest(secret_hash(secret), expected) else None


def add_team(database: Database, name: str) -> str:
    """Add a team and return its token, which is not stored.

    Raises
    ------
    CourseError
        If the name is taken or cannot be one.
    """
    try:
        with database.writing() as session:
            return new_team(session, name)[1]
    except IntegrityError:  # PostgreSQL lets two commands get here at the same time
        raise _taken_error(name) from None


def new_team(session: Session, name: str) -> tuple[Team, str]:
    """A new team, and its token; raises what :func:`add_team` raises."""
    name = check_name(name)
    if name_key(name) == name_key(BASELINE):
        raise CourseError(f"There already is a team {BASELINE}, which is the baseline; choose another name.")
    if taken := find_team(session, name):
        raise _taken_error(taken.name)
    team = Team(name=name, key=name_key(name), created_at=time.time())
    session.add(team)
    session.flush()
    if term_of(session).aliases:
        take_alias(session, team)
    touch(session)
    return team, _new_token(team)


def _taken_error(name: str) -> CourseError:
    return CourseError(f"There already is a team {readable_name(name)}; choose another name, or `rotate-token`.")


def find_team(session: Session, name: str) -> Team | None:
    """The team of this name in any spelling, alias or own; an exact match comes first."""
    if any(c == "\0" or "\ud800" <= c <= "\udfff" for c in name):  # databases refuse them
        return None
    own = select(Team).where(Team.roster_key == name_key(name))
    return public_team(session, name) or session.scalar(own)


def require_team(session: Session, name: str, of_students: bool = False) -> Team:
    """Like :func:`find_team`; CourseError if there is none, or (`of_students`) it is the baseline or the house."""
    found = find_team(session, name)
    if found is None or (of_students and not found.of_students):
        raise CourseError(f"There is no team {readable_name(name)}; `pttt course teams` lists them.")
    return found


def public_team(session: Session, name: str) -> Team | None:
    """The team that public pages show by this name, in any spelling: with aliases, not by its own name."""
    if any(c == "\0" or "\ud800" <= c <= "\udfff" for c in name):  # databases refuse them
        return None
    exact = session.scalar(select(Team).where(Team.name == name))
    return exact or session.scalar(select(Team).where(Team.key == name_key(name)))


def add_baseline(database: Database) -> None:
    """Add the team Uniform, if it is not there."""
    with database.writing() as session:
        if session.scalar(select(Team).where(Team.name == BASELINE)) is None:
            session.add(Team(name=BASELINE, key=name_key(BASELINE), created_at=time.time()))
            touch(session)


def new_token(session: Session, team: Team) -> str:
    """A new token for a team; the old one and all sessions of the team end."""
    sessions.end_all(session, team)
    return _new_token(team)


def end_secrets(session: Session, team: Team) -> None:
    """End what somebody who has left a team could still use to act for it: its token, sessions and open links."""
    sessions.end_all(session, team)
    team.token_hash = None
    links = update(Invitation).where(Invitation.team_id == team.id, Invitation.used_at.is_(None))
    session.execute(links.where(Invitation.revoked_at.is_(None)).values(revoked_at=time.time()))


def _new_token(team: Team) -> str:
    secret = secrets.token_urlsafe(32)
    team.token_hash = secret_hash(secret)
    return f"{team.id}.{secret}"


def rotate_token(database: Database, name: str) -> str:
    """A new token for a team; the old one and all sessions end.  CourseError if there is none, or all have left it."""
    with database.writing() as session:
        team = named_team(session, name)
        if team.id in left_by_all(session):
            raise CourseError(
                f"Everybody has left the team {readable_name(team.own_name)}, so that it has no token; "
                "`pttt course invite --team` lets somebody in."
            )
        note(session, CONSOLE, "rotate token", team=team.name)
        return new_token(session, team)


def remove_team(database: Database, name: str) -> list[str]:
    """Remove a team with its submissions; returns the names of their files, for deletion.

    Raises
    ------
    CourseError
        If there is no such team.
    """
    with database.writing() as session:
        team = named_team(session, name)
        files = [
            file for table in FILED for file in session.scalars(select(table.file).where(table.team_id == team.id))
        ]
        note(session, CONSOLE, "remove team", team=team.name, files=len(files), points=_points(session, team))
        session.delete(team)
        touch(session)
        return files


def _points(session: Session, team: Team) -> dict[str, float | None]:
    """A team's points by assignment: its grades go with it, and the log keeps what they were."""
    rows = select(Assignment.name, GradeRow.points).join(Assignment, Assignment.id == GradeRow.assignment_id)
    return {
        name: points for name, points in session.execute(rows.where(GradeRow.team_id == team.id).order_by(GradeRow.id))
    }


def named_team(session: Session, name: str) -> Team:
    """A team, which is not the baseline, by its name; CourseError if there is none."""
    team = require_team(session, name)
    if team.name == BASELINE:
        raise CourseError(f"{BASELINE} is the baseline; it has no token and stays.")
    return team


def list_teams(database: Database) -> list[TeamFacts]:
    """All teams, by name."""
    with database.reading() as session:
        counts = {
            team: (total, accepted or 0)
            for team, total, accepted in session.execute(
                select(
                    Submission.team_id,
                    func.count(),
                    func.count().filter(Submission.status == ACCEPTED),
                ).group_by(Submission.team_id)
            )
        }
        teams = sorted(session.scalars(select(Team)), key=lambda team: team.key)
        return [TeamFacts(t.own_name, *counts.get(t.id, (0, 0)), t.created_at) for t in teams]


# ---------------------------------------------------------------------------------------------
# Aliases


_FIRST = (
    "amber azure brisk bronze calm clever coral crimson daring eager early fair gentle golden green hidden ivory jolly "
    "keen lilac lucky mellow merry mint noble olive orange pale plain proud purple quick quiet red royal ruby sage "
    "scarlet silent silver sly sunny swift teal tidy violet wise young"
)
_SECOND = (
    "badger bear beaver bison camel crane deer dolphin eagle falcon ferret finch fox gecko goose hare hawk heron horse "
    "ibis jackal jay kite koala lark lemur lion lynx marten mole moose moth newt otter owl panda puffin raven robin "
    "salmon seal shrew snail stork swan tiger toad trout turtle vole weasel wolf wren yak zebra"
)


def take_alias(session: Session, team: Team) -> None:
    """Give a team an alias, drawn at random, unless it has one."""
    if team.roster_name is not None:
        return
    taken = {key for pair in session.execute(select(Team.key, Team.roster_key)) for key in pair}
    pairs = [f"{first} {second}".title() for first in _FIRST.split() for second in _SECOND.split()]
    free = [alias for alias in pairs if name_key(alias) not in taken]
    alias = secrets.choice(free) if free else f"Team {secrets.token_hex(6)}"
    team.roster_name, team.roster_key = team.name, team.key
    team.name, team.key = alias, name_key(alias)
    session.flush()


def set_aliases(session: Session, wanted: bool) -> None:
    """Give all teams aliases, or their own names again."""
    for team in session.scalars(select(Team).where(*OF_STUDENTS).order_by(Team.id)).all():
        if wanted:
            take_alias(session, team)
        elif team.roster_name is not None and team.roster_key is not None:
            team.name, team.key, team.roster_name, team.roster_key = team.roster_name, team.roster_key, None, None
    session.flush()
    touch(session)
