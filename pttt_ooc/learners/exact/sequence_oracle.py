"""Double oracle over sequences: best responses enlarge a restricted game, while regret matching solves it.

In the restricted game each player has some *allowed* actions at each infoset, and plays uniformly where none is
allowed.  At the beginning, these are best responses to uniform play.  CFR+ (Tammelin 2014) with alternating updates and
linear averages runs in the restricted game.  After some iterations, the whole game's best responses to the average and
to the current pair are computed, and their actions are allowed where they have reach.  As long as they add nothing,
they are computed less often.

The paper solves each restricted game before it enlarges it (Bosansky et al. 2014, section 4; with a schedule of
accuracies McAleer et al. 2021, XDO), as :mod:`.double_oracle` does in the end.  Here regrets and averages carry over
(as in the online double oracle of Dinh et al. 2022).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import Field

from pttt_ooc.learners.exact import kernels
from pttt_ooc.learners.learner import Arrays, LearnerSettings, Pair, PolicyLearner
from pttt_ooc.learners.learning_game import LearningGame


class SequenceOracleSettings(LearnerSettings):
    """Settings of the double oracle over sequences."""

    growth: float = Field(
        default=1.5, gt=1, le=10, description="Factor of iterations between two computations of best responses."
    )


class SequenceFormOracle(PolicyLearner[SequenceOracleSettings]):
    """Double oracle over sequences; its strategies are averages of CFR+ in the restricted game."""

    settings_model = SequenceOracleSettings
    saved = ("allowed", "regrets", "sums", "policies")
    source = "Bosansky et al. 2014, An exact double-oracle algorithm for zero-sum extensive-form games"

    def start(self, game: LearningGame, settings: SequenceOracleSettings, seed: int) -> None:
        """Allow the actions of best responses to uniform play."""
        self.begin(game, settings)
        self.allowed = [np.zeros(i.sequences, np.uint8) for i in game.players]
        self.regrets = [game.zeros(p) for p in (0, 1)]
        self.sums = [game.zeros(p) for p in (0, 1)]
        self.age = np.zeros(1, np.int64)  # iterations since the game grew
        self._allow([game.best_response(p, self.reaches[1 - p])[1] for p in (0, 1)])

    def step(self, iterations: int) -> None:
        """Make iterations of CFR+, and compute best responses when due."""
        for _ in range(iterations):
            self.counts.iterations += 1
            self.age += 1
            for p in (0, 1):
                self._update(p)
            self.counts.gradients += 2
            if self.age[0] in self._looks():
                self._grow()
                self.counts.gradients += 4
            self.counts.states = self.counts.gradients * self.game.nodes

    def _looks(self) -> set[int]:
        """Ages at which responses are computed, up to the present one."""
        age, found = 1, set()
        while age <= self.age[0]:
            found.add(age)
            age = max(age + 1, int(age * self.settings.growth))
        return found

    def _update(self, player: int) -> None:
        def arguments(part: slice, nodes: slice) -> tuple[Any, ...]:
            return (self.allowed[player][part], self.regrets[player][part], self.policies[player][part])

        self.game.upward(player, self.reaches[1 - player], kernels.restricted_regrets, arguments)
        self.game.reach(player, self.policies[player], self.reaches[player])
        newest = self.reaches[player].sequences
        self.sums[player] += self.game.scalar(float(self.counts.iterations)) * newest

    def _grow(self) -> None:
        """Allow the actions of best responses to the averages and to the current pair."""
        averages = [self.game.reach(p, self.sums[p]) for p in (0, 1)]
        some = False
        for plans in (averages, self.reaches):
            some |= self._allow([self.game.best_response(p, plans[1 - p])[1] for p in (0, 1)])
        if some:
            self.age[:] = 0

    def _allow(self, behaviours: list[Any]) -> bool:
        """Allow the actions of strategies where they have reach; return whether any action is new."""
        some = False
        for p, behaviour in enumerate(behaviours):
            comes = self.game.reach(p, behaviour).sequences > 0
            some |= bool((comes & (self.allowed[p] == 0)).any())
            self.allowed[p][comes] = 1
        return some

    def strategy(self) -> Pair:
        """The averages, or uniform play before the first iteration."""
        return self.game.pair(self.sums if self.counts.iterations else [reach.sequences for reach in self.reaches])

    def state(self) -> Arrays:
        """The restricted game, regrets, sums of plans, policies."""
        return {"age": self.age, **super().state()}
