"""Regularised Nash dynamics (R-NaD) with a network.

Rewards are those of :mod:`pttt_ooc.learners.exact.regularised`: each move costs its player
``eta log(policy / reference)``, and the opponent gains as much.  The reference is a copy of the slow network, renewed
every ``phase`` iterations; it moves from the old one to the new one during the first half of a phase.

Returns are estimated by v-trace (Espeholt et al. 2018) over a player's own decisions, with ratios ``rho`` of the
present policy to the one that played, clipped at 1, and the slow network's values ``v``::

    delta  =  rho (reward + v(next) - v),        target  =  v + delta + rho (target(next) - v(next))

Policies follow neural replicator dynamics (Hennes et al. 2020): logits, minus their mean, rise with the advantage of
``Q``, within ``bound`` of the mean::

    Q(a)  =  v - eta log(policy(a) / reference(a))  +  [a was played] (reward after it + target(next) - v) / played(a)
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from pydantic import Field

from pttt_ooc.learners.deep import network as nets
from pttt_ooc.learners.deep.game_batches import Floats, Plays
from pttt_ooc.learners.deep.learner import DeepLearner, DeepSettings
from pttt_ooc.learners.learner import Pair


class RegularisedSettings(DeepSettings):
    """Settings of deep R-NaD."""

    rate: float = Field(default=1e-3, gt=0, le=1, description="Step size of the optimiser.")
    eta: float = Field(default=0.2, ge=0, le=100, description="Weight of the regularisation.")
    phase: int = Field(default=100, ge=1, le=10**6, description="Iterations with one reference.")
    follow: float = Field(default=0.1, gt=0, le=1, description="The rate at which the slow network follows.")
    bound: float = Field(default=20.0, gt=0, le=1e3, description="The greatest distance of logits from their mean.")
    largest: float = Field(default=10_000.0, gt=0, le=1e6, description="Larger advantages are clipped.")
    epochs: int = Field(default=2, ge=1, le=100, description="Passes over the decisions of an iteration.")
    batch: int = Field(default=1024, ge=1, le=10**6, description="Decisions in one step of the optimiser.")


def rewards_of(plays: Plays, costs: Floats, eta: float) -> tuple[Floats, Floats]:
    """Rewards from each decision until the player's next one: with its own cost, and without it.

    Parameters
    ----------
    costs
        Of each decision: log(policy / reference) of the attempted square.
    """
    order = np.argsort(plays.seats // 2, kind="stable")  # sorted by game, in the order of play
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    games = plays.seats[order] // 2
    so_far = np.cumsum(eta * costs[order])
    last = np.flatnonzero(np.append(np.diff(games) != 0, True))
    ends = so_far[last[np.searchsorted(last, place)]]  # of each decision's game
    # Between two own decisions, only the opponent moves.
    until = np.where(plays.after >= 0, so_far[place[plays.after]] - eta * costs[plays.after], ends + plays.payoffs)
    later = until - so_far[place]
    return later - eta * costs, later


def traces(plays: Plays, rewards: Floats, values: Floats, ratios: Floats) -> Floats:
    """The targets of v-trace for all decisions."""
    rho, found = np.minimum(ratios, 1), np.zeros(len(values))
    for decisions in plays.backward():
        after = plays.after[decisions]
        goes_on = after >= 0
        following = np.where(goes_on, values[after], 0)
        more = np.where(goes_on, found[after] - following, 0)
        found[decisions] = values[decisions] + rho[decisions] * (
            rewards[decisions] + following - values[decisions] + more
        )
    return found


def loss(network: nets.Parameters, codes: Any, players: Any, gains: Any, targets: Any, bound: Any) -> Any:
    """Neural replicator dynamics, and half of the critic's squared error."""
    outputs = nets.outputs_of(network, codes, players)
    legal = codes == 0
    logits = jnp.where(legal, outputs[:, :-1], 0)
    # Gains do not sum to zero: without subtracting their mean, all logits of an infoset would drift together.
    logits -= jnp.sum(logits, axis=1, keepdims=True) / jnp.sum(legal, axis=1, keepdims=True)
    moves = ((gains > 0) & (logits < bound)) | ((gains < 0) & (logits > -bound))
    uphill = jnp.sum(jnp.where(legal & moves, logits * gains, 0), axis=1)
    return jnp.mean(jnp.square(outputs[:, -1] - targets) / 2 - uphill)


_step = nets.trainer(loss)


class RegularisedGradient(DeepLearner[RegularisedSettings]):
    """Deep R-NaD; its strategies are the slow network's."""

    settings_model = RegularisedSettings
    source = "Perolat et al. 2022, Mastering the game of Stratego with model-free multiagent reinforcement learning"

    def begin(self) -> None:
        """Make the network, its slow copy, and two references."""
        self.add_network("policy", self.sight.squares + 1)
        for name in ("slow", "now", "before"):
            self.networks[name] = self.networks["policy"]

    def _logs(self, name: str, infosets: Any) -> Floats:
        """Logarithms of a network's policy; zero for illegal squares."""
        policies = self.sight.policy(self.networks[name])(infosets)
        logs: Floats = np.log(np.maximum(policies, 1e-12)) * (self.sight.codes[infosets] == 0)
        return logs

    def iterate(self, rng: np.random.Generator) -> None:
        """Play, and learn from it."""
        chosen, sight = self.settings, self.sight
        policies = sight.policy(self.networks["policy"])
        plays = self.play(chosen.games, lambda games, infosets: policies(infosets), rng)
        done = (self.counts.iterations - 1) % chosen.phase
        blend = min(1.0, 2 * done / chosen.phase)
        reference = blend * self._logs("now", plays.infosets) + (1 - blend) * self._logs("before", plays.infosets)
        values = sight.look(self.networks["slow"], plays.infosets)[:, -1].astype(np.float64)
        size = min(chosen.batch, 1 << len(values).bit_length() - 1)
        for _ in range(chosen.epochs):
            gains, targets = self._targets(plays, reference, values)
            order = rng.permutation(len(values))
            for first in range(0, len(order) - size + 1, size):
                at = order[first : first + size]
                numbers = gains[at].astype(np.float32), targets[at].astype(np.float32)
                self.train("policy", _step, chosen.rate, *sight.inputs(plays.infosets[at]), *numbers, chosen.bound)
        self.networks["slow"] = nets.moving_average(self.networks["slow"], self.networks["policy"], chosen.follow)
        if self.counts.iterations % chosen.phase == 0:
            self.networks["before"], self.networks["now"] = self.networks["now"], self.networks["slow"]

    def _targets(self, plays: Plays, reference: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Advantages of all squares, and the critic's targets."""
        chosen, rows = self.settings, np.arange(len(values))
        policies = self.sight.policy(self.networks["policy"])(plays.infosets)
        costs = self._logs("policy", plays.infosets) - reference
        attempted = rows, plays.squares
        mine, later = rewards_of(plays, costs[attempted], chosen.eta)
        targets = traces(plays, mine, values, policies[attempted] / plays.chances)
        goes_on = plays.after >= 0
        expected = later + np.where(goes_on, targets[plays.after], 0)
        worth = values[:, None] - chosen.eta * costs
        worth[attempted] += (expected - values) / plays.chances
        gains = worth - (policies * worth).sum(axis=1, keepdims=True)
        return np.clip(gains, -chosen.largest, chosen.largest), targets

    def strategy(self) -> Pair:
        """The slow network's policy."""
        return self.sight.pair(self.game, self.sight.policy(self.networks["slow"]))
