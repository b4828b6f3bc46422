"""Counterfactual regret minimisation as the paper has it: one walk over all histories for each update of a player.

This is what :mod:`pttt_ooc.solving.solver` does without ever walking through a history.  It is here to be read, and
tests compare the two.  It takes about a second an iteration on a board of two rows of three squares, and would take
days on the full game.

The names are those of Zinkevich, Johanson, Bowling and Piccione, "Regret Minimization in Games with Incomplete
Information", 2007.  With sigma the players' current strategies and -i the opponent of player i:

- the counterfactual value of an infoset I is the expected payoff of i at I, times the probability that -i (and chance,
  of which there is none here) plays so that I is reached;
- the regret of an action is its counterfactual value less that of the infoset (equation 7, for one iteration);
- the next strategy is proportional to the positive sums of regrets, or uniform if there are none (equation 8);
- the average strategy weighs each iteration by the player's own reach of the infoset (equation 4).

>>> from pttt_ooc.rules.catalogue import named_game
>>> average = Textbook(named_game("mini-2x2k2-abrupt")).run(2)
>>> [round(float(p), 2) for p in average[0]["|"]]
[0.25, 0.25, 0.25, 0.25]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.rules.game import Game
from pttt_ooc.rules.play import History, start

SquareNumbers = NDArray[np.float64]
"""A number for each square, shape (squares,)."""


@dataclass
class Infoset:
    """What a player keeps about one infoset.

    Attributes
    ----------
    legal
        Whether each square can be attempted, shape (squares,).
    regrets
        Sum of counterfactual regrets over the iterations.
    weighted
        Sum over the iterations of the strategy, weighed by the player's own reach.
    values
        Counterfactual values of the attempts in the present iteration.
    strategy
        The current strategy: the probability of each attempt.
    """

    legal: NDArray[np.bool_]
    regrets: SquareNumbers
    weighted: SquareNumbers
    values: SquareNumbers
    strategy: SquareNumbers

    def update(self) -> None:
        """Add this iteration's regrets, and match them (equations 7 and 8)."""
        self.regrets += np.where(self.legal, self.values - self.strategy @ self.values, 0)
        self.values[:] = 0
        positive = np.maximum(self.regrets, 0)
        self.strategy = positive / positive.sum() if positive.any() else self.legal / self.legal.sum()


class Textbook:
    """CFR with alternating updates on a small game.

    Parameters
    ----------
    game
        The game; every iteration visits all of its histories twice.

    Attributes
    ----------
    infosets
        For each player, what is kept about each infoset, by the infoset's text.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self.infosets: tuple[dict[str, Infoset], dict[str, Infoset]] = ({}, {})

    def run(self, iterations: int) -> tuple[dict[str, SquareNumbers], dict[str, SquareNumbers]]:
        """Iterate, and return the average strategies of both players by the infosets' texts."""
        for _ in range(iterations):
            for player in (0, 1):
                self._walk(start(self.game), player, 1.0)
                for infoset in self.infosets[player].values():
                    infoset.update()
                self._add(start(self.game), player, 1.0, set())
        first, second = ({text: _average(kept) for text, kept in of.items()} for of in self.infosets)
        return first, second

    def _walk(self, history: History, player: int, opponent_reach: float) -> float:
        """The expected payoff of `player` from a history on, times the opponent's reach of it."""
        if history.player is None:
            return history.returns[player] * opponent_reach
        infoset = self._infoset(history)
        total = 0.0
        for square in history.legal():
            probability = float(infoset.strategy[square])
            following = history.step(square)
            if history.player == player:
                value = self._walk(following, player, opponent_reach)
                infoset.values[square] += value
                total += probability * value
            else:
                total += self._walk(following, player, opponent_reach * probability)
        return total

    def _add(self, history: History, player: int, reach: float, seen: set[str]) -> None:
        """Add the player's new strategy to the sums, once at each infoset, weighed by its own reach."""
        if history.player is None:
            return
        infoset = self._infoset(history)
        mine = history.player == player
        if mine and history.infoset(player) not in seen:
            seen.add(history.infoset(player))
            infoset.weighted += reach * infoset.strategy
        for square in history.legal():
            self._add(history.step(square), player, reach * float(infoset.strategy[square]) if mine else reach, seen)

    def _infoset(self, history: History) -> Infoset:
        assert history.player is not None
        known = self.infosets[history.player]
        text = history.infoset(history.player)
        if text not in known:
            legal = np.isin(np.arange(self.game.squares), history.legal())
            zeros = np.zeros(self.game.squares)
            known[text] = Infoset(legal, zeros, zeros.copy(), zeros.copy(), legal / legal.sum())
        return known[text]


def _average(infoset: Infoset) -> SquareNumbers:
    """The average strategy (equation 4); uniform where the player's own strategy never came."""
    total = float(infoset.weighted.sum())
    return infoset.weighted / total if total else infoset.legal / infoset.legal.sum()
