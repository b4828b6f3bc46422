"""Fictitious play in extensive form (XFP): average best responses to the opponent's average.

The realization plan of the best response ``b`` is mixed into the average (Heinrich, Lanctot and Silver 2015, theorem
7)::

    average plan of t  =  (1 - w) average plan of t - 1  +  w plan of b
    w = t^power / (1 + 2^power + ... + t^power)

The paper has ``power`` 0, so ``w = 1 / t``.  Larger powers forget early responses sooner.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pttt_ooc.learners.learner import Arrays, Learner, LearnerSettings, Pair
from pttt_ooc.learners.learning_game import LearningGame


class FictitiousSettings(LearnerSettings):
    """Settings of fictitious play."""

    power: float = Field(default=0.0, ge=0, le=100, description="Response t weighs t^power in the average.")
    updates: Literal["simultaneous", "alternating"] = Field(
        default="simultaneous",
        description="alternating: player 1 responds to player 0's new average; simultaneous: to the old one.",
    )


class FictitiousPlay(Learner[FictitiousSettings]):
    """Fictitious play in extensive form."""

    settings_model = FictitiousSettings
    source = "Heinrich, Lanctot and Silver 2015, Fictitious self-play in extensive-form games"

    def start(self, game: LearningGame, settings: FictitiousSettings, seed: int) -> None:
        """Start with uniform play."""
        self.game, self.settings = game, settings
        self.total = 0.0
        self.plans = [game.reach(p, game.uniform(p)) for p in (0, 1)]

    def step(self, iterations: int) -> None:
        """Mix best responses into the averages."""
        for _ in range(iterations):
            self.counts.iterations += 1
            newest = float(self.counts.iterations**self.settings.power)
            self.total += newest
            weight = self.game.scalar(newest / self.total)
            for players in ((0,), (1,)) if self.settings.updates == "alternating" else ((0, 1),):
                responses = [self.game.best_response(p, self.plans[1 - p])[1] for p in players]
                for p, behaviour in zip(players, responses, strict=True):
                    self._mix(p, self.game.reach(p, behaviour), weight)
            self.counts.gradients += 2
            self.counts.states += 2 * self.game.nodes

    def _mix(self, player: int, response: Any, weight: Any) -> None:
        plan = self.plans[player]
        for mine, theirs in ((plan.sequences, response.sequences), (plan.nodes, response.nodes)):
            mine *= 1 - weight
            theirs *= weight
            mine += theirs
        np.logical_or(plan.view_is_reached, response.view_is_reached, out=plan.view_is_reached)

    def strategy(self) -> Pair:
        """The average."""
        return self.game.pair([plan.sequences for plan in self.plans])

    def state(self) -> Arrays:
        """Both average plans."""
        found: Arrays = {"total": np.array([self.total])}
        for p in (0, 1):
            found |= {f"{name}/{p}": array for name, array in self.plans[p]._asdict().items()}
        return found

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore both average plans."""
        self.total = float(state["total"][0])
        for p in (0, 1):
            for name, array in self.plans[p]._asdict().items():
                array[:] = state[f"{name}/{p}"]
