"""SQLite databases with a write-ahead log, in which writers wait for each other; errors are sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, Table, create_engine, event, inspect, text
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session
from sqlalchemy.schema import CreateColumn

from pttt_ooc.errors import StoreError

_LOCK_SECONDS = 30  # seconds that a writer waits for another one


def sqlite_engine(url: str) -> Engine:
    """An engine for an SQLite database.

    Commits survive a power cut.  The execution option ``writes`` makes a transaction begin as a writer.
    """
    engine = create_engine(url, connect_args={"timeout": _LOCK_SECONDS})

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # transactions are begun below, not by the driver
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        # A reader that turns into a writer fails if another one has written meanwhile.
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


class PlayDatabase:
    """An SQLite database with its tables.

    Parameters
    ----------
    file
        See :func:`~pttt_ooc.site.play.database_file.kept_file`.
    what
        What it keeps, for messages: "games".
    tables
        Created if they are missing; columns that an older database lacks are added, with their server's default.

    Raises
    ------
    StoreError
        If it cannot be used; all methods raise it too.
    """

    def __init__(self, file: Path, what: str, tables: Iterable[Table]) -> None:
        self._file, self._what = file, what
        self._engine = sqlite_engine(f"sqlite:///{file.resolve()}")
        self.add_tables(tables)

    def add_tables(self, tables: Iterable[Table]) -> None:
        """Create tables that are missing, and add the columns that they lack."""
        with self.writing() as session:
            for table in tables:
                table.create(session.connection(), checkfirst=True)
                there = {column["name"] for column in inspect(session.connection()).get_columns(table.name)}
                for column in table.columns:
                    if column.name not in there:
                        described = CreateColumn(column).compile(dialect=session.connection().dialect)
                        session.execute(text(f"ALTER TABLE {table.name} ADD COLUMN {described}"))

    def close(self) -> None:
        """Close the database."""
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session that only reads."""
        with self._explain_errors(), Session(self._engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A session that writes, and commits if the block ends without an error."""
        writing = self._engine.execution_options(writes=True)
        with self._explain_errors(), Session(writing, expire_on_commit=False) as session, session.begin():
            yield session

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except DatabaseError as error:
            reason = str(error.orig).strip().splitlines()[0]
            raise StoreError(f"The {self._what} in {self._file} cannot be used: {reason}.") from error
