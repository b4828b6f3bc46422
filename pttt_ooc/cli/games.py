"""Games: `pttt info`."""

from __future__ import annotations

import typer

from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.options import GameOption


def add_commands(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog="Example: pttt info --game dark-hex-3x3-classical")(info)


def info(game: GameOption = None) -> None:
    """List the games, or tell all about one.

    Without --game, it lists them, with their infosets and values.
    """
    from pttt_ooc.cli import display

    if game is None:
        display.games()
    else:
        display.one_game(named_game(game))
