"""Meta-solvers: mixtures of two finite populations of strategies, from the matrix of their payoffs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.solving.linear_program import maximin

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
    room = 1 - floor * len(point)
    ordered = np.sort(point - floor)[::-1]
    excess = (np.cumsum(ordered) - room) / np.arange(1, len(point) + 1)
    threshold = excess[np.flatnonzero(ordered > excess)[-1]]
    result: Matrix = np.maximum(point - floor - threshold, 0) + floor
    return result


META_SOLVERS: dict[str, Callable[[Matrix], Mixtures]] = {
    "uniform": uniform,
    "nash": nash,
    "regret-matching": regret_matching,
    "projected-replicator": projected_replicator,
}
