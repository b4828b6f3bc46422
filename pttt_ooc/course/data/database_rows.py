"""All rows of a course's database as JSON values: for copies, and for upgrades of an older format.

A row is a pair of its table's name and its columns.  Sessions are left out.  The row ``numbers`` has the highest
numbers ever used; their rows may have been deleted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import func, inspect, select, text
from sqlalchemy.orm import Session

from pttt_ooc.course.data import term_tables as tables
from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.models import BASELINE, BrowserSession, CourseTables, Submission
from pttt_ooc.course.data.names import name_key
from pttt_ooc.errors import CourseError

FORMAT, RELEASED = 7, 1
"""This version's format, and the one of version 0.1."""

_READ = (RELEASED, 3, 4, 5, 6, FORMAT)
# 3: before there were assignments, people and grades; 4: before rulings and agents; 5: only strategies judged again;
# 6: teams that everybody had left kept their tokens

NUMBERS = "numbers"
TableRow = tuple[str, dict[str, Any]]
_NUMBERED = ("teams", "submissions", "agents", *(t.__tablename__ for t in tables.NUMBERED))

FILED = (Submission, tables.Report, Agent)
"""The tables whose rows have a file in the directory of uploads."""


def read_rows(session: Session) -> list[TableRow]:
    """All rows, in an order in which they can be inserted."""
    connection = session.connection()
    there = inspect(connection)
    rows: list[TableRow] = []
    for table in CourseTables.metadata.sorted_tables:
        if table.name == BrowserSession.__tablename__ or not there.has_table(table.name):
            continue
        columns = {column["name"] for column in there.get_columns(table.name)}  # an older format has fewer
        found = session.execute(select(*(column for column in table.columns if column.name in columns)))
        rows += [(table.name, dict(row)) for row in found.mappings()]
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
    """Raise a CourseError that names `source` if its format cannot be read."""
    if form not in _READ:
        known = ", ".join(map(str, _READ))
        raise CourseError(f"{source} has format {form}, but this version reads {known}.")


def upgrade_rows(rows: list[TableRow], form: int) -> list[TableRow]:
    """Rows of format `form` as rows of :data:`FORMAT`."""
    if form == FORMAT:
        return rows
    # Nothing of format 1 is open to play: the column's default says so.  What came later is still empty.
    keyed = _without_tokens(_with_keys(rows) if form == RELEASED else rows)
    return [(table, {**row, "value": FORMAT} if _is_format(table, row) else row) for table, row in keyed]


def _is_format(table: str, row: dict[str, Any]) -> bool:
    return table == "facts" and row["name"] == "format"


def _with_keys(rows: list[TableRow]) -> list[TableRow]:
    """Rows of format 1 with keys.  Two of its names may be the same now; both teams stay."""
    taken: set[str] = set()
    keys: dict[int, str] = {}
    teams = [row for table, row in rows if table == "teams"]
    for team in sorted(teams, key=lambda row: (row["name"] != BASELINE, row["id"])):
        key = name_key(team["name"])
        # No name has a line break: such a team is found by its exact name only.
        keys[team["id"]] = f"{key}\n{team['id']}" if key in taken else key
        taken.add(key)
    made: list[TableRow] = []
    for table, row in rows:
        if table == "teams":
            row = {**row, "key": keys[row["id"]]}
        made.append((table, row))
    return made


def _without_tokens(rows: list[TableRow]) -> list[TableRow]:
    """Rows in which no team has a token that everybody has left."""
    stays = [row for table, row in rows if table == "memberships"]
    left = {row["team_id"] for row in stays} - {row["team_id"] for row in stays if row["left_at"] is None}
    return [
        (table, {**row, "token_hash": None} if table == "teams" and row["id"] in left else row) for table, row in rows
    ]


# ---------------------------------------------------------------------------------------------
# Highest numbers: each kind of database stores them in its own way


def _highest(session: Session) -> dict[str, int]:
    """The highest number that each table has used, as far as the database knows."""
    return dict.fromkeys(_NUMBERED, 0) | _used(session)


def _used(session: Session) -> dict[str, int]:
    dialect = session.connection().dialect.name
    if dialect == "postgresql":
        query = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {}"
        there = filter(inspect(session.connection()).has_table, _NUMBERED)  # an older format has fewer tables
        return {name: int(session.scalar(text(query.format(_sequence(session, name)))) or 0) for name in there}
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
