"""The agents of Lifshitz and Tsurel that learn: Q-learning by pairs of state and action, and by features.

They learn when they are seated; their options determine what they learn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pttt_ooc.other_games.arena.agents.base import Agent, values_of
from pttt_ooc.other_games.arena.games.base import ArenaError, Game, State
from pttt_ooc.other_games.arena.kernels.qlearning import LearntValues, qlearning
from pttt_ooc.other_games.arena.kernels.rng import generator


@dataclass
class _QLearner(Agent):
    """Options of both agents.

    Attributes
    ----------
    train
        Games to learn from.
    explore
        The probability of a random move, in the first half of them.
    rate, discount
        The learning rate and the discount.
    teacher
        ``self``: both players learn in games against each other.  ``random``: one learns, the other draws its moves.
    lesson
        The seed of these games.
    """

    train: int = 20_000
    explore: float = 0.3
    rate: float = 0.1
    discount: float = 0.9
    teacher: str = "self"
    lesson: int = 0

    def __post_init__(self) -> None:
        if self.train < 0:
            raise ArenaError(f"The option train of {self.name} must not be below zero.")
        for key in ("explore", "rate", "discount"):
            if not 0 <= getattr(self, key) <= 1:
                raise ArenaError(f"The option {key} of {self.name} is between 0 and 1.")
        if self.teacher not in ("self", "random"):
            raise ArenaError(f"The option teacher of {self.name} is self or random, not '{self.teacher}'.")

    def seat(self, game: Game) -> None:
        """Learn."""
        super().seat(game)
        values = values_of(game, 2)
        self._kernels = qlearning(game.rules, values)
        self._learnt = self.blank(values.FEATURES)
        alone = self.teacher == "random"
        rng = generator(self.lesson)
        self._kernels.train(game.start(), self.train, self.explore, self.rate, self.discount, alone, self._learnt, rng)
        if not np.isfinite(self._learnt.weights).all():
            raise ArenaError(f"The agent {self.name} has learnt without bounds: lower its rate.")
        self._kernels.choose(game.start(), self._learnt, rng)

    def blank(self, features: int) -> LearntValues:
        """Values before anything has been learnt."""
        raise NotImplementedError

    def choose(self, state: State) -> int:
        """The move with the highest value; a pair that was never seen has the value zero."""
        return int(self._kernels.choose(state, self._learnt, self.rng))


@dataclass
class QTable(_QLearner):
    """Learns a value for each pair of a state and an action."""

    name = "qtable"

    def blank(self, features: int) -> LearntValues:
        """An empty table."""
        slots = 1 << (max(self.train, 100) * 80).bit_length()
        slots = min(slots, 1 << 24)
        return LearntValues(np.zeros(slots, dtype=np.int64), np.zeros(slots), np.zeros(0))


@dataclass
class QFeatures(_QLearner):
    """Learns a weight for each feature of heur2."""

    rate: float = 0.0005

    name = "qfeatures"

    def blank(self, features: int) -> LearntValues:
        """All weights zero."""
        return LearntValues(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(features))

    @property
    def weights(self) -> list[float]:
        """The weights of the features, in their order."""
        return [float(weight) for weight in self._learnt.weights]
