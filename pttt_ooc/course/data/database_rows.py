"""All rows of a course's database as JSON values, for copies.

A row is a pair of its table's name and its columns.  Sessions are left out.  The row ``numbers`` has the highest
numbers ever used; their rows may have been deleted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from pttt_ooc.course.data import term_tables as tables
from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.models import BrowserSession, CourseTables, Submission
from pttt_ooc.errors import CourseError

FORMAT = 7
"""The format of the tables; no other one is read."""

NUMBERS = "numbers"
OTHER_VERSION = "use it with the version that wrote it"
TableRow = tuple[str, dict[str, Any]]
_NUMBERED = ("teams", "submissions", "agents", *(t.__tablename__ for t in tables.NUMBERED))

FILED = (Submission, tables.Report, Agent)
"""The tables whose rows have a file in the directory of uploads."""


def read_rows(session: Session) -> list[TableRow]:
    """All rows, in an order in which they can be inserted."""
    rows: list[TableRow] = []
    for table in CourseTables.metadata.sorted_tables:
        if table.name != BrowserSession.__tablename__:
            rows += [(table.name, dict(row)) for row in session.execute(select(table)).mappings()]
    return [*rows, (NUMBERS, _highest(session))]


def write_rows(session: Session, rows: Iterable[TableRow]) -> None:
    """Insert rows into empty tables.

    Raises
    ------
    KeyError
        If there is no such table.
    """
    highest = dict.fromkeys(_NUMBERED, 0)
    for name, row in rows:
        if name == NUMBERS:
            highest = {table: max(number, int(row.get(table, 0))) for table, number in highest.items()}
        else:
            session.execute(CourseTables.metadata.tables[name].insert().values(**row))
    for name, number in highest.items():
        most = session.scalar(select(func.max(CourseTables.metadata.tables[name].c.id))) or 0
        _set_highest(session, name, max(number, most))


def check_format(form: Any, source: str) -> None:
    """Raise a CourseError that names `source` if its tables are of another format than :data:`FORMAT`."""
    if form != FORMAT:
        raise CourseError(f"{source} has format {form}, and this version reads {FORMAT} only; {OTHER_VERSION}.")


# ---------------------------------------------------------------------------------------------
# Highest numbers: each kind of database stores them in its own way


def _highest(session: Session) -> dict[str, int]:
    """The highest number that each table has used, as far as the database knows."""
    return dict.fromkeys(_NUMBERED, 0) | _used(session)


def _used(session: Session) -> dict[str, int]:
    dialect = session.connection().dialect.name
    if dialect == "postgresql":
        query = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {}"
        return {name: int(session.scalar(text(query.format(_sequence(session, name)))) or 0) for name in _NUMBERED}
    if dialect == "sqlite" and session.scalar(text("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'")):
        found = session.execute(text("SELECT name, seq FROM sqlite_sequence"))
        return {name: int(number) for name, number in found if name in _NUMBERED}
    return {}


def _set_highest(session: Session, table: str, number: int) -> None:
    dialect = session.connection().dialect.name
    values = {"name": table, "number": number}
    if dialect == "sqlite":
        session.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), values)
        session.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :number)"), values)
    elif dialect == "postgresql" and number:
        session.execute(text("SELECT setval(:name, :number)"), {**values, "name": _sequence(session, table)})


def _sequence(session: Session, table: str) -> str:
    return str(session.scalar(text("SELECT pg_get_serial_sequence(:name, 'id')"), {"name": table}))
