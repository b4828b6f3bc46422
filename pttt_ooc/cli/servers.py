"""Commands with pages, which compose wings: `pttt web`, `pttt explore`, `pttt play`, and `pttt serve` (the course)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pttt_ooc.cli.wings import ArenaOption, SecretGoalsOption, pages_beside
from pttt_ooc.course.server.commands import course
from pttt_ooc.errors import ConfigError, StrategyFileError
from pttt_ooc.extras import extra
from pttt_ooc.options import (
    COURSE,
    DATA,
    KINDS,
    BrowserOption,
    CourseGameOption,
    DataOption,
    HostOption,
    JsonOption,
    PortOption,
    ToldGameOption,
    check_game,
)
from pttt_ooc.other_games.smbc.wing import found_match


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command(epilog="Example: pttt web --game pttt-2x4k3-abrupt")(web)
    app.command(epilog="Example: pttt explore data/pttt-abrupt/full mine.zip")(explore)
    app.command(epilog="Example: pttt serve --game mini-2x3k2-abrupt --data try --port 8080")(serve)
    app.command(epilog="Example: pttt play data/pttt-abrupt/full --player 1")(play)
    course.command("serve", epilog="Example: pttt course serve --data course", hidden=True)(serve)


def web(
    game: Annotated[
        str | None,
        typer.Option("--game", metavar="NAME", help="The solved game that comes first.  [default: pttt-abrupt]"),
    ] = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 0,
    browser: BrowserOption = True,
    data: DataOption = DATA,
) -> None:
    """Everything that has been computed on this machine, as one site: play, explore, watch.

    Its home lists all solutions with their exact gaps, matches and tournaments. It computes nothing by itself.
    """
    serve_site(data, game, host, port, "/" if browser else None)


def serve_site(data: Path, game: str | None, host: str, port: int, page: str | None, home: str = "") -> None:
    """Serve everything in a directory; for `page` and `home` see :func:`pttt_ooc.site.service.local_server.serve`."""
    check_game(game)
    with extra("course", "`pttt web`"):
        from pttt_ooc.cli.site import site_pages
        from pttt_ooc.site.service.local_server import serve as served

    served(site_pages(data, game), host, port, page, home)


def explore(
    strategies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[STRATEGY...]", help=f"What to look at: {KINDS}.  [default: as `pttt web`, all solutions in DIR]"
        ),
    ] = None,
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
    served_beside = profiles is not None or secret_goals is not None or arena is not None
    # Without strategies, all of the directory is served, and the address is that of the explorer.
    if not strategies:
        if terminal or served_beside:
            raise StrategyFileError(
                "Name a strategy; without one, all of DIR is served, and these options have no use."
            )
        solved_in(data, game)
        serve_site(data, game, host, port, "/explore" if browser else None, "/explore")
        return
    if terminal:
        if served_beside:
            raise ConfigError("The options --profiles, --secret-goals and --arena are for pages; leave out --terminal.")
        from pttt_ooc.site.explore.terminal_explore import explore_named

        raise typer.Exit(explore_named(strategies, game, data))
    # With them, their pages come first, and those of a match or an arena stand beside them.
    with extra("course", "`pttt explore`"):
        from pttt_ooc.site.explore.local_sources import local_pages
        from pttt_ooc.site.service.local_server import serve as served

    strategy_pages, structures = local_pages(strategies, game, data, profiles)
    beside = pages_beside(found_match(secret_goals, structures), arena)
    served([strategy_pages, *beside], host, port, "/explore" if browser else None)


def solved_in(data: Path, game: str | None) -> None:
    """Raise a StrategyFileError if there is no solution in a directory."""
    from pttt_ooc.cli.home_cards import found_solutions
    from pttt_ooc.cli.site import games_of

    if not games_of(found_solutions(data)[0], game, data):
        raise StrategyFileError(f"There is no solution in {data}; name a strategy, such as uniform, or run make solve.")


def serve(
    game: CourseGameOption = None,
    data: DataOption = COURSE,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8080,
    secret_goals: SecretGoalsOption = None,
    arena: ArenaOption = None,
    log: Annotated[
        Path | None,
        typer.Option(
            "--log",
            metavar="FILE",
            help="Write the log into FILE; it is renamed to FILE.1 when it is full, and so on to FILE.9.  "
            "[default: to stderr]",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Start the course: web server, worker, and the answerers of pages.

    Everything is kept in one directory, which is created if it is missing. SIGTERM or Ctrl-C stops all.
    """
    with extra("course", "`pttt serve`"):
        from pttt_ooc.course.server.serve import serve as served
        from pttt_ooc.site.service.logs import logged_to

    # Only a match that is named: a course beside the workflow's results shows students no solution unasked.
    match = None if secret_goals is None else found_match(secret_goals, DATA)
    with logged_to(log):
        served(data, game, host, port, lambda directory: pages_beside(match, arena, directory), as_json)


def play(
    opponent: Annotated[
        str | None,
        typer.Argument(
            metavar="[OPPONENT]", help=f"A strategy: {KINDS}.  [default: as `pttt web`, the solutions in DIR]"
        ),
    ] = None,
    player: Annotated[
        int | None,
        typer.Option("--player", min=0, max=1, help="Whom you play.  [default: 0, if the opponent lets you]"),
    ] = None,
    best_response: Annotated[
        bool,
        typer.Option("--best-response", help="Play against the best response to OPPONENT; for --terminal."),
    ] = False,
    terminal: Annotated[bool, typer.Option("--terminal", help="Play on the terminal; no pages are served.")] = False,
    keypad: Annotated[
        bool, typer.Option("--keypad", help="Keys lie as on a keypad, 7 is the top left square; for --terminal.")
    ] = False,
    host: HostOption = "127.0.0.1",
    port: PortOption = 0,
    browser: BrowserOption = True,
    game: ToldGameOption = None,
    data: DataOption = DATA,
) -> None:
    """Play against a strategy, in a browser or on the terminal.

    At the end both boards are shown, what each of your attempts lost, and what could be believed before it.
    """
    check_game(game)
    # On the terminal, with the opponent in this process.
    if terminal:
        name = opponent or _solution(data, game)
        raise typer.Exit(_play_here(name, player, best_response, keypad, game, data))
    if player is not None or best_response or keypad:
        raise ConfigError(
            "In the browser you choose there whom and against whom you play; --player, --best-response and --keypad "
            "are for --terminal."
        )
    # Without an opponent, all of the directory is served, and the address is that of the games.
    if opponent is None:
        solved_in(data, game)
        serve_site(data, game, host, port, "/play" if browser else None, "/play")
        return
    # With one, only the pages of this opponent.
    with extra("course", "`pttt play`"):
        from pttt_ooc.site.explore.local_sources import local_pages
        from pttt_ooc.site.service.local_server import serve as served

    pages, _ = local_pages([opponent], game, data)
    served([pages], host, port, "/play" if browser else None, home="/play")


def _play_here(name: str, player: int | None, replies: bool, keypad: bool, game: str | None, data: Path) -> int:
    from pttt_ooc.library.api.structures import configure
    from pttt_ooc.pipeline.show.dialogue import Dialogue
    from pttt_ooc.site.explore.local_opponents import LocalOpponents, pair_of
    from pttt_ooc.site.explore.terminal_play import play as played

    configure(data)
    pair, sides = pair_of(name, game)
    opponents = [1 - side for side in sides] if replies else sides  # the other player replies
    fitting = [1 - side for side in opponents if player in (None, 1 - side)]
    if not fitting:
        who = f"The best response to {name}" if replies else name
        raise StrategyFileError(f"{who} plays player {opponents[0]}, so that you play player {1 - opponents[0]}.")
    opponent = 1 - min(fitting)
    return played(LocalOpponents(pair.with_reply(opponent) if replies else pair, opponent), Dialogue(), keypad=keypad)


def _solution(data: Path, game: str | None) -> str:
    from pttt_ooc.config import solving_command

    place = data / (name := game or "pttt-abrupt") / "full"
    if not place.is_dir():
        raise StrategyFileError(
            f"There is no solution in {place}; `{solving_command(name, data)}` makes one, or name an opponent, such as "
            "uniform."
        )
    return str(place)
