"""What students do with teams themselves, where the course lets them: make one, leave it, give it a new token."""

from __future__ import annotations

import time

from sqlalchemy.orm import Session

from pttt_ooc.course.data.assignments import term_of
from pttt_ooc.course.data.audit import note
from pttt_ooc.course.data.memberships import times_left
from pttt_ooc.course.data.models import Team
from pttt_ooc.course.data.term_tables import Person
from pttt_ooc.course.people.invitations import enter
from pttt_ooc.course.people.people import leave, team_of
from pttt_ooc.course.people.teams import new_team, new_token
from pttt_ooc.errors import CourseError


def _check_allowed(session: Session) -> None:
    if not term_of(session).team_size:
        raise CourseError("In this course the instructors make the teams; ask them.")


def make_team(session: Session, person: Person, name: str) -> tuple[Team, str]:
    """A new team with a student in it; returns it, and its token.

    Raises
    ------
    CourseError
        If the course does not let students make teams, or the student is a guest or in a team, or the name cannot be
        one.
    """
    _check_allowed(session)
    if person.guest:
        raise CourseError(
            "Only a team has let you into the course, so that you cannot make one; ask the instructors for a link into "
            "the course."
        )
    current = team_of(session, person)
    if current is not None:
        raise CourseError(f"You are in the team {current.name}; leave it first.")
    team, token = new_team(session, name)
    note(session, person.email, "team", team=team.name)
    enter(session, person, team)
    return team, token


def leave_team(session: Session, person: Person, most: int) -> Team:
    """Let a student leave the team, which keeps what it has handed in; returns the team.

    Parameters
    ----------
    most
        How often a student may leave a team.

    Raises
    ------
    CourseError
        If the course does not let students do so, or the student is in no team, or has left teams that often.
    """
    _check_allowed(session)
    team = team_of(session, person)
    if team is None:
        raise CourseError("You are in no team.")
    if (times := times_left(session, person)) >= most:
        raise CourseError(f"You have left a team {times} times, which is the limit; ask the instructors.")
    leave(session, person, time.time())
    note(session, person.email, "leave", team=team.name)
    return team


def renew_token(session: Session, person: Person) -> tuple[Team, str]:
    """A new token for a student's team; the old one and sessions by it end.  CourseError if there is no team."""
    team = team_of(session, person)
    if team is None:
        raise CourseError("You are in no team.")
    note(session, person.email, "rotate token", team=team.name)
    return team, new_token(session, team)
