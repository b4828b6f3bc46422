"""The file that keeps matches; no database library is imported to look at it."""

from __future__ import annotations

from pathlib import Path

from pttt_ooc.play.database_file import kept_file

MATCHES = "matches.sqlite"
"""The database's name in a directory."""


def matches_file(directory: Path) -> Path:
    """The file in `directory` that keeps matches; errors as of :func:`pttt_ooc.play.database_file.kept_file`."""
    return kept_file(directory / MATCHES, "Matches")
