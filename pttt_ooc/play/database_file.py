"""A file that keeps what people play, looked at before all else starts; that imports no database library."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from pttt_ooc.disk.files import explained, make_directory
from pttt_ooc.errors import StoreError

_WAIT = 30.0  # seconds that another writer is waited for


def kept_file(file: Path, what: str) -> Path:
    """The file, made with its directory if it is missing; only its owner can read it.

    Parameters
    ----------
    what
        It keeps, as a sentence about it begins: "Games".

    Raises
    ------
    StoreError
        If it cannot be made, or is no database that can be written to.
    """
    with explained(f"make the directory {file.parent}"):
        make_directory(file.parent)
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
            f"{what} cannot be kept in {file}: {reason}; move it away, or give this user the right to write there."
        ) from error
    return file
