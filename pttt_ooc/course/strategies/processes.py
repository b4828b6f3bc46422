"""The answerer of the pages Explore and Play of a course."""

from __future__ import annotations

from pathlib import Path

from pttt_ooc.site.explore.wing import WING, answerer, games_file
from pttt_ooc.site.service.wing import Pages


def pages(data: Path, game: str) -> Pages:
    """The pages on strategies in a course's directory.

    Raises
    ------
    StoreError
        If the database of games cannot be used.
    """
    games_file(data)
    return Pages(
        name=WING.name,
        what=game,
        parts=("pttt_ooc.course.server.strategy_parts:parts_at",),
        answerer=answerer(data / "profiles", game, data / "index"),
    )
