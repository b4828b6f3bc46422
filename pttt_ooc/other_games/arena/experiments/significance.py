"""Tests of claims about matches and trainings, each of its stated size.

The unit is what is independent of the rest: a pair of games with swapped sides and the same seeds, a single game where
nothing is paired, and a whole training for a learner.  A draw is half a win for both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.extras import extra
from pttt_ooc.other_games.arena.matches.statistics import Rate

with extra("arena", "The arena's statistics"):
    from scipy import stats
    from statsmodels.stats.proportion import proportion_confint

SIZE = 0.05
"""The size of all tests: the largest probability that a test rejects a true hypothesis."""

POWER = 0.8
"""How often a test finds the effect that :attr:`Units.detectable` names."""

MARGIN = 0.05
"""Scores of 45% to 55% count as equally strong, unless a claim says otherwise."""


def told_detectable(distance: float) -> str:
    """What a match could have found, from :attr:`Units.detectable`; a score is at most 50 points from 1/2."""
    if distance > 0.5:
        return "so few could have found no difference of less than 50 points"
    return f"{100 * distance:.1f} points could have been found"


@dataclass(frozen=True)
class Units:
    """The scores of a match's units.

    Attributes
    ----------
    counts
        Numbers of units by their score, which is 0, 1/(k - 1), ..., 1 for k counts: three for single games, five for
        pairs of games with swapped sides.
    draws
        The share of all games that are draws.
    """

    counts: tuple[int, ...]
    draws: float

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Units:
        """The units of a match: its pairs, if all its games are paired, else its games.

        Parameters
        ----------
        facts
            With ``wins``, ``draws`` and ``losses``, and perhaps ``pairs``: five counts by the first agent's points.
        """
        rate = Rate(facts["wins"], facts["draws"], facts["losses"])
        pairs = facts.get("pairs")
        if pairs is None or 2 * sum(pairs) != rate.games:
            pairs = (rate.losses, rate.draws, rate.wins)
        return cls(tuple(pairs), rate.draws / rate.games)

    @property
    def number(self) -> int:
        """The number of units."""
        return sum(self.counts)

    @property
    def games(self) -> int:
        """Games in a unit."""
        return (len(self.counts) - 1) // 2

    @property
    def scores(self) -> NDArray[np.float64]:
        """The possible scores of a unit, from 0 to 1."""
        return np.linspace(0, 1, len(self.counts))

    @property
    def rate(self) -> float:
        """The mean score."""
        return float(np.dot(self.counts, self.scores) / self.number)

    @property
    def spread(self) -> float:
        """The variance of a unit's score, divided by that of a single game without draws.

        One divided by the number of units is added, so that the variance is not zero where all units are the same.
        """
        rate = self.rate
        if rate in (0, 1):
            return 1.0
        variance = np.dot(self.counts, (self.scores - rate) ** 2) / self.number
        return float(variance / (rate * (1 - rate))) + 1 / self.number

    @property
    def error(self) -> float:
        """The standard error of the rate."""
        return math.sqrt(self.rate * (1 - self.rate) * self.spread / self.number)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% interval for the rate, for the number of games without draws that gives the same variance."""
        effective = self.number / self.spread
        low, high = proportion_confint(self.rate * effective, effective, method="wilson")
        return float(low), float(high)

    @property
    def detectable(self) -> float:
        """The least distance from 1/2 that this many units detect in four of five matches.

        A value above 1/2 says that there are too few units.
        """
        factor = stats.norm.ppf(1 - SIZE / 2) + stats.norm.ppf(POWER)
        return float(factor * math.sqrt(0.25 * self.spread / self.number))

    @property
    def log10_p(self) -> float:
        """The decimal logarithm of the two-tailed p-value of the exact test for equally strong agents.

        If they are, the scores s and 1 - s of a unit are equally likely.  Given how many units lie at each distance
        from 1/2, the sum of their signs therefore has a known distribution, and the p-value is the probability of a sum
        that is at least as far from zero.  For single games this is the sign test of wins against losses (the trinomial
        test, given the draws).  R. A. Fisher, *The Design of Experiments* (1935), section 21.
        """
        half = len(self.counts) // 2
        distances = [step for step in range(1, half + 1) if self.counts[half + step] + self.counts[half - step]]
        seen = abs(sum(step * (self.counts[half + step] - self.counts[half - step]) for step in distances))
        if seen == 0:
            return 0.0
        sums, logs = np.zeros(1, dtype=np.int64), np.zeros(1)
        for step in distances:
            number = self.counts[half + step] + self.counts[half - step]
            ups = np.arange(number + 1)
            more = stats.binom.logpmf(ups, number, 0.5)
            sums, logs = _convolve(sums, logs, step * (2 * ups - number), more)
        tail = logs[sums >= seen]
        return min(0.0, (float(np.logaddexp.reduce(tail)) + math.log(2)) / math.log(10))

    def equivalence_p(self, margin: float = MARGIN) -> float:
        """The p-value for a score outside of ``1/2 - margin`` to ``1/2 + margin``: small if it lies inside.

        Two one-sided tests by Student's t.  D. J. Schuirmann, *A comparison of the two one-sided tests procedure and
        the power approach* (1987).
        """
        return max(self.above_p(0.5 - margin), self.below_p(0.5 + margin))

    def above_p(self, bound: float) -> float:
        """The p-value for a score of at most `bound`: small if it is above."""
        return self._tail(self.rate - bound)

    def below_p(self, bound: float) -> float:
        """The p-value for a score of at least `bound`: small if it is below."""
        return self._tail(bound - self.rate)

    def _tail(self, distance: float) -> float:
        if self.error == 0:  # all units won, or all lost
            return 0.0 if distance > 0 else 1.0
        return float(stats.t.sf(distance / self.error, self.number - 1))

    def differs_p(self, rate: float, games: int) -> float:
        """The p-value for a published rate being from a match of the same agents.

        The score test with a pooled rate.  The published rate comes without draws: they are taken to be as frequent as
        here.  Both samples are independent.
        """
        units = self.number
        pooled = (self.rate * units * self.games + rate * games) / (units * self.games + games)
        if pooled in (0, 1):
            return 1.0
        mine = self.rate * (1 - self.rate)
        single = max(1 - self.draws / (4 * mine), 1 / games) if mine else 1.0  # a game's variance, as in `spread`
        error = math.sqrt(pooled * (1 - pooled) * (self.spread / units + single / games))
        return float(2 * stats.norm.sf(abs(self.rate - rate) / error))


def _convolve(
    sums: NDArray[np.int64], logs: NDArray[np.float64], steps: NDArray[np.int64], more: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The distribution of the sum of two independent numbers, as logarithms."""
    if len(sums) == 1:
        return sums[0] + steps, logs[0] + more
    low, high = int(sums[0] + steps[0]), int(sums[-1] + steps[-1])
    found = np.full(high - low + 1, -np.inf)
    for step, chance in zip(steps, more, strict=True):
        places = sums + step - low
        found[places] = np.logaddexp(found[places], logs + chance)
    return np.arange(low, high + 1), found


def holm(logs: Sequence[float]) -> list[float]:
    """Logarithms of p-values, corrected for their number so that the chance of any wrong rejection is at most the size.

    S. Holm, *A simple sequentially rejective multiple test procedure* (1979).
    """
    corrected, largest = [0.0] * len(logs), -math.inf
    for place, number in enumerate(sorted(range(len(logs)), key=lambda n: logs[n])):
        largest = max(largest, logs[number] + math.log10(len(logs) - place))
        corrected[number] = min(0.0, largest)
    return corrected


@dataclass(frozen=True)
class Mean:
    """The mean over trainings with different seeds.

    Attributes
    ----------
    values
        One value for each training.
    """

    values: tuple[float, ...]

    @property
    def number(self) -> int:
        """The number of trainings."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """The mean."""
        return float(np.mean(self.values))

    @property
    def rate(self) -> float:
        """The mean, if the values are scores."""
        return self.mean

    @property
    def deviation(self) -> float:
        """The standard deviation of one training; NaN for a single one."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval for the mean, by Student's t."""
        number = len(self.values)
        if number < 2:
            return math.nan, math.nan
        half = float(stats.t.ppf(1 - SIZE / 2, number - 1)) * self.deviation / math.sqrt(number)
        return self.mean - half, self.mean + half

    @property
    def prediction(self) -> tuple[float, float]:
        """The 95% prediction interval for one more training, with which a published single training is compared."""
        number = len(self.values)
        if number < 2:
            return math.nan, math.nan
        half = float(stats.t.ppf(1 - SIZE / 2, number - 1)) * self.deviation * math.sqrt(1 + 1 / number)
        return self.mean - half, self.mean + half

    @property
    def detectable(self) -> float:
        """The least distance from 1/2 that this many trainings detect in about four of five cases."""
        factor = stats.t.ppf(1 - SIZE / 2, self.number - 1) + stats.t.ppf(POWER, self.number - 1)
        return float(factor * self.deviation / math.sqrt(self.number))

    @property
    def log10_p(self) -> float:
        """The decimal logarithm of the two-tailed p-value for a mean of 1/2, by Student's t."""
        return self._log(abs(self.mean - 0.5) * math.sqrt(self.number))

    def differs_p(self, value: float, games: int = 0) -> float:
        """The p-value for a published training being one of these, by Student's t; `games` is unused."""
        return float(10 ** self._log(abs(self.mean - value) / math.sqrt(1 + 1 / self.number)))

    def _log(self, distance: float) -> float:
        if self.deviation == 0:
            return -math.inf if distance else 0.0
        return (math.log(2) + float(stats.t.logsf(distance / self.deviation, self.number - 1))) / math.log(10)
