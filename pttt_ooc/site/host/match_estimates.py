"""AIVAT for one match: the payoff without luck, from exact values against the opponent.

The estimate is X of :mod:`pttt_ooc.library.scoring.aivat`: the value of a best response minus what each decision lost.
Giving up is a decision, too: it gets -1 where a best response gets the infoset's value.  All of it depends on the
agent's own infosets and attempts only.
"""

from __future__ import annotations

import math

from pttt_ooc.config import MOST_LISTED_SQUARES
from pttt_ooc.errors import PtttError
from pttt_ooc.games.rules.play import History, start
from pttt_ooc.site.explore.opponents import BEST, Opponent, Opponents


def estimate_match(opponents: Opponents, opponent: Opponent, history: History, given_up: bool) -> float | None:
    """The agent's expected payoff, estimated from one match.

    Parameters
    ----------
    history
        All attempts of the match.
    given_up
        Whether the agent gave up where the history ends: by resigning, or because its time was over.

    Returns
    -------
    None if the opponent cannot be asked now, or the game's infosets are not listed: then a value is a long search.
    """
    if opponents.game.squares > MOST_LISTED_SQUARES:
        return None
    me = 1 - opponent.player
    try:
        best = {one.who: one.value for one in opponents.expectations(opponent)}.get(BEST)
        lost = [_loss(opponents, opponent, infoset, square) for infoset, square in _decisions(history, me)]
        if given_up:
            lost.append(_loss(opponents, opponent, history.infoset(me), None))
    except PtttError:
        return None
    return None if best is None else best - math.fsum(lost)


def _loss(opponents: Opponents, opponent: Opponent, infoset: str, square: int | None) -> float:
    """What an attempt loses in value, or giving up."""
    numbers = opponents.numbers(opponent, infoset)
    value: float = numbers["best_value"]
    return value - (-1.0 if square is None else numbers["best_action_values"][square])


def _decisions(history: History, me: int) -> list[tuple[str, int]]:
    """The infosets at which a player decided, and the attempted squares."""
    found, now = [], start(history.game)
    for attempt in history.attempts:
        if attempt.player == me:
            found.append((now.infoset(me), attempt.square))
        now = now.step(attempt.square)
    return found
