"""Teams as the accounts of the web application."""

from __future__ import annotations

from pttt_ooc.course import sessions, teams
from pttt_ooc.course.database import Database
from pttt_ooc.course.models import Team
from pttt_ooc.web.shell import Account


class TeamAccounts:
    """See :class:`pttt_ooc.web.shell.Accounts`; every account is a :class:`Team`.

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

    def of_token(self, token: str) -> Team | None:
        """The team that has this token."""
        with self._database.reading() as session:
            return teams.authenticate(session, token)

    def of_session(self, value: str) -> Team | None:
        """The team that is signed in with a cookie's value."""
        with self._database.reading() as session:
            return sessions.team_of(session, value)

    def begin_session(self, account: Account) -> tuple[str, int]:
        """Begin a session; returns the cookie's value and its life in seconds."""
        assert isinstance(account, Team)
        return sessions.begin(self._database, account, self._seconds), self._seconds

    def end_session(self, value: str) -> None:
        """End the session of a cookie's value, if there is one."""
        sessions.end(self._database, value)

    def page_of(self, account: Account) -> str:
        """Address of the team's page."""
        return f"/teams/{account.id}"
