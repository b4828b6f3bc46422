"""The file that keeps games; no database library is imported to look at it."""

from __future__ import annotations

from pathlib import Path

from pttt_ooc.play.database_file import kept_file

GAMES = "play.sqlite"
"""The database's name in a data directory."""


def games_file(directory: Path) -> Path:
    """The file in `directory` that keeps games; errors as of :func:`pttt_ooc.play.database_file.kept_file`."""
    return kept_file(directory / GAMES, "Games")
