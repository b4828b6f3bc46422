"""Sessions of the database: SQLite with a write-ahead log, or whatever the settings name; all its rows, for copies."""

from __future__ import annotations

import glob
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, func, inspect, select, text
from sqlalchemy.exc import DatabaseError, DataError, IntegrityError, ProgrammingError, SQLAlchemyError
from sqlalchemy.orm import Session

from pttt_ooc.course.data import term_tables as tables
from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.models import BrowserSession, CourseTables, Fact, Submission
from pttt_ooc.course.data.settings import OTHER_VERSION
from pttt_ooc.errors import CourseError
from pttt_ooc.site.service.sqlite import sqlite_engine

DEFAULT = "course.sqlite"
"""Name of the database in the course's directory, unless the settings name another one."""

_ROOM = 100_000  # bytes that SQLite needs beside the database
_PREPARING = 0x70747474  # PostgreSQL's number of the lock under which tables are made: "pttt"
_OURS = (IntegrityError, ProgrammingError, DataError)  # errors of a statement, not of the database
_FULL = ("disk is full", "no space left", "quota")  # SQLite, PostgreSQL


class Database:
    """The course's tables.

    Parameters
    ----------
    url
        An SQLAlchemy URL.
    game
        The game for which missing tables are made.
    prepared
        Whether another process has made the tables; then they are not checked.

    Raises
    ------
    CourseError
        If it cannot be opened, or is of another game or another format.
    """

    def __init__(self, url: str, game: str, prepared: bool = False) -> None:
        self.engine = _engine(url)
        self._writing = self.engine.execution_options(writes=True)
        self._url = repr(self.engine.url)  # without its password
        if prepared:
            return
        try:
            # One process at a time: web server and worker may start at the same moment.
            with self.writing() as session:
                if self.engine.dialect.name == "postgresql":  # SQLite's writers exclude each other anyway
                    session.execute(select(func.pg_advisory_xact_lock(_PREPARING)))
                self._prepare(session, game)
        except SQLAlchemyError as error:
            self.close()
            raise self._explain(error) from error
        except CourseError:
            self.close()  # so that SQLite leaves no files beside a database of another format
            raise

    def _prepare(self, session: Session, game: str) -> None:
        known: dict[str, Any] = {}
        if inspect(session.connection()).has_table(Fact.__tablename__):
            known = {fact.name: fact.value for fact in session.scalars(select(Fact))}
        if "game" not in known:
            CourseTables.metadata.create_all(session.connection())
            session.add_all([Fact(name="game", value=game), Fact(name="format", value=FORMAT)])
            return
        if known["game"] != game:
            raise CourseError(f"The database {self._url} is for {known['game']}, not for {game}.")
        check_format(known.get("format"), f"The database {self._url}")

    @classmethod
    def of(cls, data: Path, url: str | None, game: str, prepared: bool = False) -> Database:
        """The database that the settings name."""
        return cls(url or f"sqlite:///{data.resolve() / DEFAULT}", game, prepared)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session for reading; its results stay usable afterwards.  Raises what :meth:`writing` raises."""
        with self._explaining(), Session(self.engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A session that is committed when the block succeeds, and rolled back when it raises.

        Raises
        ------
        CourseError
            If the database cannot be reached, or is locked or damaged, or has no room.
        """
        with self._explaining(), Session(self._writing, expire_on_commit=False) as session, session.begin():
            yield session

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except _OURS:
            raise
        except DatabaseError as error:  # SQLite reports damage by this class, PostgreSQL by a subclass
            raise self._explain(error) from error

    def _explain(self, error: SQLAlchemyError) -> CourseError:
        what = str(getattr(error, "orig", error)).strip().splitlines()[0]
        if any(words in what.lower() for words in _FULL) or self._has_no_room():
            return CourseError(f"The database {self._url} has no room to write: {what}; free some space on its disk.")
        return CourseError(f"The database {self._url} cannot be used: {what}.")

    def _has_no_room(self) -> bool:
        """Whether SQLite's disk is full, which it also reports as "disk I/O error" or "unable to open"."""
        return any(shutil.disk_usage(file).free < _ROOM for file in self.files()[:1])

    def files(self) -> list[Path]:
        """Its files, if it is an SQLite database."""
        if self.engine.dialect.name != "sqlite" or not self.engine.url.database:
            return []
        file = Path(self.engine.url.database)
        return list(file.parent.glob(f"{glob.escape(file.name)}*"))

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def _engine(url: str) -> Engine:
    return sqlite_engine(url) if url.startswith("sqlite") else create_engine(url, pool_pre_ping=True)


# ---------------------------------------------------------------------------------------------
# All rows as JSON values, for copies


FORMAT = 7
"""The format of the tables; no other format is read."""

NUMBERS = "numbers"
TableRow = tuple[str, dict[str, Any]]
_NUMBERED = [t.name for t in CourseTables.metadata.sorted_tables if t.dialect_options["sqlite"]["autoincrement"]]

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
