"""Environments by the names of games."""

from __future__ import annotations

import re
from typing import Any

from pttt_ooc.errors import GameError
from pttt_ooc.extras import check_extra

_SECRET_GOALS = re.compile(r"(?:to([1-9]\d?))?\+?(fill)?")


def environment(text: str, render_mode: str | None = None) -> Any:
    """A PettingZoo environment in which players take turns (AEC).

    Parameters
    ----------
    text
        A game of the arena, such as ``ultimate`` or ``mnk:5x5+need4``; ``phantom:NAME`` for a game of the catalogue
        that ``pttt info`` lists, such as ``phantom:pttt-abrupt``; or ``secret-goals``, a match to 5 points, with the
        options ``to`` (``secret-goals:to3``) and ``fill`` (``secret-goals:to3+fill``: boards are filled).
    render_mode
        ``"ansi"``: ``render()`` returns the board as text.

    Raises
    ------
    MissingExtraError
        PettingZoo is not installed.
    ConfigError
        There is no such mode.
    PtttError
        There is no such game.

    Notes
    -----
    An observation has two arrays.  ``observation``, int8, shape (actions, 2): column 0 has a 1 for each action that the
    observer has made, column 1 for each action of the opponent; in a phantom game these are the observer's marks and
    failed attempts.  For secret goals see :class:`~.hidden_games.SecretGoalsEnvironment`.
    ``action_mask``, int8, shape (actions,): 1 for each legal action; all zero if the observer is not to move.  The
    winner gets 1, the loser -1.  An illegal action loses the game.
    """
    check_extra("environments", "An environment")
    # The classes are imported late: they need PettingZoo, which may be missing, and one of them needs Numba.
    from pttt_ooc.other_games.environments.hidden_games import PhantomEnvironment, SecretGoalsEnvironment

    name, _, rest = text.partition(":")
    if name == "phantom":
        from pttt_ooc.games.rules.catalogue import named_game

        return PhantomEnvironment(named_game(rest or "pttt-abrupt"), render_mode)
    if name == "secret-goals":
        options = _SECRET_GOALS.fullmatch(rest)
        if options is None:
            raise GameError(f"'{rest}' are no options of secret-goals: write secret-goals:to3+fill, for example.")
        return SecretGoalsEnvironment(int(options[1] or 5), options[2] is not None, render_mode)
    from pttt_ooc.other_games.arena.games.catalogue import game
    from pttt_ooc.other_games.environments.open_games import OpenEnvironment

    return OpenEnvironment(game(text), render_mode)
