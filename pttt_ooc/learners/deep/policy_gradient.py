"""Policy gradients in self-play: PPO, and magnetic mirror descent (MMD) with a network.

One network is both players' policy and critic.  It plays all games of an iteration, and then makes some passes over
their decisions, in batches.  With the ratio ``r`` of a decision's probability now to its probability when it was
played, and its advantage ``A``, it minimises

    - min(r A, clip(r, 1 - clip, 1 + clip) A)  -  entropy H(policy)  +  kl KL(played, policy)  +  (V - return)^2 / 2

PPO (Schulman et al. 2017) has ``kl`` 0.  MMD (Sokota et al. 2023, section 5) has entropy and divergence, with a
uniform magnet.  Advantages are those of generalised advantage estimation (Schulman et al. 2016), over a player's own
decisions.  The step size and the entropy's weight fall as ``1 / sqrt(1 + t / anneal)``.

The defaults are good settings for this game (Rudolph et al. 2025, arXiv 2502.08938).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, TypeVar

import jax.numpy as jnp
import numpy as np
from pydantic import Field

from pttt_ooc.learners.deep import network as nets
from pttt_ooc.learners.deep.game_batches import Floats, Ints, Plays
from pttt_ooc.learners.deep.learner import DeepLearner, DeepSettings
from pttt_ooc.learners.learner import Pair


class PolicySettings(DeepSettings):
    """Settings of all policy gradients in self-play."""

    entropy: float = Field(default=0.2, ge=0, le=10, description="Weight of the policy's entropy.")
    kl: float = Field(default=0.0, ge=0, le=10, description="Weight of the divergence from the policy that played.")
    clip: float = Field(default=0.8, gt=0, le=10, description="Ratios are clipped to this distance from 1.")
    epochs: int = Field(default=4, ge=1, le=100, description="Passes over the decisions of an iteration.")
    batch: int = Field(default=1024, ge=1, le=10**6, description="Decisions in one step of the optimiser.")
    trace: float = Field(default=0.95, ge=0, le=1, description="Lambda of generalised advantage estimation.")
    anneal: float = Field(default=1000.0, gt=0, le=1e9, description="Step size and entropy fall as 1/sqrt(1+t/anneal).")


Chosen = TypeVar("Chosen", bound=PolicySettings)


def advantages(plays: Plays, values: Floats, trace: float) -> Floats:
    """Generalised advantage estimates of all decisions, from infosets' values; only the end of a game has a payoff."""
    result = np.zeros(len(values))
    for decisions in plays.backward():
        after = plays.after[decisions]
        goes_on = after >= 0
        targets = np.where(goes_on, values[after], plays.payoffs[decisions])
        result[decisions] = targets - values[decisions] + np.where(goes_on, trace * result[after], 0)
    return result


def objective(logs: Any, batch: Any, entropy: Any, kl: Any, clip: Any, wrong: Any) -> Any:
    """The loss that is minimised, see the module, from the policy's logarithms and the critic's losses ``wrong``."""
    codes, _, squares, policies, gains, _ = batch
    now, legal = jnp.exp(logs), codes == 0
    chosen = jnp.arange(len(squares)), squares
    ratio = jnp.exp(logs[chosen] - jnp.log(policies[chosen]))
    gain = jnp.minimum(ratio * gains, jnp.clip(ratio, 1 - clip, 1 + clip) * gains)
    spread = -jnp.sum(jnp.where(legal, now * logs, 0), axis=1)
    played = jnp.where(policies > 0, policies * (jnp.log(jnp.where(policies > 0, policies, 1)) - logs), 0)
    return jnp.mean(wrong - gain - entropy * spread + kl * jnp.sum(played, axis=1))


def loss(network: nets.Parameters, batch: Any, entropy: Any, kl: Any, clip: Any) -> Any:
    """The loss of a network whose last output is the critic."""
    codes, players, _, _, _, returns = batch
    outputs = nets.outputs_of(network, codes, players)
    wrong = jnp.square(outputs[:, -1] - returns) / 2
    return objective(nets.log_policy(outputs[:, :-1], codes), batch, entropy, kl, clip, wrong)


_step = nets.trainer(loss)


class SelfPlay(DeepLearner[Chosen]):
    """What all policy gradients in self-play share; their strategies are the last iterate."""

    def begin(self) -> None:
        """Make one network, with a policy and a value."""
        self.add_network("policy", self.sight.squares + 1)

    @property
    def shrink(self) -> float:
        """The factor by which the step size and the entropy's weight have fallen."""
        return 1 / math.sqrt(1 + self.counts.iterations / self.settings.anneal)

    def estimates(self, critic: str, rng: np.random.Generator) -> tuple[Plays, Floats, Floats]:
        """The games of an iteration, and of all decisions: normalised advantages, and returns.

        Parameters
        ----------
        critic
            The network whose last output is the value of an infoset.
        """
        policies = self.sight.policy(self.networks["policy"])
        plays = self.play(self.settings.games, lambda games, infosets: policies(infosets), rng)
        values = self.sight.look(self.networks[critic], plays.infosets)[:, -1].astype(np.float64)
        gains = advantages(plays, values, self.settings.trace)
        returns = gains + values
        return plays, (gains - gains.mean()) / (gains.std() + 1e-8), returns

    def batches(self, number: int, epochs: int, rng: np.random.Generator) -> Iterator[Ints]:
        """Numbers of decisions, batch by batch, of some passes over a number of them."""
        size = min(self.settings.batch, 1 << number.bit_length() - 1)  # each size is compiled once
        for _ in range(epochs):
            order = rng.permutation(number)
            for first in range(0, len(order) - size + 1, size):
                yield order[first : first + size]

    def batch(self, plays: Plays, gains: Floats, returns: Floats, at: Ints) -> tuple[Any, ...]:
        """Some decisions, as :func:`objective` takes them."""
        numbers = (a[at].astype(np.float32) for a in (plays.policies, gains, returns))
        return (*self.sight.inputs(plays.infosets[at]), plays.squares[at], *numbers)

    def strategy(self) -> Pair:
        """The network's policy."""
        return self.sight.pair(self.game, self.sight.policy(self.networks["policy"]))


class PolicyGradient(SelfPlay[PolicySettings]):
    """PPO in self-play."""

    settings_model = PolicySettings
    source = "Schulman et al. 2017, Proximal policy optimization algorithms"

    def iterate(self, rng: np.random.Generator) -> None:
        """Play, and learn from it."""
        chosen, shrink = self.settings, self.shrink
        played = self.estimates("policy", rng)
        sizes = [np.float32(size) for size in (chosen.entropy * shrink, chosen.kl, chosen.clip)]
        for at in self.batches(len(played[1]), chosen.epochs, rng):
            self.train("policy", _step, chosen.rate * shrink, self.batch(*played, at), *sizes)


class MirrorSettings(PolicySettings):
    """Settings of MMD."""

    kl: float = Field(default=0.2, ge=0, le=10, description="Weight of the divergence from the policy that played.")


class MirrorGradient(PolicyGradient):
    """MMD with a network; its strategies are the last iterate."""

    settings_model = MirrorSettings
    source = "Sokota et al. 2023, A unified approach to reinforcement learning, quantal response equilibria, ..."
