"""The pure rule: what a player does wherever their plan does not come, so that plan and rule are a complete strategy.

A player's *knowledge* are their marks, and the squares on which they failed: marks of the opponent.  Each winning set
without a failed square is worth 2 * 4^m if the player holds m of its squares, and each of the opponent's winning sets
without an own mark 4^m if m of its squares are known to be the opponent's.  The rule attempts a square whose winning
sets are worth most together; of several, the one with the least number.  A heuristic: any rule leads to an equilibrium,
and a better one in fewer rounds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.rules.game import Game, Squares

_OWN, _BASE = 2.0, 4.0


def choices(game: Game, player: int) -> NDArray[np.int8]:
    """The rule's square for each knowledge of a player, int8 (3^n,); where nothing is left to attempt, -1.

    A square counts 1 * 3^s in the index if the player has marked it, and 2 * 3^s if they failed on it.
    """
    n = game.squares
    digits = np.arange(3**n)[:, None] // 3 ** np.arange(n) % 3
    bits = 1 << np.arange(n)
    marks, fails = (digits == 1) @ bits, (digits == 2) @ bits
    scores = np.zeros((3**n, n))
    _score(scores, game.winning_sets[player], marks, fails, _OWN)
    _score(scores, game.winning_sets[1 - player], fails, marks, 1.0)
    scores[digits > 0] = -1
    found: NDArray[np.int8] = scores.argmax(axis=1).astype(np.int8)
    found[(digits > 0).all(axis=1)] = -1
    return found


def _score(
    scores: NDArray[np.float64], winning_sets: Squares, held: NDArray[np.int64], lost: NDArray[np.int64], worth: float
) -> None:
    """Add the worth of winning sets to their squares, for those who hold and have lost these squares."""
    for winning in winning_sets:
        value = np.where(lost & winning == 0, worth * _BASE ** np.bitwise_count(held & winning), 0.0)
        for square in range(scores.shape[1]):
            if winning >> square & 1:
                scores[:, square] += value
