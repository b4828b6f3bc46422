"""Tic-tac-toe with secret goals, as a wing."""

from __future__ import annotations

import sys
from pathlib import Path

from pttt_ooc.errors import StoreError
from pttt_ooc.site.service.wing import Pages, Wing

SOLVED = "smbc"
"""The folder in which the workflow leaves its match, beside the games."""

MATCHES = "matches.sqlite"
"""The database of people's matches."""

_NONE = "none"


def matches_file(directory: Path) -> Path:
    """The file in `directory` that keeps matches; for errors see :func:`pttt_ooc.site.play.database_file.kept_file`."""
    from pttt_ooc.site.play.database_file import kept_file

    return kept_file(directory / MATCHES, "Matches")


def pages(directory: Path, games_directory: Path | None = None) -> Pages:
    """The pages on a solved match; people's matches are kept in the same directory, or in `games_directory`.

    Raises
    ------
    StoreError
        If there is no solution, or matches cannot be kept.
    """
    from pttt_ooc.other_games.smbc.solve import checked_manifest

    points = checked_manifest(directory)["settings"]["winning_score"]
    matches = matches_file(games_directory or directory)
    return Pages(
        name=WING.name,
        what=f"The match to {points}",
        title="Tic-tac-toe with secret goals",
        parts=("pttt_ooc.other_games.smbc.pages.part:parts", str(matches.parent)),
        answerer=("pttt_ooc.other_games.smbc.pages.answerer:answerer", str(directory)),
        page="/smbc/play",
    )


def found_match(named: str | None, results: Path) -> Path | None:
    """The directory of the match to show beside other pages, if any.

    Parameters
    ----------
    named
        A directory, or "none"; None: the match of the workflow, if it is solved.
    results
        Where the workflow's results are.

    Raises
    ------
    StoreError
        If the named match is missing or damaged.
    """
    directory = results / SOLVED if named is None else Path(named)
    if named == _NONE or (named is None and not directory.is_dir()):
        return None
    from pttt_ooc.other_games.smbc.solve import MANIFEST, checked_manifest

    if named is None and not (directory / MANIFEST).exists():  # it is not solved to its end
        return None
    try:
        checked_manifest(directory)
    except StoreError as error:
        if named is not None:
            raise
        print(f"{error} Until then there are no pages on secret goals.", file=sys.stderr)
        return None
    return directory


WING = Wing(
    "smbc",
    "pttt_ooc.other_games.smbc.terminal.commands",
    "pttt_ooc.other_games.smbc.settings:SmbcConfig",
    pages,
    "pttt_ooc.other_games.smbc.pipeline:STAGES",
)
