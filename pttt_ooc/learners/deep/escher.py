"""ESCHER with networks: regrets without importance sampling.

In each iteration, games are played for each player, in which this player moves uniformly and the opponent follows the
policy: regret matching on the regrets of a network.  A second network learns the expected values ``q`` of actions from
these games: the payoff, or the expected value of the player's next infoset under the policy.  Regrets ``q(a) - sum of
policy(a) q(a)`` go to a memory, a fair sample of all iterations, to which the first network is fitted; so it learns the
mean.  Policies of the opponent go to another memory, to which a third network is fitted: the average strategy.  As in
:func:`pttt_ooc.learners.sampled.traversals.fixed_sampling`, values are those of infosets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import Field

from pttt_ooc.learners.deep import loss_functions
from pttt_ooc.learners.deep.game_batches import Floats, Ints, Plays
from pttt_ooc.learners.deep.learner import DeepLearner, DeepSettings, Memory
from pttt_ooc.learners.learner import Pair


class EscherSettings(DeepSettings):
    """Settings of deep ESCHER."""

    rate: float = Field(default=1e-3, gt=0, le=1, description="Step size of all networks.")
    sample: int = Field(default=500_000, ge=1, le=10**8, description="Decisions in each memory.")
    batch: int = Field(default=1024, ge=1, le=10**6, description="Decisions in one step of the optimiser.")
    updates: int = Field(default=16, ge=1, le=10**4, description="Steps of each network in an iteration.")


class DeepEscher(DeepLearner[EscherSettings]):
    """Deep ESCHER; its strategies are the average."""

    settings_model = EscherSettings
    source = "McAleer et al. 2023, ESCHER: eschewing importance sampling in games by computing a history value function"

    def begin(self) -> None:
        """Make three networks and two memories."""
        for name in ("values", "regrets", "average"):
            self.add_network(name, self.sight.squares)
        columns: dict[str, Any] = {"infosets": ((), np.int32), "numbers": ((self.sight.squares,), np.float32)}
        columns["weights"] = ((), np.float32)
        for name in ("regrets", "average"):
            self.memories[name] = Memory(self.settings.sample, True, **columns)

    def policies(self, infosets: Ints) -> Floats:
        """Regret matching; uniform where no regret is positive."""
        legal = self.sight.codes[infosets] == 0
        positive = np.maximum(self.sight.look(self.networks["regrets"], infosets).astype(np.float64), 0) * legal
        total = positive.sum(axis=1, keepdims=True)
        uniform = legal / legal.sum(axis=1, keepdims=True)
        probabilities: Floats = np.where(total > 0, positive / np.where(total > 0, total, 1), uniform)
        return probabilities

    def iterate(self, rng: np.random.Generator) -> None:
        """Play games for both players, and make steps of all networks."""
        halves = [(player, self._games(player, rng)) for player in (0, 1)]
        for player, plays in halves:
            self._learn_values(np.flatnonzero(plays.seats % 2 == player), plays, rng)
        for player, plays in halves:
            self._remember(player, plays, rng)
        for _ in range(self.settings.updates):
            for name in ("regrets", "average"):
                self._fit(name, rng)

    def _games(self, player: int, rng: np.random.Generator) -> Plays:
        def movers(games: Ints, infosets: Ints) -> Floats:
            legal = self.sight.codes[infosets] == 0
            mine = (self.sight.players(infosets) == player)[:, None]
            return np.where(mine, legal / legal.sum(axis=1, keepdims=True), self.policies(infosets))

        return self.play(self.settings.games, movers, rng)

    def _learn_values(self, places: Ints, plays: Plays, rng: np.random.Generator) -> None:
        """Steps of the values towards the payoff or the expected value of the next own infoset."""
        chosen, sight = self.settings, self.sight
        for _ in range(chosen.updates):
            at = rng.choice(places, chosen.batch)
            after = plays.after[at]
            following = plays.infosets[after]
            expected = (self.policies(following) * sight.look(self.networks["values"], following)).sum(axis=1)
            targets = np.where(after >= 0, expected, plays.payoffs[at]).astype(np.float32)
            inputs = sight.inputs(plays.infosets[at])
            self.train("values", loss_functions.fit_values, chosen.rate, *inputs, plays.squares[at], targets)

    def _remember(self, player: int, plays: Plays, rng: np.random.Generator) -> None:
        own = plays.seats % 2 == player
        infosets, others = plays.infosets[own], plays.infosets[~own]
        values = self.sight.look(self.networks["values"], infosets)
        regrets = values - (self.policies(infosets) * values).sum(axis=1, keepdims=True)
        for name, at, numbers in (("regrets", infosets, regrets), ("average", others, plays.policies[~own])):
            weights = np.full(len(at), self.counts.iterations, np.float32)
            self.memories[name].add(rng, infosets=at, numbers=numbers.astype(np.float32), weights=weights)

    def _fit(self, name: str, rng: np.random.Generator) -> None:
        """A step of the regrets or of the average; iteration t has the weight t."""
        rows = self.memories[name].draw(rng, self.settings.batch)
        weights = rows["weights"] / np.float32(self.counts.iterations)
        inputs, rate = self.sight.inputs(rows["infosets"]), self.settings.rate
        if name == "average":
            self.train(name, loss_functions.fit_policy, rate, *inputs, rows["numbers"] * weights[:, None])
        else:
            self.train(name, loss_functions.fit_numbers, rate, *inputs, rows["numbers"], weights)

    def strategy(self) -> Pair:
        """The average."""
        return self.sight.pair(self.game, self.sight.policy(self.networks["average"]))
