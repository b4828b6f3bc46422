"""Whole games side by side, with both players' decisions, from which all deep learners learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.learners.deep.observation import Sight
from pttt_ooc.learners.sampled.state_machine import Games

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Movers = Callable[[Ints, Ints], NDArray[np.floating[Any]]]
"""Returns probabilities of squares, a row for each game, from the games' numbers and the movers' infosets."""


@dataclass(frozen=True, eq=False)
class Plays:
    """Decisions of whole games.  D decisions, N games, S squares.

    Attributes
    ----------
    infosets : int64 (D,)
        Numbers of infosets, of both players together.
    squares : int64 (D,)
        The attempted square, on the representative's board.
    policies : float64 (D, S)
        The probabilities of squares.
    after : int64 (D,)
        The same player's next decision in the same game, or -1.
    seats : int64 (D,)
        Twice the game's number, plus the player.
    payoffs : float64 (D,)
        The player's payoff at the end of the game.
    """

    infosets: Ints
    squares: Ints
    policies: Floats
    after: Ints
    seats: Ints
    payoffs: Floats

    @property
    def chances(self) -> Floats:
        """The probabilities of the attempted squares, shape (D,)."""
        chances: Floats = self.policies[np.arange(len(self.squares)), self.squares]
        return chances

    def backward(self) -> list[Ints]:
        """Sets of decisions; a player's next decision is in the preceding set."""
        following, found = self.after.copy(), []
        depth = np.zeros(len(following), np.int64)
        while (following >= 0).any():
            depth += following >= 0
            following = np.where(following >= 0, self.after[following], -1)
        for k in range(int(depth.max(initial=-1)) + 1):
            found.append(np.flatnonzero(depth == k))
        return found


def play(sight: Sight, number: int, movers: Movers, rng: np.random.Generator) -> Plays:
    """Play games to their ends.

    Parameters
    ----------
    number
        The number of games.
    movers
        The policy of both players.
    """
    games, alive = Games(sight.index, number), np.ones(number, bool)
    rows: list[tuple[Any, ...]] = []
    last, after, decisions = np.full((number, 2), -1, np.int64), np.zeros(0, np.int64), 0
    ends = np.zeros(number)
    while alive.any():
        observed, running = games.observe(), np.flatnonzero(alive)
        movers_here = observed.movers[running]
        infosets = observed.infosets[running] + movers_here * sight.second
        policies = movers(running, infosets).astype(np.float64)
        sums = np.cumsum(policies, axis=1)
        squares = (sums <= rng.random((len(running), 1)) * sums[:, -1:]).sum(axis=1)
        rows.append((infosets, squares, policies, 2 * running + movers_here))
        numbers = np.arange(decisions, decisions + len(running))
        decisions += len(running)
        after = np.append(after, np.full(len(running), -1, np.int64))
        before = last[running, movers_here]
        after[before[before >= 0]] = numbers[before >= 0]
        last[running, movers_here] = numbers
        actions = np.zeros(number, np.int64)
        legal = sight.codes[infosets] == 0
        actions[running] = (legal & (np.arange(sight.squares) < squares[:, None])).sum(axis=1)
        ended, payoffs = games.step(actions)
        ends[alive & ended] = payoffs[alive & ended]
        alive &= ~ended
    infosets, squares, policies, seats = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    return Plays(infosets, squares, policies, after, seats, ends[seats // 2] * (1 - 2 * (seats % 2)))
