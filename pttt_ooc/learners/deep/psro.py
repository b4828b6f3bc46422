"""PSRO with learned best responses: the oracle is Q-learning with a network (DQN).

Populations, their payoffs and the meta-solver are those of :mod:`pttt_ooc.learners.exact.psro`.  A response is
learned from games against the opponent's mixture: a new network learns the values of actions, and the response is
greedy.  It is then read at all infosets, and its payoffs are exact.
"""

from __future__ import annotations

import numpy as np
from pydantic import Field

from pttt_ooc.cfr.sweep.tree import Floats
from pttt_ooc.learners.deep import loss_functions
from pttt_ooc.learners.deep import network as nets
from pttt_ooc.learners.deep.game_batches import Ints, play
from pttt_ooc.learners.deep.learner import DeepSettings, Memory
from pttt_ooc.learners.deep.observation import Sight
from pttt_ooc.learners.exact.psro import OracleSettings, PolicySpaceOracles
from pttt_ooc.learners.learning_game import LearningGame


class LearnedOracleSettings(OracleSettings, DeepSettings):
    """Settings of PSRO with DQN."""

    rate: float = Field(default=1e-3, gt=0, le=1, description="Step size of the optimiser.")
    games: int = Field(default=256, ge=1, le=10**6, description="Games side by side.")
    rounds: int = Field(default=200, ge=1, le=10**6, description="Rounds of games for one response.")
    explored: float = Field(default=0.3, ge=0, le=1, description="Uniform part of the first round; falls to zero.")
    newest: int = Field(default=100_000, ge=1, le=10**8, description="Decisions that Q-learning remembers.")
    batch: int = Field(default=1024, ge=1, le=10**6, description="Decisions in one step of the optimiser.")
    updates: int = Field(default=4, ge=1, le=10**4, description="Steps after each round.")
    refresh: int = Field(default=10, ge=1, le=10**6, description="Rounds with one copy of the values.")


class LearnedOracles(PolicySpaceOracles[LearnedOracleSettings]):
    """PSRO with learned responses; its strategies are the mixtures."""

    settings_model = LearnedOracleSettings

    def start(self, game: LearningGame, settings: LearnedOracleSettings, seed: int) -> None:
        """Start with responses to uniform play."""
        super().start(game, settings, seed)
        self.settings, self.seed, self.sight = settings, seed, Sight(game.index)

    def _responses(self) -> list[Floats]:
        mixtures = [self.game.strategy(p, weights).probabilities for p, weights in enumerate(self._mixed_sequences())]
        return [self._response(p, mixtures[1 - p]) for p in (0, 1)]

    def _response(self, player: int, opponent: Floats) -> Floats:
        """Learn a response to a strategy of the opponent."""
        chosen, sight, seed = self.settings, self.sight, [self.seed, self.counts.iterations, player]
        rng = np.random.default_rng(seed)
        values = slow = nets.make_network(sight.squares, chosen.hidden, sight.squares, seed)
        moments = nets.make_moments(values)
        one = ((), np.int32)
        memory = Memory(chosen.newest, False, infosets=one, squares=((), np.int8), after=one, payoffs=((), np.float32))
        for k in range(chosen.rounds):
            explored, network = chosen.explored * (1 - k / chosen.rounds), values

            def movers(
                games: Ints, infosets: Ints, explored: float = explored, network: nets.Parameters = network
            ) -> Floats:
                mine = sight.players(infosets) == player
                probabilities = np.empty((len(infosets), sight.squares))
                if mine.any():
                    probabilities[mine] = loss_functions.greedy(sight, network, infosets[mine], explored)
                if not mine.all():
                    probabilities[~mine] = sight.rows(1 - player, opponent, infosets[~mine])
                return probabilities

            plays = play(sight, chosen.games, movers, rng)
            self.counts.states += len(plays.infosets) + chosen.games
            own = plays.seats % 2 == player
            memory.add(rng, **{name: column[own] for name, column in loss_functions.steps_of(plays).items()})
            for _ in range(chosen.updates):
                rows = memory.draw(rng, chosen.batch)
                values, moments = loss_functions.learn_values(sight, values, moments, slow, rows, chosen.rate)
            if (k + 1) % chosen.refresh == 0:
                slow = values
        probabilities = sight.probabilities(player, lambda infosets: loss_functions.greedy(sight, values, infosets))
        response = probabilities.astype(self.game.dtype)
        self.game.symmetrise(player, response)
        return response
