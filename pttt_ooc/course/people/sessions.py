"""Sessions of browsers: a row for each, so that a session also ends on the server.

The cookie's value is random; the table has its hash.  A row is deleted when the browser signs out, when the team gets
a new token or is removed, and when it expires.
"""

from __future__ import annotations

import hashlib
import secrets
import time

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.models import BrowserSession, Team
from pttt_ooc.course.data.term_tables import Person

MOST = 100
"""Maximum sessions of a team or person; a new one ends the oldest."""


def begin(database: Database, who: Team | Person, seconds: float) -> str:
    """Begin a session of `seconds` and return the cookie's value, which is not kept.

    If the team or person was removed, or got a new token, since `who` was read, the value is invalid.
    """
    value = secrets.token_urlsafe(32)
    now = time.time()
    with database.writing() as session:
        session.execute(delete(BrowserSession).where(BrowserSession.expires_at <= now))
        current = session.get(Team, who.id) if isinstance(who, Team) else session.get(Person, who.id)
        if current is None or not _is_as_it_was(current, who):
            return value
        column = BrowserSession.team_id if isinstance(who, Team) else BrowserSession.person_id
        own = select(BrowserSession).where(column == who.id)
        for oldest in session.scalars(own.order_by(BrowserSession.expires_at.desc()).offset(MOST - 1)):
            session.delete(oldest)
        session.add(BrowserSession(digest=_digest(value), expires_at=now + seconds, **{column.key: who.id}))
    return value


def _is_as_it_was(current: Team | Person, who: Team | Person) -> bool:
    """Whether a team or person may sign in as when it was read: it is still there, and has the same secrets."""
    if isinstance(current, Person) and isinstance(who, Person):
        same = current.token_hash == who.token_hash and current.password_hash == who.password_hash
        return current.removed_at is None and same and current.role == who.role
    return current.token_hash is not None and current.token_hash == who.token_hash


def person_of(session: Session, value: str) -> Person | None:
    """The person who is signed in with a cookie's value, which may be any text."""
    query = select(Person).join(BrowserSession, BrowserSession.person_id == Person.id)
    valid = BrowserSession.digest == _digest(value), BrowserSession.expires_at > time.time()
    return session.scalar(query.where(*valid))


def team_of(session: Session, value: str) -> Team | None:
    """The team that is signed in with a cookie's value, which may be any text."""
    query = select(Team).join(BrowserSession, BrowserSession.team_id == Team.id)
    valid = BrowserSession.digest == _digest(value), BrowserSession.expires_at > time.time()
    return session.scalar(query.where(*valid))


def end(database: Database, value: str) -> None:
    """End the session of a cookie's value, if there is one."""
    with database.writing() as session:
        session.execute(delete(BrowserSession).where(BrowserSession.digest == _digest(value)))


def end_all(session: Session, team: Team) -> None:
    """End all sessions of a team."""
    session.execute(delete(BrowserSession).where(BrowserSession.team_id == team.id))


def _digest(value: str) -> str:
    return hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()
