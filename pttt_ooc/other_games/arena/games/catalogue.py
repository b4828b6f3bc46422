"""The games of the arena by their names."""

from __future__ import annotations

from importlib import import_module

from pttt_ooc.errors import did_you_mean
from pttt_ooc.other_games.arena.games.base import ArenaError, Game
from pttt_ooc.other_games.arena.names import GAMES


def game(text: str) -> Game:
    """A game from its name and, after a colon, its options: ``ultimate``, ``ultimate:open+most``.

    Raises
    ------
    ArenaError
        There is no such game, or it has no such options.
    """
    name, _, options = text.partition(":")
    if name not in GAMES:
        known = ", ".join(GAMES)
        raise ArenaError(f"The arena has no game '{name}'{did_you_mean(name, GAMES)}: its games are {known}.")
    result: Game = getattr(import_module(f"pttt_ooc.other_games.arena.games.{name}"), GAMES[name])(
        filter(None, options.split("+"))
    )
    return result
