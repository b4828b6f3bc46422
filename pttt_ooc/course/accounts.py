"""Teams, and people with rights, as the accounts of the web application."""

from __future__ import annotations

from dataclasses import dataclass

from pttt_ooc.course import sessions, teams
from pttt_ooc.course.database import Database
from pttt_ooc.course.models import Team
from pttt_ooc.course.term.people import authenticate_staff
from pttt_ooc.course.term.tables import Person
from pttt_ooc.web.shell import Account


@dataclass(frozen=True)
class Staff:
    """The account of an instructor or assistant, who is no team: the number is below zero."""

    person: Person

    @property
    def id(self) -> int:
        """See :class:`pttt_ooc.web.shell.Account`."""
        return -self.person.id

    @property
    def name(self) -> str:
        """The name that pages show."""
        return self.person.name

    @property
    def role(self) -> str:
        """What the person is."""
        return self.person.role


class TeamAccounts:
    """See :class:`pttt_ooc.web.shell.Accounts`; every account is a :class:`Team` or :class:`Staff`.

    Parameters
    ----------
    session_seconds
        How long a browser stays signed in.
    """

    token_label = "Your team’s token"
    token_help = "The instructors hand it out; it is secret. If it is lost, or known to others, ask them for a new one."
    home = "/submissions"

    def __init__(self, database: Database, session_seconds: float) -> None:
        self._database, self._seconds = database, int(session_seconds)

    def of_token(self, token: str) -> Team | Staff | None:
        """The team or person that has this token."""
        with self._database.reading() as session:
            person = authenticate_staff(session, token)
            return Staff(person) if person else teams.authenticate(session, token)

    def of_session(self, value: str) -> Team | Staff | None:
        """The team or person that is signed in with a cookie's value."""
        with self._database.reading() as session:
            team = sessions.team_of(session, value)
            person = None if team else sessions.person_of(session, value)
            return Staff(person) if person else team

    def begin_session(self, account: Account) -> tuple[str, int]:
        """Begin a session; returns the cookie's value and its life in seconds."""
        assert isinstance(account, Team | Staff)
        who = account.person if isinstance(account, Staff) else account
        return sessions.begin(self._database, who, self._seconds), self._seconds

    def end_session(self, value: str) -> None:
        """End the session of a cookie's value, if there is one."""
        sessions.end(self._database, value)

    def page_of(self, account: Account) -> str:
        """Address of the team's page, or of the page for people with rights."""
        return "/course/desk" if isinstance(account, Staff) else f"/teams/{account.id}"
