"""The command that opens a course's league: ``pttt extreme open``."""

from __future__ import annotations

from typing import Annotated

import typer

from pttt_ooc.extras import extra
from pttt_ooc.options import COURSE, DataOption, GameOption
from pttt_ooc.other_games.extreme.terminal.bot_options import (
    LibraryOption,
    PythonOption,
    TimeOption,
    checked_libraries,
    checked_version,
)
from pttt_ooc.other_games.extreme.terminal.commands import extreme


def add_commands(app: typer.Typer) -> None:
    """Add the command to the group ``pttt extreme``, which is on the command line already."""
    extreme.command("open", epilog="Example: pttt extreme open --data course --seed 2019")(open_league)


def open_league(
    data: DataOption = COURSE,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw of the pools; publish it.")] = 0,
    time_limit: TimeOption = 24,
    python: PythonOption = "guess",
    library: LibraryOption = None,
    league: Annotated[
        str | None, typer.Option(metavar="NAME", help="A further league, beside the course's own; for assignments.")
    ] = None,
    game: GameOption = None,
) -> None:
    """Let the teams of a course hand in bots; a course that is being served takes them within seconds.

    Writes extreme.yaml into the course's directory, which says all that can be chosen: pools, marks, limits, and when
    the tournament begins.  Where there is no course yet, it is made, for --game.
    """
    with extra("course", "`pttt extreme open`"):
        from pttt_ooc.course.bots.league import LeagueSettings, further_directory
        from pttt_ooc.course.bots.league import open_league as make_league
        from pttt_ooc.course.data.settings import make_settings
        from pttt_ooc.disk.permissions import private
    terms = {"python": checked_version(python), "libraries": checked_libraries(library)}
    with private():
        make_settings(data, game)
        print(
            make_league(
                further_directory(data, league),
                LeagueSettings.model_validate({"seed": seed, "time_limit": time_limit, **terms}),
            )
        )
