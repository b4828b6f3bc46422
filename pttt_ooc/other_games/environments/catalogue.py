"""Environments by the names of games."""

from __future__ import annotations

import re
from typing import Any, Literal

from pttt_ooc.errors import ConfigError, GameError
from pttt_ooc.extras import check_extra

Shown = Literal["marks", "information state"]
Seats = Literal["drawn", "fixed"]

_SECRET_GOALS = re.compile(r"(?:to([1-9]\d?))?\+?(fill)?")


def environment(text: str, render_mode: str | None = None, observations: Shown = "marks") -> Any:
    """A PettingZoo environment in which players take turns (AEC).

    Parameters
    ----------
    text
        A game of the arena, such as ``ultimate`` or ``mnk:5x5+need4``; ``phantom:NAME`` for a game of the catalogue
        that ``pttt info`` lists, such as ``phantom:pttt-abrupt``; or ``secret-goals``, a match to 5 points, with the
        options ``to`` (``secret-goals:to3``) and ``fill`` (``secret-goals:to3+fill``: boards are filled).
    render_mode
        ``"ansi"``: ``render()`` returns the board as text.
    observations
        ``"marks"``, or for a phantom game ``"information state"``: OpenSpiel's tensor, which has perfect recall.

    Raises
    ------
    MissingExtraError
        PettingZoo is not installed.
    ConfigError
        There is no such mode, or the game has no such observations.
    PtttError
        There is no such game.

    Notes
    -----
    An observation has two arrays.  ``observation``, int8, shape (actions, 2): column 0 has a 1 for each action that the
    observer has made, column 1 for each action of the opponent; in a phantom game these are the observer's marks and
    failed attempts, without their order, so that this is not perfect recall.  For information states and for what
    ``infos`` tells see :class:`~.hidden_games.PhantomEnvironment`, for secret goals
    :class:`~.hidden_games.SecretGoalsEnvironment`.
    ``action_mask``, int8, shape (actions,): 1 for each legal action; all zero if the observer is not to move.  The
    winner gets 1, the loser -1.  An illegal action loses the game.
    """
    check_extra("environments", "An environment")
    # The classes are imported late: they need PettingZoo, which may be missing, and one of them needs Numba.
    from pttt_ooc.other_games.environments.hidden_games import PhantomEnvironment, SecretGoalsEnvironment

    name, _, rest = text.partition(":")
    if name == "phantom":
        from pttt_ooc.games.rules.catalogue import named_game

        return PhantomEnvironment(named_game(rest or "pttt-abrupt"), render_mode, observations)
    if observations != "marks":
        raise ConfigError(f"{text} has no observations {observations!r}; phantom games have 'information state'.")
    if name == "secret-goals":
        options = _SECRET_GOALS.fullmatch(rest)
        if options is None:
            raise GameError(f"'{rest}' are not options of secret-goals: write secret-goals:to3+fill, for example.")
        return SecretGoalsEnvironment(int(options[1] or 5), options[2] is not None, render_mode)
    from pttt_ooc.other_games.arena.games.catalogue import game
    from pttt_ooc.other_games.environments.open_games import OpenEnvironment

    return OpenEnvironment(game(text), render_mode)


def batched_environment(
    name: str, observations: Literal["information state", "planes"] = "information state", seats: Seats = "drawn"
) -> Any:
    """A phantom game as an environment of JAX, with the conventions of pgx: many games at once.

    Parameters
    ----------
    name
        Any name of a phantom game, such as ``pttt-abrupt``, ``pttt-4x4k4-classical`` or ``dark-hex-3x3-abrupt``.
    observations, seats
        See :class:`~.batched.BatchedEnvironment`, which is what is returned.

    Raises
    ------
    MissingExtraError
        JAX is not installed.
    ConfigError
        There is no such kind of observation, or of seats.
    UnknownGameError, GameError
        There is no such game.
    """
    check_extra("batched", "A batched environment")
    from pttt_ooc.games.rules.catalogue import named_game
    from pttt_ooc.other_games.environments.batched import BatchedEnvironment

    return BatchedEnvironment(named_game(name), observations, seats)
