"""The list of all wings, and their pages beside others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pttt_ooc.other_games.arena import wing as arena
from pttt_ooc.other_games.extreme import wing as extreme
from pttt_ooc.other_games.smbc import wing as smbc
from pttt_ooc.site.service.wing import Pages, Wing

SWEEP = Wing("sweep", section="pttt_ooc.pipeline.sweeps.pipeline:SweepConfig")
FRONTIER = Wing(
    "frontier",
    section="pttt_ooc.pipeline.frontier.settings:FrontierConfig",
    stages="pttt_ooc.pipeline.frontier.pipeline:STAGES",
)
LEARNERS = Wing(
    "learners",
    section="pttt_ooc.learners.catalogue:LearnersConfig",
    stages="pttt_ooc.learners.runs:STAGES",
)
WINGS: tuple[Wing, ...] = (SWEEP, FRONTIER, smbc.WING, LEARNERS, arena.WING, extreme.WING)
"""All wings, in the order of their sections in the configuration."""

OTHER_GAMES = "Other games"
"""The heading of the options for pages on other games."""

MatchOption = Annotated[
    str | None,
    typer.Option(
        "--smbc",
        metavar="DIR",
        help="Explore and play a solved match of tic-tac-toe with secret goals; none: no such pages.  "
        "[default: beside strategies data/smbc, if it is there]",
        rich_help_panel=OTHER_GAMES,
    ),
]
ArenaOption = Annotated[
    Path | None,
    typer.Option(
        "--arena",
        metavar="DIR",
        help="Play against the arena's agents, and look at the matches in DIR.  [default: none]",
        rich_help_panel=OTHER_GAMES,
    ),
]
TournamentOption = Annotated[
    Path | None,
    typer.Option(
        "--tournament",
        metavar="DIR",
        help="Look at a tournament of Extreme TicTacToe.  [default: none]",
        rich_help_panel=OTHER_GAMES,
    ),
]


def pages_beside(
    match: Path | None, matches: Path | None, games_directory: Path | None = None, tournament: Path | None = None
) -> list[Pages]:
    """The pages of wings beside others; each wing checks its files before any process starts.

    Parameters
    ----------
    match
        The directory of a solved match with secret goals; None: no pages on one.
    matches
        The directory of the arena's matches; None: no pages on them.
    games_directory
        The directory of people's games; None: the directories of the wings.
    tournament
        The directory of a tournament; None: no pages on one.

    Raises
    ------
    PtttError
        If something cannot be opened or kept.
    """
    wanted = {smbc.WING.name: match, arena.WING.name: matches, extreme.WING.name: tournament}
    return [
        wing.pages(directory, games_directory)
        for wing in WINGS
        if wing.pages is not None and (directory := wanted.get(wing.name)) is not None
    ]
