"""Double oracle over sequences: a restricted game grows by best responses, and regret matching solves it.

In the restricted game each player has some *allowed* actions at each infoset; where it has none, it plays uniformly.
The game begins with best responses to uniform play.  It is solved by CFR+ (Tammelin 2014) with alternating updates and
linear averages.  From time to time both gaps of the average are computed: the one between best responses within the
restricted game, and the one in the whole game.  When the first is at most `share` of the second, what the whole game's
best responses do where they come is allowed too, and a new average begins; regrets stay.  (Bosansky et al. 2014,
section 4, where the restricted game is solved exactly; McAleer et al. 2021, XDO, where the accuracy is a schedule.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pttt_ooc.learners.exact import kernels
from pttt_ooc.learners.ground import Ground
from pttt_ooc.learners.learner import Arrays, Learner, Pair, Settings
from pttt_ooc.sweep.tree import Reach


class SequenceOracleSettings(Settings):
    """Settings of the double oracle over sequences."""

    share: float = Field(default=0.5, gt=0, le=1, description="The restricted game grows when its gap is this share.")
    growth: float = Field(default=1.5, gt=1, le=10, description="Factor of iterations between two looks at the gaps.")


class SequenceFormOracle(Learner[SequenceOracleSettings]):
    """Double oracle over sequences; its strategies are averages of CFR+ in the restricted game."""

    settings_model = SequenceOracleSettings
    source = "Bosansky et al. 2014, An exact double-oracle algorithm for zero-sum extensive-form games"

    def start(self, ground: Ground, settings: SequenceOracleSettings, seed: int) -> None:
        """Allow what best responses to uniform play do."""
        self.ground, self.settings = ground, settings
        self.allowed = [np.zeros(i.sequences, np.uint8) for i in ground.players]
        self.regrets = [ground.zeros(p) for p in (0, 1)]
        self.sums = [ground.zeros(p) for p in (0, 1)]
        self.policies = [ground.uniform(p) for p in (0, 1)]
        self.age = np.zeros(1, np.int64)  # iterations since the game has grown
        self.reaches = [ground.reach(p, self.policies[p]) for p in (0, 1)]
        self._allow([ground.best_response(p, self.reaches[1 - p])[1] for p in (0, 1)])

    def step(self, iterations: int) -> None:
        """An iteration of CFR+, and a look at the gaps where one is due."""
        for _ in range(iterations):
            self.counts.iterations += 1
            self.age += 1
            for p in (0, 1):
                self._update(p)
            self.counts.gradients += 2
            if self.age[0] in self._looks():
                self._grow()
                self.counts.gradients += 4
            self.counts.states = self.counts.gradients * self.ground.nodes

    def _looks(self) -> set[int]:
        """Ages at which the gaps are computed, up to the present one."""
        age, found = 1, set()
        while age <= self.age[0]:
            found.add(age)
            age = max(age + 1, int(age * self.settings.growth))
        return found

    def _update(self, player: int) -> None:
        def arguments(part: slice, nodes: slice) -> tuple[Any, ...]:
            return (self.allowed[player][part], self.regrets[player][part], self.policies[player][part])

        self.ground.upward(player, self.reaches[1 - player], kernels.restricted_regrets, arguments)
        self.ground.reach(player, self.policies[player], self.reaches[player])
        newest = self.reaches[player].sequences
        self.sums[player] += self.ground.scalar(float(self.age[0])) * newest

    def _grow(self) -> None:
        """Allow more, if the restricted game is solved well enough."""
        averages = [self.ground.reach(p, self.sums[p]) for p in (0, 1)]
        responses = [self.ground.best_response(p, averages[1 - p]) for p in (0, 1)]
        inside = sum(self._restricted_value(p, averages[1 - p]) for p in (0, 1))
        if inside <= self.settings.share * sum(value for value, _ in responses) and self._allow(
            [behaviour for _, behaviour in responses]
        ):
            self.age[:] = 0
            for total in self.sums:
                total[:] = 0

    def _restricted_value(self, player: int, opponent: Reach) -> float:
        """What a best response within the restricted game gets."""
        return self.ground.upward(
            player, opponent, kernels.restricted_best, lambda part, nodes: (self.allowed[player][part],)
        )

    def _allow(self, behaviours: list[Any]) -> bool:
        """Allow what strategies do where they come; return whether any of it is new."""
        some = False
        for p, behaviour in enumerate(behaviours):
            comes = self.ground.reach(p, behaviour).sequences > 0
            some |= bool((comes & (self.allowed[p] == 0)).any())
            self.allowed[p][comes] = 1
        return some

    def strategy(self) -> Pair:
        """The averages, or the current pair where the game has just grown."""
        weights = self.sums if self.age[0] else [reach.sequences for reach in self.reaches]
        first, second = (self.ground.strategy(p, weights[p]) for p in (0, 1))
        return first, second

    def state(self) -> Arrays:
        """The restricted game, regrets, sums of plans, policies."""
        named: dict[str, list[NDArray[Any]]] = {
            "allowed": self.allowed,
            "regrets": self.regrets,
            "sums": self.sums,
            "policies": self.policies,
        }
        return {"age": self.age, **{f"{name}/{p}": pair[p] for name, pair in named.items() for p in (0, 1)}}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take them."""
        for name, array in self.state().items():
            array[:] = state[name]
        for p in (0, 1):
            self.ground.reach(p, self.policies[p], self.reaches[p])
