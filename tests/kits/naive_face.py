"""The independent reference for equilibrium strategies: one linear program over all sequences of a small game.

No symmetry, no restricted games: a variable for each sequence of the player, a row for each sequence of the opponent
(von Stengel 1996).  It shares with the package only the rules.  It needs scipy.
"""

from collections import defaultdict

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from tests.kits import naive

EMPTY = ("", -1)
"""The empty sequence; others are an infoset's text and a square."""


class NaiveFace:
    """The equilibrium strategies of one player, in the game of all histories."""

    def __init__(self, game, player):
        self.game, self.player = game, player
        payoffs = defaultdict(float)
        before = [{}, {}]  # the sequence before each infoset

        def walk(history, last):
            if history.is_terminal():
                if history.returns()[player]:
                    payoffs[last[player], last[1 - player]] += history.returns()[player]
                return
            mover = history.player
            text = history.nodes[mover]
            before[mover][text] = last[mover]
            for square in history.legal():
                walk(history.attempt(square), {**last, mover: (text, square)})

        walk(naive.History.start(game), {0: EMPTY, 1: EMPTY})
        self.before = before
        self.sequences = [
            [EMPTY, *((text, s) for text in infosets for s in naive.legal_squares(game, text))] for infosets in before
        ]
        self.numbers = [{sequence: k for k, sequence in enumerate(found)} for found in self.sequences]
        self._build(payoffs)
        self.value = self._solve(np.zeros(self.own), None)[0]

    def _build(self, payoffs):
        p, q = self.player, 1 - self.player
        mine, theirs = self.numbers[p], self.numbers[q]
        infosets = {text: k for k, text in enumerate(self.before[q])}
        self.own, size = len(mine), len(mine) + 1 + len(infosets)
        equal = sparse.lil_matrix((1 + len(self.before[p]), size))
        equal[0, 0] = 1
        for row, (text, last) in enumerate(self.before[p].items(), 1):
            for square in naive.legal_squares(self.game, text):
                equal[row, mine[text, square]] = 1
            equal[row, mine[last]] -= 1
        self.equal, self.amounts = equal.tocsr(), np.append(1.0, np.zeros(len(self.before[p])))
        below = sparse.lil_matrix((len(theirs), size))
        for (text, _), row in theirs.items():
            below[row, self.own + (1 + infosets[text] if text else 0)] += 1
        for text, last in self.before[q].items():
            below[theirs[last], self.own + 1 + infosets[text]] -= 1
        for (one, other), payoff in payoffs.items():
            below[theirs[other], mine[one]] -= payoff
        self.below = below.tocsr()

    def _solve(self, objective, value):
        size = self.below.shape[1]
        costs = np.zeros(size)
        costs[: self.own] = objective
        bounds = [(0, None)] * self.own + [(None, None)] * (size - self.own)
        if value is None:
            costs[self.own] = 1
        else:
            bounds[self.own] = (value - 1e-11, None)
        found = linprog(
            -costs, self.below, np.zeros(self.below.shape[0]), self.equal, self.amounts, bounds, method="highs"
        )
        assert found.status == 0, found.message
        return -found.fun, found.x[: self.own]

    def extreme(self, payoffs):
        """The largest sum of reach times payoff over all equilibrium strategies, and the plan.

        `payoffs` maps sequences to numbers; those that are missing have none.
        """
        objective = np.array([payoffs.get(sequence, 0.0) for sequence in self.sequences[self.player]])
        value, plan = self._solve(objective, self.value)
        return value, dict(zip(self.sequences[self.player], plan, strict=True))

    def payoffs_against(self, strategy):
        """What each sequence gets against a strategy of the opponent, and what the empty one gets."""
        ends, arrivals = naive.gradient(self.game, self.player, strategy)
        found = {}
        for text, row in ends.items():
            for square in naive.legal_squares(self.game, text):
                after = [f"{text}{square}{mark}" for mark in "*."]
                found[text, square] = row[square] + sum(arrivals.get(node, 0.0) for node in after)
        return found, arrivals.get(naive.setup_text(self.game, self.player), 0.0)
