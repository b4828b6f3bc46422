"""Teams and people as the accounts of the web application."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.models import Team
from pttt_ooc.course.data.term_tables import STUDENT, Person
from pttt_ooc.course.people import sessions, teams
from pttt_ooc.course.people.people import authenticate_staff, team_of
from pttt_ooc.site.shell.parts import Link
from pttt_ooc.site.shell.shell import Account

DESK = Link("/course/desk", "Desk", "Course")
"""The entry of the navigation for people with rights."""


@dataclass(frozen=True)
class _PersonAccount:
    """The account of a person who is in no team: the number is below zero."""

    person: Person

    @property
    def id(self) -> int:
        """See :class:`pttt_ooc.site.shell.shell.Account`."""
        return -self.person.id

    @property
    def name(self) -> str:
        """The name that pages show."""
        return self.person.name


class Student(_PersonAccount):
    """The account of a student who is in no team."""


class Staff(_PersonAccount):
    """The account of an instructor or assistant."""

    @property
    def role(self) -> str:
        """The person's role."""
        return self.person.role


def person_behind(account: Account | None) -> Person | None:
    """The person who is signed in; None for a team's token, or if nobody is signed in."""
    if isinstance(account, Staff | Student):
        return account.person
    return account.__dict__.get(_MEMBER) if isinstance(account, Team) else None


_MEMBER = "member"  # the attribute of a team that is signed in by one of its students


def account_of(session: Session, person: Person) -> Team | Staff | Student | None:
    """The account of a person who has signed in; None if the person was removed."""
    if person.removed_at is not None:
        return None
    if person.role != STUDENT:
        return Staff(person)
    team = team_of(session, person)
    if team is None:
        return Student(person)
    return as_member(team, person)


def as_member(team: Team, person: Person) -> Team:
    """A team as the account of one of its students."""
    setattr(team, _MEMBER, person)
    return team


class TeamAccounts:
    """See :class:`pttt_ooc.site.shell.shell.Accounts`; an account is a :class:`Team`, :class:`Staff` or
    :class:`Student`.

    A student who signs in acts for the team that they are in.

    Parameters
    ----------
    session_seconds
        How long a browser stays signed in.
    other_ways
        Pages on which people sign in without a token.
    """

    token_label = "Your token"
    token_help = (
        "Instructors hand out each team’s token, and have tokens of their own. Keep yours secret; if it is lost, or "
        "others know it, ask them for a new one."
    )

    def __init__(self, database: Database, session_seconds: float, other_ways: Sequence[Link] = ()) -> None:
        self._database, self._seconds, self.other_ways = database, int(session_seconds), other_ways

    def of_token(self, token: str) -> Team | Staff | None:
        """The team or person that has this token."""
        with self._database.reading() as session:
            person = authenticate_staff(session, token)
            return Staff(person) if person else teams.authenticate(session, token)

    def of_session(self, value: str) -> Team | Staff | Student | None:
        """The team or person that is signed in with a cookie's value."""
        with self._database.reading() as session:
            team = sessions.team_of(session, value)
            person = None if team else sessions.person_of(session, value)
            return account_of(session, person) if person else team

    def begin_session(self, account: Account) -> tuple[str, int]:
        """Begin a session; returns the cookie's value and its life in seconds."""
        assert isinstance(account, Team | Staff | Student)
        who = person_behind(account) or account
        assert isinstance(who, Team | Person)
        return sessions.begin(self._database, who, self._seconds), self._seconds

    def end_session(self, value: str) -> None:
        """End the session of a cookie's value, if there is one."""
        sessions.end(self._database, value)

    def page_of(self, account: Account) -> str:
        """The page of an account: the desk for people with rights, /account for students, the team's for its token."""
        if isinstance(account, Staff):
            return DESK.target
        return "/account" if person_behind(account) else f"/teams/{account.id}"

    def first_page_of(self, account: Account, wanted: str) -> str:
        """The page that was wanted, or, by default, the form; for people with rights only a page of the desk."""
        if isinstance(account, Staff):
            return wanted if wanted.startswith(f"{DESK.target}/") else DESK.target
        return wanted or "/submissions"

    def links_of(self, account: Account) -> Sequence[Link]:
        """The desk, for people with rights."""
        return (DESK,) if isinstance(account, Staff) else ()
