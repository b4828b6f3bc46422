"""SQLite as the web application's parts use it: a write-ahead log, and writers that wait for each other."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, create_engine, event

_WAIT = 30  # seconds that SQLite waits for another writer


def sqlite_engine(url: str) -> Engine:
    """An engine for an SQLite database.

    What was committed survives a power cut.  With the execution option ``writes`` a transaction begins as a writer's.
    """
    engine = create_engine(url, connect_args={"timeout": _WAIT})

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # transactions are begun below, not by the driver
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        # A reader that turns writer fails if another has written meanwhile: writers say so at once, and wait.
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
