"""Engines for SQLite, with a write-ahead log, in which writers wait for each other."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, create_engine, event

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
