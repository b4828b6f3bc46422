"""Double oracle over whole strategies: policy-space response oracles (PSRO) with exact best responses.

Each player has a population.  A meta-solver mixes both populations by the matrix of their payoffs; each player's exact
best response to the other's mixture joins its population (Lanctot et al. 2017, algorithm 1).  Mixtures are mixed as
realization plans.

A best response has reach at a few hundred sequences of millions.  So a population is a list of sparse plans, with 8
bytes for each sequence, and the payoffs of a new strategy against all others come from one gradient.

Meta-solvers mix two finite populations of strategies, from the matrix of their payoffs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from pttt_ooc.cfr.solving.linear_program import maximin
from pttt_ooc.cfr.sweep.tree import Floats, Reach
from pttt_ooc.extras import check_extra
from pttt_ooc.learners.learner import Arrays, Learner, LearnerSettings, Pair
from pttt_ooc.learners.learning_game import LearningGame

Matrix = NDArray[np.float64]
Mixtures = tuple[Matrix, Matrix]


def uniform(payoffs: Matrix) -> Mixtures:
    """Equal weights of all strategies of a population; then PSRO is fictitious play.

    Parameters
    ----------
    payoffs
        Shape (strategies of player 0, strategies of player 1): the payoffs of player 0.

    Returns
    -------
    Each player's mixture.
    """
    m, n = payoffs.shape
    return np.full(m, 1 / m), np.full(n, 1 / n)


def nash(payoffs: Matrix) -> Mixtures:
    """An equilibrium of the matrix game, by linear programming; then PSRO is a double oracle (McMahan et al. 2003)."""
    return normalise(maximin(payoffs)), normalise(maximin(-payoffs.T))


def normalise(mixture: Matrix) -> Matrix:
    """The mixture without negative entries, scaled to the sum 1."""
    positive = np.maximum(mixture, 0)
    share: Matrix = positive / positive.sum()
    return share


def regret_matching(payoffs: Matrix, iterations: int = 20_000, floor: float = 1e-4) -> Mixtures:
    """Averages of regret matching (Hart and Mas-Colell 2000); no weight is below `floor` / number of strategies."""
    regrets = [np.zeros(size) for size in payoffs.shape]
    sums = [np.zeros(size) for size in payoffs.shape]
    for _ in range(iterations):
        mixtures = [_match(r, floor) for r in regrets]
        for total, mixture in zip(sums, mixtures, strict=True):
            total += mixture
        gains = (payoffs @ mixtures[1], -(mixtures[0] @ payoffs))
        for regret, mixture, gain in zip(regrets, mixtures, gains, strict=True):
            regret += gain - mixture @ gain
    return normalise(sums[0]), normalise(sums[1])


def _match(regrets: Matrix, floor: float) -> Matrix:
    positive = np.maximum(regrets, 0)
    total = positive.sum()
    size = len(regrets)
    mixture = positive / total if total > 0 else np.full(size, 1 / size)
    raised: Matrix = (1 - floor) * mixture + floor / size
    return raised


def projected_replicator(
    payoffs: Matrix, iterations: int = 20_000, step: float = 1e-2, floor: float = 1e-6
) -> Mixtures:
    """Averages of projected replicator dynamics (Lanctot et al. 2017, section 3.2).

    Each step is ``x(a) <- x(a) + step x(a) (gain(a) - mean gain)``, projected to the mixtures without entries
    below `floor` / number of strategies.
    """
    mixtures = list(uniform(payoffs))
    sums = [np.zeros(size) for size in payoffs.shape]
    for _ in range(iterations):
        gains = (payoffs @ mixtures[1], -(mixtures[0] @ payoffs))
        for p, gain in enumerate(gains):
            x = mixtures[p]
            mixtures[p] = project(x + step * x * (gain - x @ gain), floor / len(x))
            sums[p] += mixtures[p]
    return normalise(sums[0]), normalise(sums[1])


def project(point: Matrix, floor: float) -> Matrix:
    """The nearest point whose entries are at least `floor` and sum to 1 (Duchi et al. 2008, figure 1)."""
    shared = 1 - floor * len(point)
    ordered = np.sort(point - floor)[::-1]
    excess = (np.cumsum(ordered) - shared) / np.arange(1, len(point) + 1)
    threshold = excess[np.flatnonzero(ordered > excess)[-1]]
    result: Matrix = np.maximum(point - floor - threshold, 0) + floor
    return result


META_SOLVERS: dict[str, Callable[[Matrix], Mixtures]] = {
    "uniform": uniform,
    "nash": nash,
    "regret-matching": regret_matching,
    "projected-replicator": projected_replicator,
}


Sparse = tuple[NDArray[np.int32], Floats]
"""The sequences of a plan with reach, and their reach."""


def _sparse(plan: Reach) -> Sparse:
    sequences = np.flatnonzero(plan.sequences).astype(np.int32)
    return sequences, plan.sequences[sequences]


class OracleSettings(LearnerSettings):
    """Settings of PSRO."""

    meta_solver: Literal["nash", "uniform", "projected-replicator", "regret-matching"] = Field(
        default="nash", description="The rule that mixes the populations."
    )

    @model_validator(mode="after")
    def _has_its_library(self) -> Self:
        if self.meta_solver == "nash":
            check_extra("learners", "The meta-solver nash")
        return self


Chosen = TypeVar("Chosen", bound=OracleSettings)


class PolicySpaceOracles(Learner[Chosen]):
    """PSRO with exact best responses; its strategies are the mixtures."""

    settings_model: ClassVar[type[LearnerSettings]] = OracleSettings
    source = "Lanctot et al. 2017, A unified game-theoretic approach to multiagent reinforcement learning"

    def start(self, game: LearningGame, settings: Chosen, seed: int) -> None:
        """Start with best responses to uniform play."""
        self.game, self.solve = game, META_SOLVERS[settings.meta_solver]
        self.populations: tuple[list[Sparse], list[Sparse]] = ([], [])
        self.payoffs = np.zeros((0, 0))

    def step(self, iterations: int) -> None:
        """Mix, compute best responses, and add them."""
        for _ in range(iterations):
            self.counts.iterations += 1
            responses = self._responses()
            self._add([self.game.reach(p, responses[p]) for p in (0, 1)])
            self.counts.gradients += 2
            self.counts.states += 2 * self.game.nodes

    def _responses(self) -> list[Floats]:
        """Both players' best responses to the other's mixture."""
        plans = self._mixed_plans()
        self.counts.gradients += 2
        self.counts.states += 2 * self.game.nodes
        return [self.game.best_response(p, plans[1 - p])[1] for p in (0, 1)]

    def _mixed_plans(self) -> tuple[Reach, Reach]:
        """Both players' mixtures as plans; before the first response, uniform play."""
        weights = self._mixed_sequences()
        return self.game.reach(0, weights[0]), self.game.reach(1, weights[1])

    def _mixed_sequences(self) -> tuple[Floats, Floats]:
        if not self.payoffs.size:
            return self.game.uniform(0), self.game.uniform(1)
        found = []
        for p, mixture in enumerate(self.solve(self.payoffs)):
            plan = self.game.zeros(p)
            for share, (sequences, reach) in zip(mixture, self.populations[p], strict=True):
                plan[sequences] += share * reach
            found.append(plan)
        return found[0], found[1]

    def _add(self, plans: list[Reach]) -> None:
        """Add plans and their payoffs to the populations, unless both players' plans are in them.

        For the meta-solver ``uniform`` a strategy that is added again counts twice.
        """
        sparse = [_sparse(plan) for plan in plans]
        if self.solve is not META_SOLVERS["uniform"] and all(
            any(np.array_equal(at, there) for there, _ in population)
            for (at, _), population in zip(sparse, self.populations, strict=True)
        ):
            return
        for population, newest in zip(self.populations, sparse, strict=True):
            population.append(newest)
        size = len(self.payoffs) + 1
        payoffs = np.zeros((size, size))
        payoffs[:-1, :-1] = self.payoffs
        payoffs[-1, :] = [-value for value in self._values(1, plans[0])]
        payoffs[:, -1] = self._values(0, plans[1])
        self.payoffs = payoffs

    def _values(self, player: int, opponent: Reach) -> list[float]:
        """The payoff of each strategy of a population against a plan."""
        constant, gradient = self.game.gradient(player, opponent)
        weights = self.game.weights[player]
        return [
            constant + float(np.dot((weights[at] * gradient[at]).astype(np.float64), reach))
            for at, reach in self.populations[player]
        ]

    def strategy(self) -> Pair:
        """The meta-solver's present mixtures."""
        return self.game.pair(self._mixed_sequences())

    def state(self) -> Arrays:
        """Populations, concatenated, and payoffs."""
        found: Arrays = {"payoffs": self.payoffs}
        for p, population in enumerate(self.populations):
            found[f"sizes/{p}"] = np.array([len(at) for at, _ in population], np.int64)
            found[f"sequences/{p}"] = np.concatenate([np.zeros(0, np.int32), *(at for at, _ in population)])
            found[f"reach/{p}"] = np.concatenate([self.game.zeros(p)[:0], *(reach for _, reach in population)])
        return found

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore populations and payoffs."""
        self.payoffs = state["payoffs"].copy()
        for p, population in enumerate(self.populations):
            ends = np.cumsum(state[f"sizes/{p}"])
            first, second = (np.split(state[f"{name}/{p}"].copy(), ends)[:-1] for name in ("sequences", "reach"))
            population[:] = list(zip(first, second, strict=True))
