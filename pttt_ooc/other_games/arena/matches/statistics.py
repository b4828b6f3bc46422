"""Statistics of games: tests, intervals, ratings.

A draw counts as half a win for both throughout.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.extras import extra
from pttt_ooc.other_games.arena.games.base import ArenaError

with extra("arena", "The arena's statistics"):
    import choix
    from scipy import stats
    from scipy.optimize import brentq
    from scipy.special import logsumexp
    from statsmodels.stats.proportion import proportion_confint


@dataclass(frozen=True)
class Rate:
    """How often the first of two agents wins.

    Attributes
    ----------
    wins, draws, losses
        Numbers of games.
    """

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """All games."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Wins and half the draws."""
        return self.wins + self.draws / 2

    @property
    def rate(self) -> float:
        """The score divided by the number of games."""
        return self.score / self.games

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% interval for the rate."""
        low, high = proportion_confint(self.score, self.games, method="wilson")
        return float(low), float(high)

    @property
    def log10_p(self) -> float:
        """The decimal logarithm of the two-tailed p-value of the exact binomial test for equally strong agents.

        The probability that ``|2 X - n| >= |2 score - n|`` for X from the binomial distribution (n, 1/2).  It is a
        logarithm because values of this test can be below the smallest double.
        """
        n, distance = self.games, abs(2 * self.score - self.games)
        if distance == 0:
            return 0.0
        tail = stats.binom.logpmf(np.arange(math.ceil((n + distance) / 2), n + 1), n, 0.5)
        return float(min(0.0, (logsumexp(tail) + math.log(2)) / math.log(10)))

    @property
    def p(self) -> float:
        """The p-value of the binomial test; zero where it is below the smallest double."""
        return float(10.0**self.log10_p)

    @property
    def chi_square(self) -> tuple[float, float]:
        """Pearson's statistic with one degree of freedom as a report computes it, and its p-value; no verdict uses it.

        As R's ``prop.test`` does it for the two agents' scores, each as one of two samples of all games, with the
        continuity correction of Yates.  This convention gives 0.098 and 0.7542 for 496 of 1000.  The samples are the
        same games, so that each counts twice: without draws the test rejects a true hypothesis in some 14% of cases,
        not 5%.
        """
        statistic = 2 * max(0.0, abs(2 * self.score - self.games) - 1) ** 2 / self.games
        return statistic, float(stats.chi2.sf(statistic, 1))

    def to_json(self) -> dict[str, Any]:
        """All figures."""
        statistic, equal = self.chi_square
        return {
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "rate": self.rate,
            "interval": list(self.interval),
            "log10_p": self.log10_p,
            "chi_square": statistic,
            "chi_square_p": equal,
        }


ELO = 400 / math.log(10)
"""Points of rating for a factor e in the odds."""


@dataclass(frozen=True)
class Ratings:
    """Strengths on the scale of Elo, with mean zero.

    Attributes
    ----------
    points
        The rating of each agent.
    errors
        Half the width of an interval of 95% around the mean of all agents.
    """

    points: NDArray[np.float64]
    errors: NDArray[np.float64]


def ratings(scores: NDArray[np.float64]) -> Ratings:
    """Strengths by the model of Bradley and Terry, from a round robin.

    Parameters
    ----------
    scores
        Shape (agents, agents): the score of each agent (row) against each other.

    Notes
    -----
    Half a draw is added to each pair that has met, for both, so that an agent that wins all its games has a finite
    rating.  The intervals come from the inverse of the observed information.

    Raises
    ------
    ArenaError
        The agents are not connected by games.
    """
    met = scores + scores.T > 0
    reached = np.linalg.matrix_power(np.eye(len(scores)) + met, len(scores))
    if not reached.all():
        raise ArenaError("Ratings need games that connect all agents.")
    counted = scores + 0.5 * met
    strengths = choix.ilsr_pairwise_dense(counted, max_iter=10_000)
    games = counted + counted.T
    chances = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    information = -games * chances * (1 - chances)
    np.fill_diagonal(information, 0)
    np.fill_diagonal(information, -information.sum(axis=1))
    errors = 1.96 * np.sqrt(np.diag(np.linalg.pinv(information)))
    return Ratings(ELO * (strengths - strengths.mean()), ELO * errors)


@dataclass(frozen=True)
class Sequential:
    """A sequential test whether an agent's advantage is `low` or `high`, over pairs of games with swapped sides.

    Attributes
    ----------
    low, high
        Expected scores of a game, such as 0.5 and 0.55.
    error
        The probability of each wrong answer.

    Notes
    -----
    The generalized sequential probability ratio test: the likelihoods are the largest ones among all distributions of a
    pair's score that have the mean `low` or `high`.  A pair has one of five scores, hence "pentanomial".  Games of a
    pair need not be independent.  M. Van den Bergh, *A practical introduction to the GSPRT* (2020).
    """

    low: float
    high: float
    error: float = 0.05

    @property
    def bound(self) -> float:
        """The log ratio, above or below zero, at which the test ends."""
        return math.log((1 - self.error) / self.error)

    def log_ratio(self, pairs: Sequence[int]) -> float:
        """The logarithm of the likelihood ratio.

        Parameters
        ----------
        pairs
            Five counts: of pairs with 0, 1/2, 1, 3/2 and 2 points.
        """
        counts = np.asarray(pairs, dtype=np.float64)
        if counts.sum() == 0:
            return 0.0
        counts = np.maximum(counts, 1e-3)  # no score counts as impossible
        scores = np.arange(5) / 4
        low, high = (_nearest(counts / counts.sum(), scores, mean) for mean in (self.low, self.high))
        return float((counts * np.log(high / low)).sum())

    def verdict(self, pairs: Sequence[int]) -> str | None:
        """``high``, ``low``, or None while the test goes on."""
        ratio = self.log_ratio(pairs)
        return "high" if ratio >= self.bound else "low" if ratio <= -self.bound else None


def _nearest(seen: NDArray[np.float64], scores: NDArray[np.float64], mean: float) -> NDArray[np.float64]:
    """The distribution with a given mean under which the observations are likeliest."""
    distance = scores - mean
    low, high = -1 / distance.max(), -1 / distance.min()
    margin = 1e-12 * (high - low)
    tilt = brentq(lambda t: (seen * distance / (1 + t * distance)).sum(), low + margin, high - margin)
    found: NDArray[np.float64] = seen / (1 + tilt * distance)
    return found


def rate_of(games: Sequence[dict[str, Any]]) -> Rate:
    """The results of a match's games for its first agent."""
    winners = [one["winner"] for one in games]
    return Rate(winners.count(0), winners.count(2), winners.count(1))


def pairs_of(games: Sequence[dict[str, Any]]) -> list[int]:
    """Counts of pairs by the first agent's score, of a match in which both start in turn."""
    points = {one["number"]: (2, 0, 1)[one["winner"]] for one in games}
    counts = [0] * 5
    for number, score in points.items():
        if number % 2 == 0 and number + 1 in points:
            counts[score + points[number + 1]] += 1
    return counts
