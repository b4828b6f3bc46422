"""Counterfactual regret minimisation (CFR) as in the paper: two walks over all histories for each update of a player.

:mod:`pttt_ooc.cfr.solving.solver` computes the same without walking through histories.  This module is for reading, and
tests compare the two.  It takes about a second per iteration on a board of two rows of three squares, and would take
days on the full game.

The paper is Zinkevich, Johanson, Bowling and Piccione, "Regret Minimization in Games with Incomplete Information",
2007.  Let sigma be the players' current strategies and -i the opponent of player i:

- the counterfactual value of an infoset I is the expected payoff of i at I, times the probability that -i plays to
  reach I (these games have no chance);
- the regret of an action is its counterfactual value minus that of the infoset (equation 7, for one iteration);
- the next strategy is proportional to the positive sums of regrets, or uniform if there are none (equation 8);
- the average strategy weights each iteration by the player's own reach of the infoset (equation 4).

The paper updates both players at once; here they take turns, as in the solver's default.

>>> from pttt_ooc.games.rules.catalogue import named_game
>>> average = Textbook(named_game("mini-2x2k2-abrupt")).run(2)
>>> [round(float(p), 2) for p in average[0]["|"]]
[0.25, 0.25, 0.25, 0.25]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.play import History, start

SquareNumbers = NDArray[np.float64]
"""A number for each square, shape (squares,)."""


@dataclass
class Infoset:
    """A player's numbers at one infoset.

    Attributes
    ----------
    legal
        Whether each square can be attempted, shape (squares,).
    regrets
        Sum of counterfactual regrets over the iterations.
    strategy_sum
        Sum of the strategies over the iterations, weighted by the player's own reach.
    values
        Counterfactual values of the actions in the current iteration.
    strategy
        The current strategy: the probability of each action.
    """

    legal: NDArray[np.bool_]
    regrets: SquareNumbers
    strategy_sum: SquareNumbers
    values: SquareNumbers
    strategy: SquareNumbers

    def update(self) -> None:
        """Add this iteration's regrets (equation 7), and match regrets (equation 8)."""
        self.regrets += np.where(self.legal, self.values - self.strategy @ self.values, 0)
        self.values[:] = 0
        positive = np.maximum(self.regrets, 0)
        self.strategy = positive / positive.sum() if positive.any() else self.legal / self.legal.sum()


class Textbook:
    """CFR with alternating updates on a small game.

    Parameters
    ----------
    game
        The game; every iteration visits all of its histories four times.

    Attributes
    ----------
    infosets
        For each player, the visited infosets by text.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self.infosets: tuple[dict[str, Infoset], dict[str, Infoset]] = ({}, {})

    def run(self, iterations: int) -> tuple[dict[str, SquareNumbers], dict[str, SquareNumbers]]:
        """Iterate, and return both players' average strategies by the infosets' texts."""
        for _ in range(iterations):
            for player in (0, 1):
                self._value(start(self.game), player, 1.0)
                for infoset in self.infosets[player].values():
                    infoset.update()
                self._add_to_average(start(self.game), player, 1.0, set())
        first, second = ({text: _average(infoset) for text, infoset in mine.items()} for mine in self.infosets)
        return first, second

    def _value(self, history: History, player: int, opponent_reach: float) -> float:
        """The counterfactual value of a history for `player`, which is added to the values of its infosets' actions."""
        if history.player is None:
            return history.returns[player] * opponent_reach
        infoset = self._infoset(history)
        total = 0.0
        for square in history.legal():
            probability = float(infoset.strategy[square])
            following = history.step(square)
            if history.player == player:
                value = self._value(following, player, opponent_reach)
                infoset.values[square] += value
                total += probability * value
            else:
                total += self._value(following, player, opponent_reach * probability)
        return total

    def _add_to_average(self, history: History, player: int, reach: float, seen: set[str]) -> None:
        """Add the player's new strategy to its sum, once at each infoset, weighted by the player's reach."""
        if history.player is None:
            return
        infoset = self._infoset(history)
        mine = history.player == player
        if mine and history.infoset(player) not in seen:
            seen.add(history.infoset(player))
            infoset.strategy_sum += reach * infoset.strategy
        for square in history.legal():
            following = reach * float(infoset.strategy[square]) if mine else reach
            self._add_to_average(history.step(square), player, following, seen)

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
    """The average strategy (equation 4); uniform where the player's own reach was always 0."""
    total = float(infoset.strategy_sum.sum())
    return infoset.strategy_sum / total if total else infoset.legal / infoset.legal.sum()
