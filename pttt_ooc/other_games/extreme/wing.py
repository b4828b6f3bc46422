"""The Extreme TicTacToe tournament, as a wing."""

from __future__ import annotations

from pathlib import Path

from pttt_ooc.site.service.wing import Pages, Wing

ANALYST = "pttt_ooc.other_games.extreme.analyst"
"""The process in which our strong bot evaluates a tournament's positions; it keeps the values in ``curves/``."""


def pages(directory: Path, kept: Path | None = None) -> Pages:
    """The pages of a tournament, which may be played meanwhile; the pages change nothing.

    Raises
    ------
    PtttError
        If there is no tournament.
    """
    from pttt_ooc.other_games.extreme.tournament_record import Record

    Record(directory)
    return Pages(
        name=WING.name,
        what="The tournament",
        title="Extreme TicTacToe",
        parts=("pttt_ooc.other_games.extreme.pages.exports:parts", str(directory)),
        workers=[("analyst", ANALYST, str(directory))],
        page="/extreme/standings",
    )


WING = Wing(
    "extreme",
    "pttt_ooc.other_games.extreme.terminal.commands",
    "pttt_ooc.other_games.extreme.settings:ExtremeConfig",
    pages,
)
