"""Passwords of people, for browsers: hashed by Argon2id, with the parameters that OWASP recommends."""

from __future__ import annotations

from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.term_tables import Person
from pttt_ooc.course.people.people import address_key, end_sessions
from pttt_ooc.errors import CourseError

SHORTEST, LONGEST = 10, 200
_HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)  # 19 MiB
"""See https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html."""


def set_password(session: Session, person: Person, password: str, former: str) -> None:
    """Give a person a password; the person's sessions end.

    Parameters
    ----------
    former
        The present password, if there is one.

    Raises
    ------
    CourseError
        If the present one is wrong, or the new one is too short or too long.
    """
    if person.password_hash is not None and not _fits(person.password_hash, former):
        raise CourseError("The current password is wrong; if it is lost, ask the instructors for a link to sign in.")
    if not SHORTEST <= len(password) <= LONGEST:
        raise CourseError(f"A password has {SHORTEST} to {LONGEST} characters; this one has {len(password)}.")
    if address_key(password) in (person.key, address_key(person.name)):
        raise CourseError("A password must not be the address or the name.")
    person.password_hash = _HASHER.hash(password)
    end_sessions(session, person)


def forget_password(session: Session, person: Person) -> None:
    """Delete a person's password, which is lost or known to others; the sessions end."""
    person.password_hash = None
    end_sessions(session, person)


def authenticate_person(session: Session, email: str, password: str) -> Person | None:
    """The person who has this address and password; the answer takes as long if there is none."""
    person = session.scalar(select(Person).where(Person.key == address_key(email), Person.removed_at.is_(None)))
    known = person.password_hash if person and person.password_hash else _nobodys()
    return person if _fits(known, password[: LONGEST + 1]) and person and person.password_hash else None


@cache
def _nobodys() -> str:
    return _HASHER.hash("nobody has this password")


def _fits(known: str, password: str) -> bool:
    try:
        return _HASHER.verify(known, password)
    except (VerificationError, InvalidHashError):
        return False
