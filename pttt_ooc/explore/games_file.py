"""The file that keeps games, looked at before anything else starts; no database library is imported for that."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from pttt_ooc.disk.files import explained, make_directory
from pttt_ooc.errors import StoreError

GAMES = "play.sqlite"
"""The database's name in a data directory."""

_WAIT = 30.0  # seconds that another writer is waited for


def games_file(directory: Path) -> Path:
    """The file in `directory` that keeps games, made if it is missing; only its owner can read it.

    Raises
    ------
    StoreError
        If it cannot be made, or is no database that can be written to.
    """
    with explained(f"make the directory {directory}"):
        make_directory(directory)
    file = directory / GAMES
    try:
        # SQLite gives its other files the rights of this one.
        os.close(os.open(file, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        os.chmod(file, 0o600)
        with closing(sqlite3.connect(file, timeout=_WAIT, isolation_level=None)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("BEGIN IMMEDIATE")
            database.execute("SELECT count(*) FROM sqlite_master").fetchone()
            database.execute("ROLLBACK")
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise StoreError(
            f"Games cannot be kept in {file}: {reason}; move it away, or give this user the right to write there."
        ) from error
    return file
