"""Commands that serve pages: `pttt web`, and `pttt course serve`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pttt_ooc.cli.wings import OTHER_GAMES, ArenaOption, MatchOption, TournamentOption, pages_beside
from pttt_ooc.course.server.commands import course
from pttt_ooc.errors import ConfigError, StrategyFileError
from pttt_ooc.extras import extra
from pttt_ooc.games.rules.catalogue import DEFAULT_GAME
from pttt_ooc.options import (
    COURSE,
    DATA,
    KINDS,
    BrowserOption,
    DataOption,
    GameOption,
    HostOption,
    JsonOption,
    OptionSections,
    PortOption,
    spread,
)
from pttt_ooc.other_games.extreme.terminal.bot_options import BotOptions
from pttt_ooc.other_games.extreme.terminal.commands import bot_pages
from pttt_ooc.other_games.smbc.wing import found_match

if TYPE_CHECKING:
    from pttt_ooc.site.service.wing import Pages

# Headings of options.
_SHOWN = "Phantom games"
_TERMINAL = "On the terminal"


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command(epilog="Example: pttt web data/pttt-abrupt/full mine.zip", cls=OptionSections)(spread(web))
    course.command("serve", epilog="Example: pttt course serve --game mini-2x3k2-abrupt --data try --port 8080")(serve)


def web(
    bots: BotOptions,
    context: typer.Context,
    strategies: Annotated[
        list[str] | None,
        typer.Argument(metavar="STRATEGY", help=f"What to explore and play against: {KINDS}."),
    ] = None,
    explore: Annotated[
        bool | None,
        typer.Option(
            "--explore/--play",
            help="The page that comes first.  [default: --explore with a strategy, or else home]",
            rich_help_panel=_SHOWN,
        ),
    ] = None,
    profiles: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where prepared strategies are kept.  [default: beside the game's index]",
            rich_help_panel=_SHOWN,
        ),
    ] = None,
    terminal: Annotated[
        bool,
        typer.Option("--terminal", help="Explore or play here; no pages are served.", rich_help_panel=_TERMINAL),
    ] = False,
    player: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=1,
            help="With --play, whom you play.  [default: 0, if the strategy lets you]",
            rich_help_panel=_TERMINAL,
        ),
    ] = None,
    best_response: Annotated[
        bool,
        typer.Option(
            "--best-response",
            help="With --play, play against the best response to STRATEGY.",
            rich_help_panel=_TERMINAL,
        ),
    ] = False,
    keypad: Annotated[
        bool,
        typer.Option(
            "--keypad",
            help="With --play, keys lie as on a keypad: 7 is the top left square.",
            rich_help_panel=_TERMINAL,
        ),
    ] = False,
    smbc: MatchOption = None,
    arena: ArenaOption = None,
    tournament: TournamentOption = None,
    bot: Annotated[
        Path | None,
        typer.Option(
            metavar="BOT",
            help="Play Extreme TicTacToe against a bot: a file like team39.py, or random, alphabeta, strong.",
            rich_help_panel=OTHER_GAMES,
        ),
    ] = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 0,
    browser: BrowserOption = True,
    game: GameOption = None,
    data: DataOption = DATA,
) -> None:
    """Explore, play and watch in a browser.

    Name strategies, or other games by options; without both, there are pages on everything in the data directory, the
    solved --game first, and nothing is computed.

    Strategies are prepared once, which takes seconds and, for the full game, up to a gigabyte on disk.  After a game
    the page shows both boards, what each of your attempts lost, and what you could believe before it.
    """
    names = strategies or []
    for_pages = [profiles, smbc, arena, tournament, bot]
    play = explore is False
    if terminal:
        if for_pages != [None] * len(for_pages):
            raise ConfigError(
                "The options --profiles, --smbc, --arena, --tournament and --bot are for pages; leave out --terminal."
            )
        raise typer.Exit(_answer_here(names, play, player, best_response, keypad, game, data))
    if player is not None or best_response or keypad:
        raise ConfigError(
            "In the browser you choose there whom and against whom you play; --player, --best-response and --keypad "
            "are for --play --terminal."
        )
    _check_bot_options(context, bot)
    if profiles is not None and not names:
        raise StrategyFileError("Name a strategy; without one, --profiles has no use.")
    with extra("course", "`pttt web`"):
        from pttt_ooc.cli.site import site_pages
        from pttt_ooc.site.service.local_server import serve as served

    # Pages on strategies, on other games, or on everything in the directory; the first ones give the title.
    own, match = _strategy_pages(names, profiles, smbc, game, data)
    pages = [*own, *pages_beside(match, arena, tournament=tournament)]
    pages += [bot_pages(bot, bots, data)] if bot is not None else []
    if not pages:
        if explore is not None:
            solved_in(data, game)
        pages = site_pages(data, game)
    page = pages[0].page if explore is None else "/explore" if explore else "/play"
    served(pages, host, port, page if browser else None, page if explore is not None or bot is not None else "")


def _strategy_pages(
    names: Sequence[str], profiles: Path | None, smbc: str | None, game: str | None, data: Path
) -> tuple[list[Pages], Path | None]:
    """The pages on the named strategies, if any, and the directory of the match to show beside them."""
    if not names:
        return [], None if smbc is None else found_match(smbc, data)
    from pttt_ooc.site.explore.local_sources import local_pages

    pages, structures = local_pages(names, game, data, profiles)
    return [pages], found_match(smbc, structures)


def _check_bot_options(context: typer.Context, bot: Path | None) -> None:
    """Raise a ConfigError if options of a bot are given without one."""
    sources = {name: context.get_parameter_source(name) for name in BotOptions._fields}
    given = [name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    if given and bot is None:
        raise ConfigError(f"--{given[0].replace('_', '-')} is for --bot; leave it out, or name a bot.")


def _answer_here(
    names: Sequence[str], play: bool, player: int | None, replies: bool, keypad: bool, game: str | None, data: Path
) -> int:
    """Answer on the terminal; returns the exit code."""
    if play:
        if len(names) > 1:
            raise ConfigError("On the terminal you play against one strategy; leave out the others.")
        return _play_here(names[0] if names else _solution(data, game), player, replies, keypad, game, data)
    if player is not None or replies or keypad:
        raise ConfigError("--player, --best-response and --keypad are for --play.")
    if not names:
        raise StrategyFileError("Name a strategy to explore, such as uniform.")
    from pttt_ooc.site.explore.terminal_explore import explore_named

    return explore_named(list(names), game, data)


def solved_in(data: Path, game: str | None) -> None:
    """Raise a StrategyFileError if there is no solution in a directory."""
    from pttt_ooc.cli.home_cards import found_solutions
    from pttt_ooc.cli.site import games_of

    if not games_of(found_solutions(data)[0], game, data):
        raise StrategyFileError(f"There is no solution in {data}; name a strategy, such as uniform, or run make solve.")


def serve(
    game: GameOption = None,
    data: DataOption = COURSE,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8080,
    smbc: MatchOption = None,
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
    with extra("course", "`pttt course serve`"):
        from pttt_ooc.course.server.serve import serve as served
        from pttt_ooc.site.service.logs import logged_to

    # Only a named match: a course beside the workflow's results must not show students a solution by default.
    match = None if smbc is None else found_match(smbc, DATA)
    with logged_to(log):
        served(data, game, host, port, lambda directory: pages_beside(match, arena, directory), as_json)


def _play_here(name: str, player: int | None, replies: bool, keypad: bool, game: str | None, data: Path) -> int:
    """A game on the terminal, with the opponent in this process."""
    from pttt_ooc.library.api.structures import configure
    from pttt_ooc.pipeline.show.dialogue import Dialogue
    from pttt_ooc.site.explore.local_opponents import LocalOpponents, pair_of
    from pttt_ooc.site.explore.terminal_play import play as played

    configure(data)
    pair, sides = pair_of(name, game)
    opponents = [1 - side for side in sides] if replies else sides  # the best response plays the other side
    fitting = [1 - side for side in opponents if player in (None, 1 - side)]
    if not fitting:
        who = f"The best response to {name}" if replies else name
        raise StrategyFileError(f"{who} plays player {opponents[0]}, so that you play player {1 - opponents[0]}.")
    opponent = 1 - min(fitting)
    return played(LocalOpponents(pair.with_reply(opponent) if replies else pair, opponent), Dialogue(), keypad=keypad)


def _solution(data: Path, game: str | None) -> str:
    from pttt_ooc.config import solving_command

    place = data / (name := game or DEFAULT_GAME) / "full"
    if not place.is_dir():
        raise StrategyFileError(
            f"There is no solution in {place}; `{solving_command(name, data)}` makes one, or name an opponent, such as "
            "uniform."
        )
    return str(place)
