"""How much two strategies differ in the games that they reach: estimates from sampled games.

The games of a strategy against the uniform opponent have a distribution.  The total variation of two such distributions
is 0 for strategies that do the same wherever they come, whatever they do elsewhere, and 1 for strategies that never
play the same game.  With x the realization plans and h a game,

    TV(s, t) = E over games h of s of max(0, 1 - x_t(h) / x_s(h)),

as the opponent's part of a game's probability cancels.  So a few hundred games of s, each as the last sequence that it
came to, and a look at t's plan there, estimate it; where t equals s, the estimate is exact.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.rules.play import History, start
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.infoset_places import locate, sides_of

GAMES = 400
"""Sampled games of a strategy: the standard error of an estimate is at most 0.025."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SampledGames:
    """Games of a strategy against the uniform opponent.

    Attributes
    ----------
    sequences
        int64 (games,): the last own sequence of each game; -1: the player made no attempt.
    reach
        float64 (games,): the strategy's realization plan there; 1 for no sequence.
    """

    sequences: NDArray[np.int64]
    reach: Floats

    def estimated_variation(self, plan: Floats) -> float:
        """An estimate of the total variation between this strategy and another one of the same player, 0 to 1.

        Parameters
        ----------
        plan
            float64 (the player's sequences,): the other one's realization plan.
        """
        theirs = np.where(self.sequences < 0, 1.0, plan[self.sequences])
        return float(np.maximum(0.0, 1.0 - theirs / self.reach).mean())


def sample_games(index: Index, player: int, plan: Floats, digest: str, games: int = GAMES) -> SampledGames:
    """Sample games of a strategy.

    Parameters
    ----------
    index
        The index without symmetry.
    plan
        float64 (the player's sequences,): the strategy's realization plan.
    digest
        Of the strategy's file: the seed.
    """
    rng = np.random.default_rng(zlib.crc32(digest.encode()))
    found = [_sample_sequence(index, player, plan, rng) for _ in range(games)]
    sequences = np.array(found, np.int64)
    return SampledGames(sequences, np.where(sequences < 0, 1.0, plan[sequences]))


def _sample_sequence(index: Index, player: int, plan: Floats, rng: np.random.Generator) -> int:
    history, last = start(index.game), -1
    while history.player is not None:
        legal = history.legal()
        if history.player == player:
            options = sequences_at(index, history)
            weights = plan[options]
            chosen = int(np.searchsorted(np.cumsum(weights), rng.random() * weights.sum(), side="right"))
            chosen = min(chosen, int(np.flatnonzero(weights)[-1]))  # rounding
            last = int(options[chosen])
            history = history.step(legal[chosen])
        else:
            history = history.step(legal[int(rng.integers(len(legal)))])
    return last


def sequences_at(index: Index, history: History) -> NDArray[np.int64]:
    """int64 (legal squares,): numbers of the sequences of the player to move, by ascending square."""
    player = history.player
    assert player is not None
    side, own = sides_of(index)[player], [one for one in history.attempts if one.player == player]
    squares = np.array([one.square for one in own], np.int64)
    placed = sum(1 << one.square for one in own if one.placed)
    view, _, rank = locate(side, squares, len(squares), placed)
    orders = side.node_start[view + 1] - side.node_start[view]
    first = side.sequence_start[view] + rank
    return np.asarray(first + orders * np.arange(len(history.legal())), np.int64)
