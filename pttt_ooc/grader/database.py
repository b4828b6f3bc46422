"""Sessions of the database: SQLite with a write-ahead log, or whatever the settings name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from pttt_ooc.errors import GraderError
from pttt_ooc.grader.models import Base, Fact

FORMAT = 1
_WAIT = 30  # seconds that SQLite waits for another writer


class Database:
    """The grader's tables.

    Parameters
    ----------
    url
        An SQLAlchemy URL.
    game
        The tables are made if they are missing, and are bound to this game.

    Raises
    ------
    GraderError
        If it cannot be opened, or is of another game or version.
    """

    def __init__(self, url: str, game: str) -> None:
        self.engine = _engine(url)
        self._writing = self.engine.execution_options(writes=True)
        try:
            # Under the lock of a write: web server and worker may start at the same time.
            with self.writing() as session:
                Base.metadata.create_all(session.connection())
                known = session.get(Fact, "game")
                if known is None:
                    session.add_all([Fact(name="game", value=game), Fact(name="format", value=FORMAT)])
                    known = Fact(value=game)
                form = session.get(Fact, "format")
        except SQLAlchemyError as error:
            what = str(getattr(error, "orig", error)).strip().splitlines()[0]
            raise GraderError(f"The database {self.engine.url!r} cannot be used: {what}.") from error
        if known.value != game:
            raise GraderError(f"The database {self.engine.url!r} is for {known.value}, not for {game}.")
        if form is not None and form.value != FORMAT:
            raise GraderError(
                f"The database {self.engine.url!r} has format {form.value}, but this version reads {FORMAT}."
            )

    @classmethod
    def of(cls, data: Path, url: str | None, game: str) -> Database:
        """The database that the settings name."""
        return cls(url or f"sqlite:///{data.resolve() / 'grader.sqlite'}", game)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session to read in; what it returns stays usable afterwards."""
        with Session(self.engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A session that is committed when the block succeeds, and rolled back when it raises."""
        with Session(self._writing, expire_on_commit=False) as session, session.begin():
            yield session

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def _engine(url: str) -> Engine:
    if not url.startswith("sqlite"):
        return create_engine(url, pool_pre_ping=True)
    engine = create_engine(url, connect_args={"timeout": _WAIT})

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # transactions are begun below, not by the driver
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # an upload that was confirmed survives a power cut
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        # A reader that turns writer fails if another has written meanwhile: writers say so at once, and wait.
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
