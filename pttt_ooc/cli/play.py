"""Games against a strategy: `pttt play`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pttt_ooc.errors import ConfigError, StrategyFileError
from pttt_ooc.extras import extra
from pttt_ooc.options import DATA, KINDS, BrowserOption, DataOption, HostOption, PortOption, ToldGameOption, check_game

PAGE = "/play"


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command(epilog="Example: pttt play data/pttt-abrupt/full --player 1")(play)


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
        from pttt_ooc.cli.servers import serve_site, solved_in

        solved_in(data, game)
        serve_site(data, game, host, port, PAGE if browser else None, PAGE)
        return
    # With one, only the pages of this opponent.
    with extra("course", "`pttt play`"):
        from pttt_ooc.site.explore.local_sources import local_pages
        from pttt_ooc.site.service.local_server import serve

    pages, _ = local_pages([opponent], game, data)
    serve([pages], host, port, PAGE if browser else None, home=PAGE)


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
