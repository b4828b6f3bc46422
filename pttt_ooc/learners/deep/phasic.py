"""Phasic policy gradient (PPG; Cobbe et al. 2021, arXiv 2009.04416).

Policy and critic are two networks.  An iteration is one of PPO's, but the two learn separately: the policy minimises
PPO's loss without a critic, and the critic ``values`` half of its squared error.  The policy's network has a second
head, an auxiliary critic U.  After each ``phase`` iterations, the auxiliary phase makes passes over all of their
decisions: the policy's layers learn from values, but the policy hardly changes::

    policy:  (U - return)^2 / 2  +  clone KL(policy before, policy)        values:  (V - return)^2 / 2

Returns are those of the iteration that played the game.  The lengths of phases, ``clone`` and the step size are the
paper's.  Entropy and ``clip`` are those of PPO here, because the paper's, 0.01 and 0.2, are for one-player games: even
with 0.05 and 0.2, policies of classical Phantom Tic-Tac-Toe were pure after 72 iterations (mean exploitability 1.00).
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from pydantic import Field

from pttt_ooc.learners.deep import network as nets
from pttt_ooc.learners.deep import policy_gradient
from pttt_ooc.learners.deep.learner import Memory
from pttt_ooc.learners.deep.loss_functions import fit_values


class PhasicSettings(policy_gradient.PolicySettings):
    """Settings of PPG."""

    rate: float = Field(default=5e-4, gt=0, le=1, description="Step size of the optimiser.")
    epochs: int = Field(default=1, ge=1, le=100, description="The policy's passes over the decisions of an iteration.")
    value_epochs: int = Field(default=1, ge=1, le=100, description="The critic's passes over them.")
    phase: int = Field(default=32, ge=1, le=10**4, description="Iterations between two auxiliary phases.")
    auxiliary_epochs: int = Field(default=6, ge=1, le=100, description="Passes over all decisions of a phase.")
    clone: float = Field(default=1.0, ge=0, le=1e3, description="Weight of the divergence from the policy before.")


def policy_loss(network: nets.Parameters, batch: Any, entropy: Any, kl: Any, clip: Any) -> Any:
    """The policy's loss in an iteration: the one of PPO, without a critic."""
    codes, players, *_ = batch
    logits = nets.outputs_of(network, codes, players)[:, :-1]
    return policy_gradient.objective(nets.log_policy(logits, codes), batch, entropy, kl, clip, 0.0)


def auxiliary_loss(network: nets.Parameters, codes: Any, players: Any, before: Any, returns: Any, clone: Any) -> Any:
    """The policy's loss in the auxiliary phase; ``before`` are its logits at the beginning of that phase."""
    outputs = nets.outputs_of(network, codes, players)
    apart = nets.divergence(nets.log_policy(before, codes), nets.log_policy(outputs[:, :-1], codes), codes)
    return jnp.mean(jnp.square(outputs[:, -1] - returns) / 2 + clone * apart)


_policy_step, _auxiliary_step = nets.trainer(policy_loss), nets.trainer(auxiliary_loss)


class PhasicGradient(policy_gradient.SelfPlay[PhasicSettings]):
    """PPG in self-play; its strategies are the last iterate."""

    settings_model = PhasicSettings
    source = "Cobbe et al. 2021, Phasic policy gradient"

    def begin(self) -> None:
        """Make both networks, and a memory of a phase's decisions."""
        super().begin()
        self.add_network("values", 1)
        longest = 2 * self.sight.squares  # both players attempt each square once, at most
        capacity = self.settings.phase * self.settings.games * longest
        self.memories["phase"] = Memory(capacity, False, infosets=((), np.int64), returns=((), np.float32))

    def iterate(self, rng: np.random.Generator) -> None:
        """Play, and learn from it; at the end of a phase, learn from all of its decisions."""
        chosen, shrink, memory = self.settings, self.shrink, self.memories["phase"]
        plays, gains, returns = self.estimates("values", rng)
        sizes = [np.float32(size) for size in (chosen.entropy * shrink, chosen.kl, chosen.clip)]
        for at in self.batches(len(gains), chosen.epochs, rng):
            batch = self.batch(plays, gains, returns, at)
            self.train("policy", _policy_step, chosen.rate * shrink, batch, *sizes)
        memory.add(rng, infosets=plays.infosets, returns=returns.astype(np.float32))
        for at in self.batches(len(gains), chosen.value_epochs, rng):
            self._fit(plays.infosets[at], returns[at])
        if self.counts.iterations % chosen.phase == 0:
            self._auxiliary(rng)
            memory.clear()

    def _fit(self, infosets: Any, returns: Any) -> None:
        """Take a step with the critic."""
        only = np.zeros(len(infosets), np.int64)  # its one output
        inputs = (*self.sight.inputs(infosets), only, returns.astype(np.float32))
        self.train("values", fit_values, self.settings.rate * self.shrink, *inputs)

    def _auxiliary(self, rng: np.random.Generator) -> None:
        chosen, memory = self.settings, self.memories["phase"]
        infosets, returns = (memory.rows[name][: len(memory)] for name in ("infosets", "returns"))
        before = self.sight.look(self.networks["policy"], infosets)[:, :-1]
        for at in self.batches(len(infosets), chosen.auxiliary_epochs, rng):
            numbers = before[at], returns[at], np.float32(chosen.clone)
            self.train("policy", _auxiliary_step, chosen.rate * self.shrink, *self.sight.inputs(infosets[at]), *numbers)
            self._fit(infosets[at], returns[at])
