"""The file of a database, checked before any process starts; imports no database library."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from pttt_ooc.disk.files import explain_errors, make_directory
from pttt_ooc.errors import StoreError

_LOCK_SECONDS = 30.0  # seconds that a writer waits for another one


def kept_file(file: Path, what: str) -> Path:
    """The file, which is created with its directory if it is missing; only its owner can read it.

    Parameters
    ----------
    what
        What it keeps, for messages: "Games".

    Raises
    ------
    StoreError
        If it cannot be created, or is not a writable database.
    """
    with explain_errors(f"make the directory {file.parent}"):
        make_directory(file.parent)
    try:
        # SQLite creates its other files with the same rights.
        os.close(os.open(file, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        os.chmod(file, 0o600)
        with closing(sqlite3.connect(file, timeout=_LOCK_SECONDS, isolation_level=None)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("BEGIN IMMEDIATE")
            database.execute("SELECT count(*) FROM sqlite_master").fetchone()
            database.execute("ROLLBACK")
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise StoreError(
            f"{what} cannot be kept in {file}: {reason}; move it away, or give this user the right to write there."
        ) from error
    return file
