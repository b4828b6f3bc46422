"""Environments by the names of games."""

from __future__ import annotations

from typing import Any

from pttt_ooc.arena.games.base import ArenaError


def environment(text: str, render_mode: str | None = None) -> Any:
    """A PettingZoo environment, in which players take turns (AEC).

    Parameters
    ----------
    text
        A game of the arena, such as ``ultimate`` or ``mnk:5x5+need4``, or ``phantom:NAME`` for a game of the catalogue
        that ``pttt info`` lists, such as ``phantom:pttt-abrupt``.
    render_mode
        ``"ansi"``: ``render()`` returns the board as text.

    Raises
    ------
    ArenaError
        PettingZoo is not installed, or there is no such game of the arena.
    UnknownGameError
        There is no such game in the catalogue.

    Notes
    -----
    An observation has ``observation``, int8, shape (actions, 2): for each action a 1 if the player who observes, and if
    the opponent, has made it; in a phantom game the second column has the attempts that failed.  Further,
    ``action_mask``, int8, shape (actions,): 1 for what is legal; all zero for who is not to move.  The winner
    gets 1, the loser -1.  An action that is not legal loses the game.
    """
    try:
        import pettingzoo  # noqa: F401
    except ImportError:
        raise ArenaError(
            "Environments need PettingZoo, which is not installed: pip install 'pttt-ooc[environments]'."
        ) from None
    from pttt_ooc.arena.environments import games

    name, _, rest = text.partition(":")
    if name == "phantom":
        from pttt_ooc.rules.catalogue import named_game

        return games.PhantomEnvironment(named_game(rest or "pttt-abrupt"), render_mode)
    from pttt_ooc.arena.games.catalogue import game

    return games.OpenEnvironment(game(text), render_mode)
