"""Commands that serve pages: `pttt serve` (the course's grader) and `pttt explore`.

Here the grader and the wings with pages meet.  What they need is imported when they run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pttt_ooc.cli.wings import ArenaOption, SecretGoalsOption, beside, found_match
from pttt_ooc.extras import extra
from pttt_ooc.options import (
    DATA,
    GRADER,
    KINDS,
    BrowserOption,
    CourseGameOption,
    DataOption,
    HostOption,
    PortOption,
    ToldGameOption,
    check_game,
)
from pttt_ooc.service.processes import Web

if TYPE_CHECKING:
    from pttt_ooc.course.settings import CourseSettings


def add_commands(app: typer.Typer) -> None:
    """Give the commands to the command line."""
    app.command(epilog="Example: pttt explore data/pttt-abrupt/full mine.zip")(explore)
    app.command(epilog="Example: pttt serve --game mini-2x3k2-abrupt --data try --port 8080")(serve)


def explore(
    strategies: Annotated[list[str], typer.Argument(metavar="STRATEGY...", help=f"What to look at: {KINDS}.")],
    host: HostOption = "127.0.0.1",
    port: PortOption = 0,
    browser: BrowserOption = True,
    terminal: Annotated[bool, typer.Option("--terminal", help="Answer on the terminal; no pages are served.")] = False,
    profiles: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where prepared strategies are kept.  [default: beside the game's index]"),
    ] = None,
    secret_goals: SecretGoalsOption = None,
    arena: ArenaOption = None,
    game: ToldGameOption = None,
    data: DataOption = DATA,
) -> None:
    """Look inside strategies in a browser: any infoset, what happens there, and why.

    Strategies are prepared once, which takes seconds and, for the full game, up to a gigabyte on disk.
    """
    check_game(game)
    if terminal:
        from pttt_ooc.explore.terminal_explore import explore_named

        raise typer.Exit(explore_named(strategies, game, data))
    with extra("grader", "`pttt explore`"):
        from pttt_ooc.explore.local_server import explore as explored

    @contextmanager
    def make_web(results: Path) -> Iterator[Web]:
        match = found_match(secret_goals, results)
        with beside(match, None, arena) as wings:
            yield wings.web("explore")

    explored(strategies, game, data, profiles, host, port, "/explore" if browser else None, make_web)


def serve(
    game: CourseGameOption = None,
    data: DataOption = GRADER,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8080,
    secret_goals: SecretGoalsOption = None,
    arena: ArenaOption = None,
) -> None:
    """Start the course's grader: web server, worker, and what answers the pages Explore and Play.

    Everything is kept in one directory, which is made if it is missing. SIGTERM or Ctrl-C stops all.
    """
    with extra("grader", "`pttt serve`"):
        from pttt_ooc.course.serve import serve as served
        from pttt_ooc.explore.games_file import games_file
        from pttt_ooc.explore.local_server import answerer

    match = found_match(secret_goals, DATA)

    @contextmanager
    def make_web(directory: Path, settings: CourseSettings) -> Iterator[Web]:
        games_file(directory)
        with (
            answerer(directory / "profiles", settings.game, directory / "index") as (child, address),
            beside(match, directory, arena, directory) as wings,
        ):
            yield wings.web("grader", [address], [child])

    served(data, game, host, port, make_web)
