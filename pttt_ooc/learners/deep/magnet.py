"""Policy gradients towards a magnet that moves: NashPG and EMAgnet.

The loss of :mod:`pttt_ooc.learners.deep.policy_gradient`, without the divergence from the policy that played, and with
one from the policy of an older network, the magnet::

    - min(r A, clip(r, 1 - clip, 1 + clip) A)  -  entropy H(policy)  +  magnet KL(policy, magnet)  +  (V - return)^2 / 2

NashPG (Yu et al. 2025, arXiv 2510.18183): the magnet is the policy ``phase`` iterations ago or less: at the end of each
phase it becomes the present policy.  The weights stay the same, and each phase ends nearer to an equilibrium.  The
defaults are the authors' (github.com/ntu-agents/nashpg), where a phase has 1,000 updates of 4,096 decisions; an
iteration here, 1,024 games, has two to three times as many.  They also clip changes of the critic; we do not.

EMAgnet (Maidment et al. 2026, arXiv 2606.23995): the magnet's parameters are an exponential moving average of the
policy's::

    magnet  <-  magnet + follow (policy - magnet)        after each iteration

It replaces the uniform magnet, which is what an entropy bonus amounts to.  ``follow`` is the paper's.  The
other defaults are those of PPO here, with the weight of its entropy as that of the magnet, because only the paper's
abstract and summaries of it could be read.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, TypeVar

import jax.numpy as jnp
import numpy as np
from pydantic import Field

from pttt_ooc.learners.deep import network as nets
from pttt_ooc.learners.deep import policy_gradient


class MagnetSettings(policy_gradient.PolicySettings):
    """Settings of both learners."""

    magnet: float = Field(default=0.2, ge=0, le=100, description="Weight of the divergence from the magnet.")


Chosen = TypeVar("Chosen", bound=MagnetSettings)


def loss(network: nets.Parameters, batch: Any, magnets: Any, entropy: Any, kl: Any, clip: Any, magnet: Any) -> Any:
    """The loss that is minimised; see the module.

    Parameters
    ----------
    magnets
        The magnet's logits, shape (decisions, squares).
    kl, magnet
        Weights of the divergences from the policy that played, and from the magnet.
    """
    codes, players, *_ = batch
    logs = nets.log_policy(nets.outputs_of(network, codes, players)[:, :-1], codes)
    apart = nets.divergence(logs, nets.log_policy(magnets, codes), codes)
    return policy_gradient.loss(network, batch, entropy, kl, clip) + magnet * jnp.mean(apart)


_step = nets.trainer(loss)


class MagnetGradient(policy_gradient.SelfPlay[Chosen]):
    """The part that both learners share; their strategies are the last iterate."""

    def begin(self) -> None:
        """Make the network and the magnet, which begins as its copy."""
        super().begin()
        self.networks["magnet"] = self.networks["policy"]

    @abstractmethod
    def renew(self) -> None:
        """Move the magnet, after an iteration."""

    def iterate(self, rng: np.random.Generator) -> None:
        """Play, learn from it, and move the magnet."""
        chosen, shrink = self.settings, self.shrink
        played = self.estimates("policy", rng)
        magnets = self.sight.look(self.networks["magnet"], played[0].infosets)[:, :-1]
        weights = chosen.entropy * shrink, chosen.kl, chosen.clip, self.weight()
        sizes = [np.float32(size) for size in weights]
        for at in self.batches(len(magnets), chosen.epochs, rng):
            self.train("policy", _step, chosen.rate * shrink, self.batch(*played, at), magnets[at], *sizes)
        self.renew()

    def weight(self) -> float:
        """The weight of the divergence from the magnet."""
        return self.settings.magnet


class NashSettings(MagnetSettings):
    """Settings of NashPG."""

    rate: float = Field(default=3e-4, gt=0, le=1, description="Step size of the optimiser.")
    entropy: float = Field(default=0.05, ge=0, le=10, description="Weight of the policy's entropy.")
    clip: float = Field(default=0.2, gt=0, le=10, description="Ratios are clipped to this distance from 1.")
    anneal: float = Field(default=1e9, gt=0, le=1e9, description="Step size and entropy fall as 1/sqrt(1+t/anneal).")
    phase: int = Field(default=400, ge=1, le=10**6, description="Iterations with one magnet.")


class NashGradient(MagnetGradient[NashSettings]):
    """NashPG: at the end of each phase the policy becomes the magnet."""

    settings_model = NashSettings
    source = "Yu et al. 2025, Nash policy gradient: ... iteratively refined regularization for finding Nash equilibria"

    def renew(self) -> None:
        """At the end of a phase, copy the policy."""
        if self.counts.iterations % self.settings.phase == 0:
            self.networks["magnet"] = self.networks["policy"]


class AverageSettings(MagnetSettings):
    """Settings of EMAgnet."""

    entropy: float = Field(default=0.0, ge=0, le=10, description="Weight of the policy's entropy.")
    follow: float = Field(default=0.1, gt=0, le=1, description="The rate at which the magnet follows the policy.")


class AverageGradient(MagnetGradient[AverageSettings]):
    """EMAgnet: the magnet is a moving average of the policy's parameters; its weight falls as entropy's does in PPO."""

    settings_model = AverageSettings
    source = "Maidment et al. 2026, EMAgnet: Parameter-space EMA regularization for policy gradient self-play ..."

    def weight(self) -> float:
        """The weight of the divergence from the magnet, which falls."""
        return self.settings.magnet * self.shrink

    def renew(self) -> None:
        """Follow the policy."""
        moved = nets.moving_average(self.networks["magnet"], self.networks["policy"], self.settings.follow)
        self.networks["magnet"] = moved
