"""Averages of strategies, by reach: realization plans are averaged, not probabilities."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike

from pttt_ooc.errors import ConfigError
from pttt_ooc.library.eas.treeplex import Floats, Treeplex


class AveragingStrategy(IntEnum):
    """How much each strategy of a series counts.

    ``UNIFORM``: equally. ``LINEAR``: the t-th in proportion to t. ``QUADRATIC``: to t squared. ``EXPERIMENTAL``: to
    t^3 (t^2 - 1), so that the first does not count. ``LAST``: only the last one. ``CUSTOM``: by a given weight.
    """

    UNIFORM = 0
    LINEAR = 1
    QUADRATIC = 2
    EXPERIMENTAL = 3
    LAST = 4
    CUSTOM = 5

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def share(self, t: int) -> float:
        """The share of the t-th strategy, counted from 1, in the average of the first t."""
        return {
            AveragingStrategy.UNIFORM: 1 / t,
            AveragingStrategy.LINEAR: 2 / (t + 1),
            AveragingStrategy.QUADRATIC: 6 * t / ((t + 1) * (2 * t + 1)),
            AveragingStrategy.EXPERIMENTAL: 6 * t / ((t + 1) * (t + 2)),
            AveragingStrategy.LAST: 1.0,
        }[self]


class Averager:
    """The average of a series of strategies of one player; a traverser makes it.

    Examples
    --------
    >>> from pttt_ooc.library import eas
    >>> traverser = eas.CornerDhTraverser()
    >>> averager = traverser.new_averager(0, eas.AveragingStrategy.CUSTOM)
    >>> uniform, _ = traverser.construct_uniform_strategies()
    >>> first = (uniform > 0) & ((uniform > 0).cumsum(axis=1) == 1)
    >>> averager.push(uniform, 3)
    >>> averager.push(first, 1)
    >>> averager.running_avg()[0].round(3).tolist()
    [0.0, 0.357, 0.107, 0.107, 0.107, 0.107, 0.107, 0.107, 0.0]
    """

    def __init__(self, treeplex: Treeplex, averaging: AveragingStrategy) -> None:
        self._treeplex, self._averaging = treeplex, averaging
        self._plan: Floats | None = None
        self._count, self._weight = 0, 0.0

    def push(self, strategy: ArrayLike, weight: float | None = None) -> None:
        """Add the next strategy: shape (rows, 9).

        Parameters
        ----------
        weight
            With ``CUSTOM``, how much it counts, at least 0; otherwise None.

        Raises
        ------
        ConfigError
            If a weight is given without ``CUSTOM`` or missing with it, or is negative or not finite.
        StrategyError
            If the array is not a strategy.
        """
        if self._averaging != AveragingStrategy.CUSTOM:
            if weight is not None:
                raise ConfigError(f"Averaging is {self._averaging.name.lower()}, which takes no weight; leave it out.")
        elif weight is None or not 0 <= weight < np.inf:
            raise ConfigError(f"Averaging is custom, which takes a weight of at least 0, not {weight!r}.")
        if weight != 0:
            self.push_probabilities(self._treeplex.read(strategy), weight)

    def push_probabilities(self, probabilities: Floats, weight: float | None = None) -> None:
        """Add the next strategy: float64, shape (sequences,)."""
        if weight is None:
            share = self._averaging.share(self._count + 1)
        else:
            self._weight += weight
            share = weight / self._weight
        self._count += 1
        plan = np.asarray(self._treeplex.plan(probabilities).sequences, np.float64)
        if self._plan is None:
            self._plan = plan
            return
        self._plan *= 1 - share
        plan *= share
        self._plan += plan

    def running_avg(self) -> Floats:
        """The average so far: float64, shape (rows, 9), uniform at infosets that no strategy reaches.

        Raises
        ------
        ConfigError
            If there is nothing to average.
        """
        if self._plan is None:
            raise ConfigError("There is no average yet: no strategy with a weight above 0 has been pushed.")
        return self._treeplex.array(self._treeplex.behaviour(self._plan))

    def clear(self) -> None:
        """Forget all strategies."""
        self._plan = None
        self._count, self._weight = 0, 0.0
