"""The host as pages of the local server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pttt_ooc.site.play.database_file import kept_file
from pttt_ooc.site.service.wing import Pages


def host_file(directory: Path) -> Path:
    """The file of matches; for errors see :func:`pttt_ooc.site.play.database_file.kept_file`."""
    return kept_file(directory / "host.sqlite", "Matches")


def pages(games: Sequence[Pages], directory: Path, seconds: float) -> Pages:
    """The host of some games.

    Parameters
    ----------
    games
        The pages Explore and Play of each game, from :func:`pttt_ooc.site.explore.local_sources.local_pages`: their
        strategies are the opponents.  The pages themselves are not served: they show values and beliefs.
    directory
        Where matches are kept.
    seconds
        An agent's time for a match.

    Raises
    ------
    StoreError
        If the database cannot be used.
    """
    host_file(directory)
    strategies = [json.dumps(one.parts[1:3]) for one in games]
    first, *others = (one.answerer for one in games)
    return Pages(
        name="host",
        what=f"The host of {', '.join(one.what for one in games)}",
        title="Agents play",
        parts=("pttt_ooc.site.host.part:host_parts", *strategies, str(directory), str(seconds)),
        answerer=first,
        answerers=[one for one in others if one is not None],
        page="/host",
    )
