"""Links that can be used once: into a team or the course, or for signing in.

A link has its code after the ``#`` of the address.  Browsers do not send this part: neither to this server, so that it
is in no log, nor to other sites as the page that led there.  The page puts it into a form, and the form uses it.  The
database has only its hash.
"""

from __future__ import annotations

import hashlib
import secrets
import time

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.assignments import term_of
from pttt_ooc.course.data.audit import note
from pttt_ooc.course.data.limits import hold
from pttt_ooc.course.data.models import Team
from pttt_ooc.course.data.term_tables import STUDENT, Invitation, Person
from pttt_ooc.course.people.people import address_key, check_email, join, members, person_name, team_of, vouch
from pttt_ooc.errors import CourseError

PAGE = "/account/join"
HOURS = 72.0
"""How long a link can be used, by default."""

MOST = 10
"""Links of a team that may be open at the same time."""

_REFUSED = "This link cannot be used: it was used before, was revoked, or is too old. Ask for another one."


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "replace")).hexdigest()


def _make_invitation(
    session: Session, by: str, hours: float, team: Team | None, person: Person | None, of_team: bool = False
) -> str:
    code, now = secrets.token_urlsafe(32), time.time()
    made = Invitation(digest=_digest(code), by=by, of_team=of_team, created_at=now, expires_at=now + 3600 * hours)
    made.team_id, made.person_id = team.id if team else None, person.id if person else None
    session.add(made)
    session.flush()
    note(session, by, "link", number=made.id, team=team.name if team else "", person=person.email if person else "")
    return code


def invite(session: Session, by: str, team: Team | None = None, hours: float = HOURS, of_team: bool = False) -> str:
    """A link with which somebody becomes a student of the course, and, if one is named, of a team; returns its code.

    Parameters
    ----------
    of_team
        Whether the team makes the link itself: newcomers are guests then.  A link of instructors makes guests students.

    Raises
    ------
    CourseError
        If the team has too many open links.
    """
    if team is not None:
        hold(session, team)
        if len(open_links(session, team)) >= MOST:
            raise CourseError(f"{team.name} has {MOST} open links; revoke one of them first.")
    return _make_invitation(session, by, hours, team, None, of_team)


def link_to_sign_in(session: Session, by: str, person: Person, hours: float = HOURS) -> str:
    """A link with which a person signs in once; returns its code.  Earlier ones of the person are revoked."""
    for one in session.scalars(select(Invitation).where(Invitation.person_id == person.id, *_open())):
        one.revoked_at = time.time()
    return _make_invitation(session, by, hours, None, person)


def _open() -> tuple[ColumnElement[bool], ...]:
    return Invitation.used_at.is_(None), Invitation.revoked_at.is_(None), Invitation.expires_at > time.time()


def open_links(session: Session, team: Team) -> list[Invitation]:
    """The links into a team that can still be used."""
    query = select(Invitation).where(Invitation.team_id == team.id, *_open())
    return list(session.scalars(query.order_by(Invitation.id)))


def revoke(session: Session, by: str, number: int, team: Team | None = None) -> None:
    """Make a link unusable; CourseError if there is none (of the team), or it was used or revoked."""
    found = session.get(Invitation, number)
    if found is None or found.used_at or found.revoked_at or (team is not None and found.team_id != team.id):
        raise CourseError(f"There is no open link {number}{f' of {team.name}' if team else ''}.")
    found.revoked_at = time.time()
    note(session, by, "revoke", number=number)


def use(session: Session, code: str, who: Person | None, name: str, email: str) -> Person:
    """Use a link; returns the person who is signed in then.

    Parameters
    ----------
    who
        The student who is signed in already, and joins.
    name, email
        Those of somebody new.

    Raises
    ------
    CourseError
        If the link cannot be used, or the person cannot join.
    """
    found = session.scalar(
        select(Invitation).where(Invitation.digest == _digest(code.strip()), *_open()).with_for_update()
    )
    if found is None:
        raise CourseError(_REFUSED)
    if found.person_id is not None:
        person = session.get_one(Person, found.person_id)
        if person.removed_at is not None:
            raise CourseError(_REFUSED)
    else:
        person = who or _newcomer(session, name, email)
        if person.role != STUDENT:
            raise CourseError(
                "Instructors and assistants cannot join a team; if the link is for somebody else, sign out first."
            )
        if not found.of_team:
            vouch(session, person)
        if found.team_id is not None:
            enter(session, person, session.get_one(Team, found.team_id))
    found.used_at = time.time()
    note(session, person.email, "use", number=found.id)
    return person


def _newcomer(session: Session, name: str, email: str) -> Person:
    name, email = person_name(" ".join(name.split())), check_email(email.strip())
    if session.scalar(select(Person.id).where(Person.key == address_key(email))) is not None:
        raise CourseError(f"{email} is known here already; sign in first, and then use the link.")
    made = Person(key=address_key(email), email=email, name=name, role=STUDENT, guest=True, created_at=time.time())
    session.add(made)
    session.flush()
    return made


def enter(session: Session, person: Person, team: Team) -> None:
    """Let a student join a team, with a line in the log.

    Raises
    ------
    CourseError
        If the student is in a team, or the team is full.
    """
    hold(session, team)
    current = team_of(session, person)
    if current is not None:
        raise CourseError(f"{person.name} is in the team {current.name}, and would have to leave it first.")
    size, there = term_of(session).team_size, len(members(session).get(team.id, []))
    if size and there >= size:
        raise CourseError(f"{team.name} has {there} members, and a team has at most {size}.")
    join(session, person, team, time.time())
    note(session, person.email, "join", team=team.name)
