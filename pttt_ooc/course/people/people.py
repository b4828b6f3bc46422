"""People of a course: those with rights, who sign in with a token of their own, and students, who are in teams.

A student is identified by the e-mail address, and is in one team at a time.  Joining and leaving are recorded.  When
somebody leaves, the team's token and open links end.
"""

from __future__ import annotations

import csv
import hmac
import io
import re
import secrets
import time
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.memberships import left_by_all
from pttt_ooc.course.data.models import BASELINE, BrowserSession, Team
from pttt_ooc.course.data.names import check_name, name_key
from pttt_ooc.course.data.standings import touch
from pttt_ooc.course.data.term_tables import ROLES, STUDENT, Membership, Person
from pttt_ooc.course.people.teams import end_secrets, find_team, new_team, new_token, secret_hash
from pttt_ooc.errors import CourseError

_EMAIL = re.compile(r"[^\s@<>\"',;:\\()\[\]]+@[^\s@<>\"',;:\\()\[\]]+\.[^\s@<>\"',;:\\()\[\]]+")
_COLUMNS = ("team", "name", "email")
_LONGEST_NAME, _LONGEST_EMAIL, _LONGEST_NUMBER = 120, 200, 60


@dataclass(frozen=True)
class RosterRow:
    """A student in a roster; `line` is the line in the file."""

    line: int
    team: str
    name: str
    email: str
    number: str = ""


@dataclass(frozen=True)
class RosterChange:
    """What a roster changes.

    Attributes
    ----------
    teams
        Names of new teams.
    joins, leaves
        Pairs of a student's e-mail address and a team.
    renamed
        Addresses of students whose name or number changes.
    tokens
        Tokens of the new teams and of those that somebody has left, once the roster is applied.
    """

    teams: tuple[str, ...]
    joins: tuple[tuple[str, str], ...]
    leaves: tuple[tuple[str, str], ...]
    renamed: tuple[str, ...]
    tokens: tuple[tuple[str, str], ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        return not (self.teams or self.joins or self.leaves or self.renamed)

    def lines(self) -> list[str]:
        """A line for each change."""
        return [
            *(f"+ team {name}" for name in self.teams),
            *(f"+ {email} joins {team}" for email, team in self.joins),
            *(f"- {email} leaves {team}" for email, team in self.leaves),
            *(f"~ {team}: its token ends, as somebody leaves" for team in dict.fromkeys(t for _, t in self.leaves)),
            *(f"~ {email}: other name or number" for email in self.renamed),
        ]


def read_roster(text: str, source: str) -> list[RosterRow]:
    """The students in a CSV with the columns team, name, email and, if wanted, number.

    Raises
    ------
    CourseError
        If a column is missing, a value is refused, or somebody is in it twice.
    """
    first = text.removeprefix("\ufeff").partition("\n")[0]
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff")), delimiter=max(",;\t", key=first.count))
    try:
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise CourseError(f"{source}, line {reader.line_num}: {error}.") from None
    heading = [cell.strip().casefold() for cell in rows[0][1]] if rows else []
    missing = [name for name in _COLUMNS if name not in heading]
    if missing:
        raise CourseError(f"{source}: there is no column {missing[0]}; a roster has the columns team, name, email.")
    found: list[RosterRow] = []
    seen: dict[str, int] = {}
    for line, row in rows[1:]:
        cells = dict(zip(heading, (" ".join(cell.split()) for cell in row), strict=False))
        try:
            found.append(_roster_row(line, cells))
        except CourseError as error:
            raise CourseError(f"{source}, line {line}: {error}") from None
        key = address_key(found[-1].email)
        if key in seen:
            raise CourseError(f"{source}, line {line}: {found[-1].email} is in line {seen[key]}, too.")
        seen[key] = line
    return found


def _roster_row(line: int, cells: dict[str, str]) -> RosterRow:
    team, name, email = (cells.get(column, "") for column in _COLUMNS)
    team = check_name(team)
    if name_key(team) == name_key(BASELINE):
        raise CourseError(f"{BASELINE} is the baseline; choose another name.")
    return RosterRow(line, team, person_name(name), check_email(email), cells.get("number", "")[:_LONGEST_NUMBER])


def person_name(name: str) -> str:
    """A person's name; CourseError if it cannot be one."""
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise CourseError(f"{name!r} cannot be a person's name: it has 1 to {_LONGEST_NAME} visible characters.")
    return name


def check_email(email: str) -> str:
    """An e-mail address, in its plain form; CourseError if it cannot be one."""
    email = unicodedata.normalize("NFKC", email)
    if len(email) > _LONGEST_EMAIL or not email.isprintable() or not _EMAIL.fullmatch(email):
        raise CourseError(f"{email!r} is not an e-mail address.")
    return email


def address_key(email: str) -> str:
    """The form for comparing e-mail addresses: capitals and widths make no difference; any text is taken."""
    return name_key(email)


def change_of(session: Session, rows: Sequence[RosterRow]) -> RosterChange:
    """What a roster would change.  Students that it does not name stay where they are."""
    known = {name_key(row.team): row.team for row in rows if find_team(session, row.team) is None}
    joins, leaves, renamed = [], [], []
    for row in rows:
        person = session.scalar(select(Person).where(Person.key == address_key(row.email)))
        if person is not None and person.role != STUDENT:
            raise CourseError(f"{row.email} is {person.role}, and cannot be in a team.")
        team = find_team(session, row.team)
        current = team_of(session, person) if person else None
        if person is None or current is None or team is None or current.id != team.id:
            joins.append((row.email, team.own_name if team else known[name_key(row.team)]))
            if current is not None:
                leaves.append((row.email, current.own_name))
        if person is not None and (person.name, person.number) != (row.name, row.number or person.number):
            renamed.append(row.email)
    return RosterChange(tuple(known.values()), tuple(joins), tuple(leaves), tuple(renamed))


def apply_roster(session: Session, rows: Sequence[RosterRow]) -> RosterChange:
    """Change teams and memberships as a roster says; returns the change, with the new teams' tokens."""
    change, now = change_of(session, rows), time.time()
    tokens = [(name, new_team(session, name)[1]) for name in change.teams]
    left: dict[int, Team] = {}
    for row in rows:
        person = session.scalar(select(Person).where(Person.key == address_key(row.email)))
        if person is None:
            person = Person(key=address_key(row.email), email=row.email, name=row.name, role=STUDENT, created_at=now)
            session.add(person)
        person.name, person.number, person.removed_at = row.name, row.number or person.number or "", None
        vouch(session, person)
        session.flush()
        team, current = find_team(session, row.team), team_of(session, person)
        if team is not None and (current is None or current.id != team.id):
            left |= {} if current is None else {current.id: current}
            join(session, person, team, now)
    empty = left_by_all(session)
    tokens += [(team.own_name, new_token(session, team)) for number, team in left.items() if number not in empty]
    return RosterChange(change.teams, change.joins, change.leaves, change.renamed, tuple(tokens))


def join(session: Session, person: Person, team: Team, at: float) -> None:
    """Begin a student's membership; an earlier one ends."""
    leave(session, person, at)
    session.add(Membership(person_id=person.id, team_id=team.id, joined_at=at))
    touch(session)
    session.flush()


def vouch(session: Session, person: Person) -> None:
    """Make a guest a student of the course."""
    if person.guest:
        person.guest = False
        touch(session)


def team_of(session: Session, person: Person) -> Team | None:
    """The team that a student is in now."""
    query = select(Team).join(Membership, Membership.team_id == Team.id)
    return session.scalar(query.where(Membership.person_id == person.id, Membership.left_at.is_(None)))


def leave(session: Session, person: Person, at: float) -> None:
    """End a student's membership, if there is one, and with it the team's token and open links."""
    now = select(Membership).where(Membership.person_id == person.id, Membership.left_at.is_(None))
    for one in session.scalars(now).all():
        one.left_at = at
        end_secrets(session, session.get_one(Team, one.team_id))
        touch(session)


def members(session: Session) -> dict[int, list[Person]]:
    """The students of each team now, by name."""
    found: dict[int, list[Person]] = {}
    query = select(Membership.team_id, Person).join(Person, Person.id == Membership.person_id)
    for team, person in session.execute(query.where(Membership.left_at.is_(None)).order_by(Person.name, Person.id)):
        found.setdefault(team, []).append(person)
    return found


def find_person(session: Session, email: str) -> Person:
    """A student or somebody with rights by the e-mail address; CourseError if there is none."""
    found = session.scalar(select(Person).where(Person.key == address_key(email), Person.removed_at.is_(None)))
    if found is None:
        raise CourseError(f"Nobody here has the address {email!r}.")
    return found


# ---------------------------------------------------------------------------------------------
# People with rights


def add_staff(session: Session, name: str, email: str, role: str) -> str:
    """Give somebody rights, or a new token; returns the token, of which only a hash is kept.

    Raises
    ------
    CourseError
        If the role, name or address is refused, or the address is that of a student in a team.
    """
    if role not in ROLES or role == STUDENT:
        raise CourseError(f"There is no role {role!r} with rights; choose instructor or assistant.")
    email, name = check_email(email), person_name(" ".join(name.split()))
    person = session.scalar(select(Person).where(Person.key == address_key(email)))
    if person is not None and person.role == STUDENT and team_of(session, person) is not None:
        raise CourseError(f"{email} is a student of a team, and cannot have rights too.")
    if person is None:
        person = Person(key=address_key(email), email=email, name=name, role=role, created_at=time.time())
        session.add(person)
        session.flush()
    secret = secrets.token_urlsafe(32)
    person.name, person.role, person.removed_at, person.token_hash = name, role, None, secret_hash(secret)
    vouch(session, person)
    end_sessions(session, person)
    return f"p{person.id}.{secret}"


def remove_staff(session: Session, email: str) -> Person:
    """Take away somebody's rights; token and sessions end.  CourseError if nobody with rights has this address."""
    person = session.scalar(select(Person).where(Person.key == address_key(email), Person.role != STUDENT))
    if person is None or person.removed_at is not None:
        raise CourseError(f"Nobody with rights has the address {email!r}; `pttt course staff` lists them.")
    person.token_hash, person.removed_at = None, time.time()
    end_sessions(session, person)
    return person


def staff(session: Session) -> list[Person]:
    """All people with rights, by name."""
    query = select(Person).where(Person.role != STUDENT, Person.removed_at.is_(None))
    return sorted(session.scalars(query), key=lambda one: (one.name, one.id))


def authenticate_staff(session: Session, token: str) -> Person | None:
    """The person with rights that has this token."""
    number, _, secret = token.partition(".")
    person = session.get(Person, int(number[1:])) if re.fullmatch(r"p[0-9]{1,9}", number) else None
    expected = person.token_hash if person and person.token_hash else secret_hash(secrets.token_hex(8))
    return person if hmac.compare_digest(secret_hash(secret), expected) else None


def end_sessions(session: Session, person: Person) -> None:
    """End all sessions of a person."""
    session.execute(delete(BrowserSession).where(BrowserSession.person_id == person.id))
