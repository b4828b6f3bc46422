"""Magnetic mirror descent (MMD), with exact gradients; its last iterate converges.

A step of size eta ascends the gradient, with penalties for the divergence from the last policy and, with the strength
alpha, from a *magnet* (Sokota et al. 2023, equation 2).  With fixed alpha and a fixed magnet, it converges to a quantal
response equilibrium.  The three learners differ in how they approach a Nash equilibrium:

- :class:`AnnealedMirror`: a step at each infoset separately, with values ``Q`` of actions if the infoset is reached.
  The magnet is uniform, and alpha and eta fall with the square root of the iteration.
- :class:`MagnetMirror`: the same with constant alpha and eta.  The magnet slowly follows the policy.
- :class:`DilatedMirror`: over realization plans, with dilated entropy.  The magnet is uniform, and alpha falls.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pttt_ooc.cfr.sweep.tree import Slice
from pttt_ooc.learners.exact import kernels
from pttt_ooc.learners.learner import LearnerSettings, PolicyLearner
from pttt_ooc.learners.learning_game import LearningGame

SOURCE = "Sokota et al. 2023, A unified approach to reinforcement learning, quantal response equilibria, ..."


class MirrorSettings(LearnerSettings):
    """Settings of all three learners."""

    updates: Literal["simultaneous", "alternating"] = Field(
        default="alternating",
        description="alternating: player 1 steps against player 0's new policy; simultaneous: against the old one.",
    )


Chosen = TypeVar("Chosen", bound=MirrorSettings)


class Mirror(PolicyLearner[Chosen]):
    """The base class of the three learners: the order of updates."""

    source = SOURCE
    saved: ClassVar[tuple[str, ...]] = ("policies", "logits")

    def start(self, game: LearningGame, settings: Chosen, seed: int) -> None:
        """Start with uniform play."""
        self.begin(game, settings)
        self.logits = [game.zeros(p) for p in (0, 1)]

    def step(self, iterations: int) -> None:
        """Make steps of both players."""
        for _ in range(iterations):
            self.counts.iterations += 1
            for players in ((0,), (1,)) if self.settings.updates == "alternating" else ((0, 1),):
                for p in players:
                    self._update(p)
                for p in players:
                    self.game.reach(p, self.policies[p], self.reaches[p])
            self.counts.gradients += 2
            self.counts.states += 2 * self.game.nodes

    @abstractmethod
    def _update(self, player: int) -> None:
        """A step of one player, against the opponent's reach."""


class BehaviouralMirror(Mirror[Chosen]):
    """Steps at each infoset separately."""

    def _step_sizes(self) -> tuple[float, float, float]:
        """The step size eta, the strength alpha, and the rate at which the magnet follows."""
        raise NotImplementedError

    def _magnet(self, player: int, part: slice) -> NDArray[Any]:
        """Logarithms of the magnet, or an empty array for the uniform one."""
        return self.logits[player][:0]

    def _update(self, player: int) -> None:
        game, visits = self.game, self.policies[player][:0]
        opponent = self.reaches[1 - player]
        sizes = tuple(game.scalar(size) for size in self._step_sizes())

        def look(n: int, part: Slice) -> None:
            nonlocal visits
            visits = game.visits_of(player, n, opponent).sequences

        def arguments(part: slice, nodes: slice) -> tuple[Any, ...]:
            policy = kernels.Policy(self.policies[player][part], self.logits[player][part])
            return (visits, policy, self._magnet(player, part), sizes)

        game.upward(player, opponent, kernels.mirror, arguments, look)


class AnnealedSettings(MirrorSettings):
    """Settings of the annealed learner."""

    eta: float = Field(default=1.0, gt=0, le=1e6, description="Step size of iteration 1; it falls as 1 / sqrt(t).")
    alpha: float = Field(default=1.0, ge=0, le=1e6, description="Strength of the magnet; it falls as 1 / sqrt(t).")


class AnnealedMirror(BehaviouralMirror[AnnealedSettings]):
    """Behavioural form, annealed."""

    settings_model = AnnealedSettings

    def _step_sizes(self) -> tuple[float, float, float]:
        root = math.sqrt(self.counts.iterations)
        return self.settings.eta / root, self.settings.alpha / root, 0.0


class MagnetSettings(MirrorSettings):
    """Settings of the learner with a moving magnet."""

    eta: float = Field(default=0.1, gt=0, le=1e6, description="Step size.")
    alpha: float = Field(default=1.0, ge=0, le=1e6, description="Strength of the magnet.")
    pull: float = Field(default=0.05, gt=0, le=1, description="magnet <- magnet^(1 - pull) policy^pull.")


class MagnetMirror(BehaviouralMirror[MagnetSettings]):
    """Behavioural form with a moving magnet."""

    settings_model = MagnetSettings
    saved = (*Mirror.saved, "magnets")

    def start(self, game: LearningGame, settings: MagnetSettings, seed: int) -> None:
        """Start with uniform play and a uniform magnet."""
        super().start(game, settings, seed)
        self.magnets = [game.zeros(p) for p in (0, 1)]

    def _step_sizes(self) -> tuple[float, float, float]:
        return self.settings.eta, self.settings.alpha, self.settings.pull

    def _magnet(self, player: int, part: slice) -> NDArray[Any]:
        return self.magnets[player][part]


class DilatedSettings(MirrorSettings):
    """Settings of the learner in sequence form."""

    eta: float = Field(default=1.0, gt=0, le=1e9, description="Step size.")
    alpha: float = Field(default=1.0, ge=0, le=1e6, description="Strength of the magnet in iteration 1.")
    power: float = Field(default=1.0, ge=0, le=10, description="The strength falls as 1 / t^power.")


class DilatedMirror(Mirror[DilatedSettings]):
    """Sequence form with dilated entropy."""

    settings_model = DilatedSettings

    def start(self, game: LearningGame, settings: DilatedSettings, seed: int) -> None:
        """Start with uniform play."""
        super().start(game, settings, seed)
        for p in (0, 1):
            self.logits[p][:] = np.log(self.policies[p])

    def _update(self, player: int) -> None:
        strength = self.settings.alpha / self.counts.iterations**self.settings.power
        sizes = (self.game.scalar(self.settings.eta), self.game.scalar(strength))

        def arguments(part: slice, nodes: slice) -> tuple[Any, ...]:
            return (kernels.Policy(self.policies[player][part], self.logits[player][part]), *sizes)

        self.game.upward(player, self.reaches[1 - player], kernels.dilated_mirror, arguments)
