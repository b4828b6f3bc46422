"""Neural fictitious self-play (NFSP): learned best responses, and a network that imitates their average.

One network has the values of actions against the opponent's average, and learns by Q-learning from the newest
decisions.  Another imitates all decisions of best responses, from a fair sample of them.  In each game, each player
follows the first network with probability ``anticipation``, greedily with some exploration, and otherwise the second.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pttt_ooc.learners.deep import loss_functions
from pttt_ooc.learners.deep.game_batches import Floats, Ints
from pttt_ooc.learners.deep.learner import DeepLearner, DeepSettings, Memory
from pttt_ooc.learners.learner import Pair


class FictitiousSettings(DeepSettings):
    """Settings of NFSP."""

    rate: float = Field(default=1e-3, gt=0, le=1, description="Step size of both networks.")
    anticipation: float = Field(default=0.1, gt=0, le=1, description="Probability of the best response.")
    explored: float = Field(default=0.06, ge=0, le=1, description="Uniform part of best responses; falls as 1/sqrt.")
    anneal: float = Field(default=100.0, gt=0, le=1e9, description="Exploration falls as 1 / sqrt(1 + t / anneal).")
    newest: int = Field(default=200_000, ge=1, le=10**8, description="Decisions that Q-learning remembers.")
    sample: int = Field(default=1_000_000, ge=1, le=10**8, description="Decisions of the fair sample.")
    batch: int = Field(default=1024, ge=1, le=10**6, description="Decisions in one step of the optimiser.")
    updates: int = Field(default=8, ge=1, le=10**4, description="Steps of each network in an iteration.")
    refresh: int = Field(default=20, ge=1, le=10**6, description="Iterations with one copy of the values.")


class NeuralFictitiousPlay(DeepLearner[FictitiousSettings]):
    """NFSP; its strategies are those of the imitating network."""

    settings_model = FictitiousSettings
    source = "Heinrich and Silver 2016, Deep reinforcement learning from self-play in imperfect-information games"

    def begin(self) -> None:
        """Make the values, their slow copy, the average, and both memories."""
        self.add_network("values", self.sight.squares)
        self.add_network("average", self.sight.squares)
        self.networks["slow"] = self.networks["values"]
        one, square = ((), np.int32), ((), np.int8)
        columns: dict[str, Any] = {"infosets": one, "squares": square, "after": one, "payoffs": ((), np.float32)}
        self.memories["newest"] = Memory(self.settings.newest, False, **columns)
        self.memories["sample"] = Memory(self.settings.sample, True, infosets=one, squares=square)

    def iterate(self, rng: np.random.Generator) -> None:
        """Play, remember, and make steps of both networks."""
        chosen, sight = self.settings, self.sight
        responds = rng.random(2 * chosen.games) < chosen.anticipation
        explored = chosen.explored / math.sqrt(1 + self.counts.iterations / chosen.anneal)
        average = sight.policy(self.networks["average"])

        def movers(games: Ints, infosets: Ints) -> Floats:
            best = responds[2 * games + sight.players(infosets)]
            found = np.empty((len(games), sight.squares))
            if best.any():
                found[best] = loss_functions.greedy(sight, self.networks["values"], infosets[best], explored)
            if not best.all():
                found[~best] = average(infosets[~best])
            return found

        plays = self.play(chosen.games, movers, rng)
        steps = loss_functions.steps_of(plays)
        self.memories["newest"].add(rng, **steps)
        best = responds[plays.seats]
        self.memories["sample"].add(rng, infosets=plays.infosets[best], squares=plays.squares[best])
        for _ in range(chosen.updates):
            self._learn(rng)
        if self.counts.iterations % chosen.refresh == 0:
            self.networks["slow"] = self.networks["values"]

    def _learn(self, rng: np.random.Generator) -> None:
        chosen, sight = self.settings, self.sight
        rows = self.memories["newest"].draw(rng, chosen.batch)
        values, moments = self.networks["values"], self.moments["values"]
        trained = loss_functions.learn_values(sight, values, moments, self.networks["slow"], rows, chosen.rate)
        self.networks["values"], self.moments["values"] = trained
        if len(self.memories["sample"]):
            copied = self.memories["sample"].draw(rng, chosen.batch)
            targets: NDArray[np.float32] = np.eye(sight.squares, dtype=np.float32)[copied["squares"]]
            self.train("average", loss_functions.fit_policy, chosen.rate, *sight.inputs(copied["infosets"]), targets)

    def strategy(self) -> Pair:
        """The average."""
        return self.sight.pair(self.game, self.sight.policy(self.networks["average"]))
