"""One round for given values of its outcomes: iterations of the update rule, and exact values and best responses."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.solving.regret import Coefficients
from pttt_ooc.other_games.smbc import kernels
from pttt_ooc.other_games.smbc.rules import MET, SQUARES
from pttt_ooc.other_games.smbc.settings import SolveSettings
from pttt_ooc.other_games.smbc.tree import RoundTree

Floats = NDArray[np.float64]
PAIRS = 9  # of goals, with equal chances
_NONE: Floats = np.empty((0, 3))
_NO_BONUS: Floats = np.empty(0)


@dataclass(frozen=True)
class Payoffs:
    """The first player's payoffs if neither, only the first, only the second, or both players score."""

    neither: float = 0
    first: float = 1
    second: float = -1
    both: float = 0

    def of(self, player: int) -> Floats:
        """The payoffs of `player` in the order of :func:`kernels.update`, times the chance of a pair of goals."""
        if player == 0:
            return np.array(astuple(self)) / PAIRS
        return -np.array((self.neither, self.second, self.first, self.both)) / PAIRS

    def table(self) -> Floats:
        """The first player's payoff, shape (3, 3, 4): by both goals and the board's outcome."""
        found, amounts = np.empty((3, 3, 4)), astuple(self)
        for first, second, outcome in np.ndindex(found.shape):
            found[first, second, outcome] = amounts[(first == MET[0][outcome]) + 2 * (second == MET[1][outcome])]
        return found


@dataclass(frozen=True)
class RoundProfile:
    """Strategies of both players.

    Attributes
    ----------
    strategy
        Probabilities, float64, shape (nodes, 3): row ``n`` is for the move to node ``n``, by its player's goal; row 0
        is 1.
    reach
        The products of these along the player's own moves.
    """

    strategy: Floats
    reach: Floats


def profile_of(tree: RoundTree, sums: Floats) -> RoundProfile:
    """The profile with probabilities in proportion to sums; uniform at infosets where all are zero."""
    found = RoundProfile(np.ones((tree.nodes, 3)), np.ones((tree.nodes, 3)))
    for player in (0, 1):
        kernels.normalize(tree.shape, player, sums, found.strategy)
        kernels.go_down(tree.shape, player, found.strategy, found.reach, 0.0, _NONE)
    return found


def combine_strategies(tree: RoundTree, first: Floats, second: Floats) -> RoundProfile:
    """The profile with the first player's strategy from one array, and the second player's from another."""
    strategy = np.where(tree.moved_by(0)[:, None], first, second)
    return profile_of(tree, strategy)


def outcomes(tree: RoundTree, profile: RoundProfile) -> Floats:
    """Probabilities of the board's outcomes: shape (3, 3, 4), by both goals and the outcome."""
    found = np.empty((4, 3, 3))
    kernels.outcomes(tree.shape, profile.reach, found)
    return np.moveaxis(found, 0, 2)


def scoring(probabilities: Floats) -> Floats:
    """Probabilities that neither, only the first, only the second or both players score, shape (4,)."""
    total = np.zeros(4)
    for first, second, outcome in np.ndindex(probabilities.shape):
        total[(first == MET[0][outcome]) + 2 * (second == MET[1][outcome])] += (
            probabilities[first, second, outcome] / PAIRS
        )
    return total


@dataclass(frozen=True)
class Response:
    """A best response to the opponent's strategy.

    Attributes
    ----------
    value
        The player's expected payoff.
    values
        Shape (nodes, 3): counterfactual values of each node for each of the player's goals.
    best
        Shape (nodes, 3): 1 for the first of the best moves, else 0.
    """

    value: float
    values: Floats
    best: Floats


def best_response(tree: RoundTree, player: int, payoffs: Payoffs, profile: RoundProfile) -> Response:
    """The best response of `player` to the opponent's strategy in a profile."""
    values, best = np.empty((tree.nodes, 3)), np.zeros((tree.nodes, 3))
    kernels.respond(tree.shape, player, payoffs.of(player), profile.reach, values, best)
    return Response(float(values[0].sum()), values, best)


class Solver:
    """Iterations of the update rule on one round.

    Parameters
    ----------
    regrets, sums, strategy
        The state, changed in place: float64, shape (nodes, 3).  Initialised at iteration 0.
    iteration
        The number of iterations so far.
    payoffs
        The values of the outcomes; they may change between iterations.
    """

    def __init__(
        self,
        tree: RoundTree,
        settings: SolveSettings,
        regrets: Floats,
        sums: Floats,
        strategy: Floats,
        iteration: int = 0,
        payoffs: Payoffs = Payoffs(),  # noqa: B008  (immutable)
    ) -> None:
        self.tree, self.settings, self.iteration, self.payoffs = tree, settings, iteration, payoffs
        self.regrets, self.sums = regrets, sums
        self.current = RoundProfile(strategy, np.ones((tree.nodes, 3)))
        self._values = np.empty((tree.nodes, 3))
        self._closeness = (SQUARES - 1 - tree.square) / (SQUARES - 1) / PAIRS  # of squares to the top left corner
        if iteration == 0:
            self.restart()
        for player in (0, 1):
            kernels.go_down(tree.shape, player, strategy, self.current.reach, 0.0, _NONE)

    def restart(self) -> None:
        """Start again at iteration 0; the payoffs stay."""
        self.iteration = 0
        self.regrets[:] = self.sums[:] = 0
        start = profile_of(self.tree, self.sums)
        self.current.strategy[:], self.current.reach[:] = start.strategy, start.reach

    def run(self, iterations: int) -> None:
        """Make some iterations."""
        for _ in range(iterations):
            self.iterate()

    def iterate(self) -> None:
        """Make one iteration: regrets of both players, their next strategies, their averages."""
        self.iteration += 1
        coefficients, discount = self.settings.coefficients(self.iteration)
        for players in ((0,), (1,)) if self.settings.alternate_updates else ((0, 1),):
            for player in players:
                self._update(player, coefficients)
            for player in players:
                kernels.go_down(self.tree.shape, player, self.current.strategy, self.current.reach, discount, self.sums)

    def average(self) -> RoundProfile:
        """The average strategies, weighted by reach."""
        return profile_of(self.tree, self.sums)

    def _update(self, player: int, coefficients: Coefficients) -> None:
        bonus = self._closeness * self.settings.bonus(self.iteration) if self.settings.small_move_epsilon else _NO_BONUS
        tables = kernels.RoundArrays(self.current.reach, self._values, self.regrets, self.current.strategy)
        step = kernels.UpdateStep(
            positive=float(coefficients.discount_positive),
            negative=float(coefficients.discount_negative),
            lowest=0.0 if coefficients.floor else -math.inf,
            ahead=float(coefficients.look_ahead),
            trust=1.0 if coefficients.predict else 0.0,
        )
        kernels.update(self.tree.shape, player, self.payoffs.of(player), bonus, tables, step)


def fresh(tree: RoundTree, settings: SolveSettings, payoffs: Payoffs = Payoffs()) -> Solver:  # noqa: B008  (immutable)
    """A solver at iteration 0, in memory."""
    regrets, sums, strategy = (np.empty((tree.nodes, 3)) for _ in range(3))
    return Solver(tree, settings, regrets, sums, strategy, payoffs=payoffs)
