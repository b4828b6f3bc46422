"""Regularised Nash dynamics (R-NaD), tabular, with exact values.

Rewards are changed: a player pays for the distance from a reference policy, and receives the opponent's payment:
``r - eta log(own policy / own reference) + eta log(opponent's policy / opponent's reference)``, which keeps the game
zero-sum.  Neural replicator dynamics (NeuRD) converge to the fixed point of the changed game, and its policy becomes
the next reference (Perolat et al. 2022, section "Learning approach", and the supplement: the reference moves from the
old one to the new one during the first half of a phase).

At an infoset, only later rewards matter.  The opponent's term needs sums over all the opponent's moves and not only
over winning ones, which :meth:`pttt_ooc.learners.learning_game.LearningGame.visits_of` gives.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import Field

from pttt_ooc.cfr.sweep.tree import Reach, Slice
from pttt_ooc.learners.exact import kernels
from pttt_ooc.learners.learner import LearnerSettings, PolicyLearner
from pttt_ooc.learners.learning_game import LearningGame


class RegularisedSettings(LearnerSettings):
    """Settings of R-NaD."""

    eta: float = Field(default=0.2, ge=0, le=100, description="Weight of the regularisation.")
    rate: float = Field(default=1.0, gt=0, le=1e3, description="Step size of the logits.")
    phase: int = Field(default=50, ge=1, le=10**6, description="Iterations with one reference.")
    bound: float = Field(default=20.0, gt=0, le=1e3, description="The greatest distance of logits from their mean.")


class RegularisedDynamics(PolicyLearner[RegularisedSettings]):
    """R-NaD with NeuRD updates; its strategies are the last iterate."""

    settings_model = RegularisedSettings
    saved = ("policies", "logits", "now", "before")
    source = "Perolat et al. 2022, Mastering the game of Stratego with model-free multiagent reinforcement learning"

    def start(self, game: LearningGame, settings: RegularisedSettings, seed: int) -> None:
        """Start with uniform play, which is also the first reference."""
        self.begin(game, settings)
        self.logits, self.now, self.before = ([game.zeros(p) for p in (0, 1)] for _ in range(3))
        for p in (0, 1):
            self._refer(p)
            self.before[p][:] = self.now[p]
        self._scaled = [game.reach(p, self.policies[p]) for p in (0, 1)]

    def _refer(self, player: int) -> None:
        """Make the policy the reference."""
        self.before[player][:] = self.now[player]
        self.now[player][:] = np.log(np.maximum(self.policies[player], np.finfo(self.game.dtype).tiny))

    def step(self, iterations: int) -> None:
        """Make steps of both players against each other's last policies."""
        for _ in range(iterations):
            self.counts.iterations += 1
            blend = self._blend()
            opponents = [self._with_log_ratio(p, blend) for p in (0, 1)]
            for p in (0, 1):
                self._update(p, opponents[1 - p], blend)
            for p in (0, 1):
                self.game.reach(p, self.policies[p], self.reaches[p])
                if self.counts.iterations % self.settings.phase == 0:
                    self._refer(p)
            self.counts.gradients += 2
            self.counts.states += 2 * self.game.nodes

    def _blend(self) -> Any:
        done = (self.counts.iterations - 1) % self.settings.phase
        return self.game.scalar(min(1.0, 2 * done / self.settings.phase))

    def _update(self, player: int, opponent: Reach, blend: Any) -> None:
        game, visits = self.game, self.policies[player][:0]
        settings = self.settings
        sizes = tuple(game.scalar(size) for size in (settings.eta, settings.rate, settings.bound))

        def look(n: int, part: Slice) -> None:
            nonlocal visits
            found = game.visits_of(player, n, opponent)
            visits = found.sequences
            part.nodes[:] -= sizes[0] * found.nodes

        def arguments(part: slice, nodes: slice) -> tuple[Any, ...]:
            policy = kernels.Policy(self.policies[player][part], self.logits[player][part])
            return (visits, policy, self._reference(player, part, blend), sizes)

        game.upward(player, self.reaches[1 - player], kernels.replicator, arguments, look)

    def _reference(self, player: int, part: slice, blend: Any) -> kernels.Reference:
        return kernels.Reference(self.now[player][part], self.before[player][part], blend)

    def _with_log_ratio(self, player: int, blend: Any) -> Reach:
        """A player's plan, with sequences multiplied by the logarithm of policy over reference."""
        plan, scaled = self.reaches[player], self._scaled[player]
        for mine, theirs in zip(scaled, plan, strict=True):
            mine[:] = theirs

        def arguments(part: slice) -> tuple[Any, ...]:
            reference = self._reference(player, part, blend)
            return (part.start, self.policies[player][part], reference, scaled.sequences[part])

        self.game.run(player, kernels.log_ratio, arguments)
        return scaled
