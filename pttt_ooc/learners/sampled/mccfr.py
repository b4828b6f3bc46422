"""Monte Carlo counterfactual regret minimisation (MCCFR), tabular, on symmetric representatives.

One iteration is a traversal for each player.  It estimates regrets of the visited infosets; strategies follow from
their sums by regret matching.  The average strategy approaches an equilibrium.

- :class:`ExternalSampling` follows all own actions, and one action at each of the opponent's infosets.
- :class:`OutcomeSampling` plays a single game.  With a ``baseline_rate``, learned expected values replace the values of
  actions that were not played (VR-MCCFR).  Estimates of regrets have no bias in either case.
- :class:`FixedSampling` also plays a single game.  Own actions are uniform, so that nothing is divided by chances
  (ESCHER).  Regrets are as accurate as the learned expected values.

Variants: ``plus`` cuts sums of regrets off at zero, and ``power`` p gives iteration t the weight t^p in both sums
(1: linear).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pttt_ooc.learners.learner import Arrays, Learner, LearnerSettings, Pair
from pttt_ooc.learners.learning_game import LearningGame
from pttt_ooc.learners.sampled import traversals
from pttt_ooc.learners.sampled.state_machine import random_state, rules_of
from pttt_ooc.learners.sampled.traversals import Options, Tables


class SamplingSettings(LearnerSettings):
    """Settings of all three."""

    power: float = Field(default=0.0, ge=0, le=10, description="Iteration t weighs t^power; 1: linear.")
    plus: bool = Field(default=False, description="Whether sums of regrets are never negative.")


Chosen = TypeVar("Chosen", bound=SamplingSettings)


class MonteCarlo(Learner[Chosen]):
    """The base class of all three: the tables and the average strategy."""

    iterate: ClassVar[Callable[..., None]]
    """The kernel that makes iterations."""
    with_baselines = False

    def start(self, game: LearningGame, settings: Chosen, seed: int) -> None:
        """Start with uniform play."""
        self.game, self.settings = game, settings
        self.rules = rules_of(game.index)
        self.random, self.scratch = random_state(seed), traversals.scratch_of(game.index.game.squares)  # type: ignore[no-untyped-call]
        sizes = [i.sequences for i in game.players]
        regrets, sums = (np.zeros(sum(sizes)) for _ in range(2))
        baselines = np.zeros(sum(sizes) if self.with_baselines else 0, np.float32)
        self.tables = Tables(regrets, sums, baselines, sizes[0])

    def step(self, iterations: int) -> None:
        """Make iterations, each with a traversal for each player."""
        counted = np.zeros(1, np.int64)
        begun, last = self.counts.iterations, (self._options(), self.random, counted)
        self.iterate(self.rules, self.tables, self.scratch, begun, iterations, *last)
        self.counts.iterations += iterations
        self.counts.states += int(counted[0])

    def _options(self, explored: float = 0.0, rate: float = 0.0) -> Options:
        return Options(self.settings.power, self.settings.plus, explored, rate)

    def _parts(self, numbers: NDArray[Any]) -> list[NDArray[Any]]:
        return [numbers[: self.tables.second], numbers[self.tables.second :]]

    def _read(self, numbers: NDArray[Any]) -> Pair:
        """The pair that plays in proportion to numbers for both players' sequences.

        In a view that is symmetric itself, histories that mirror each other may reach one node or several.  So the
        numbers of these nodes are averaged before they become probabilities.
        """
        together = [part.copy() for part in self._parts(numbers)]
        for p, part in enumerate(together):
            self.game.symmetrise(p, part)
        return self.game.pair(together)

    def strategy(self) -> Pair:
        """The average."""
        return self._read(self.tables.sums)

    def last(self) -> Pair:
        """The pair by regret matching on the present regrets."""
        return self._read(np.maximum(self.tables.regrets, 0))

    def state(self) -> Arrays:
        """The tables and the state of the random numbers."""
        found: Arrays = {"regrets": self.tables.regrets, "sums": self.tables.sums, "random": self.random}
        return {**found, "baselines": self.tables.baselines} if self.with_baselines else found


class ExternalSampling(MonteCarlo[SamplingSettings]):
    """MCCFR by external sampling."""

    settings_model = SamplingSettings
    source = "Lanctot et al. 2009, Monte Carlo sampling for regret minimization in extensive games"
    iterate = staticmethod(traversals.external_iterations)


class OutcomeSettings(SamplingSettings):
    """Settings of outcome sampling."""

    epsilon: float = Field(default=0.6, gt=0, le=1, description="The uniform part of own draws.")


class OutcomeSampling(MonteCarlo[OutcomeSettings]):
    """MCCFR by outcome sampling."""

    settings_model = OutcomeSettings
    source = ExternalSampling.source

    iterate = staticmethod(traversals.outcome_iterations)

    def _options(self, explored: float = 0.0, rate: float = 0.0) -> Options:
        return super()._options(self.settings.epsilon, rate)


class BaselineSettings(OutcomeSettings):
    """Settings of outcome sampling with baselines."""

    baseline_rate: float = Field(default=0.5, gt=0, le=1, description="The rate at which baselines follow.")


class BaselineSampling(OutcomeSampling):
    """MCCFR by outcome sampling with learned baselines (VR-MCCFR)."""

    settings_model = BaselineSettings
    source = "Schmid et al. 2019, Variance reduction in Monte Carlo counterfactual regret minimization (VR-MCCFR)"
    with_baselines = True

    def _options(self, explored: float = 0.0, rate: float = 0.0) -> Options:
        assert isinstance(self.settings, BaselineSettings)
        return super()._options(rate=self.settings.baseline_rate)


class FixedSettings(SamplingSettings):
    """Settings of ESCHER."""

    value_rate: float = Field(default=0.5, gt=0, le=1, description="The rate at which expected values follow.")


class FixedSampling(MonteCarlo[FixedSettings]):
    """ESCHER with tables: a fixed sampling policy, and learned values."""

    settings_model = FixedSettings
    source = "McAleer et al. 2023, ESCHER: eschewing importance sampling in games by computing a history value function"
    iterate = staticmethod(traversals.fixed_iterations)
    with_baselines = True

    def _options(self, explored: float = 0.0, rate: float = 0.0) -> Options:
        return super()._options(rate=self.settings.value_rate)
