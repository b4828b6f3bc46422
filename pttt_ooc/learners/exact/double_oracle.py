"""Double oracle over sequences with linear programs: it finds an exact equilibrium, and detects it.

In a restricted game each player has some *allowed* actions at each infoset.  At the beginning, these are the best
responses to uniform play.  In each iteration, a linear program finds an equilibrium of the restricted game, see
:mod:`pttt_ooc.solving.restricted_game`.  At infosets that its plans do not reach, both play their first behaviour.
The actions of the whole game's exact best responses to these strategies are then allowed where they are reached
(Bosansky et al. 2014, section 4).  When nothing is new, the best responses gain nothing over the equilibrium, so it is
an equilibrium of the whole game.

In the paper, a player who leaves the opponent's restricted game gets a bound on the payoff there.  Here they meet the
opponent's first behaviour.  So a program's value may be too high or too low for a while, and only the exact evaluation
of the strategies proves anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from pttt_ooc.extras import check_extra
from pttt_ooc.learners.exact import kernels
from pttt_ooc.learners.learner import Arrays, Learner, LearnerSettings, Pair
from pttt_ooc.learners.learning_game import LearningGame
from pttt_ooc.learners.sampled.restricted_walk import restricted_walk
from pttt_ooc.solving.restricted_game import RestrictedGames
from pttt_ooc.structure.strategy import Strategy


class DoubleOracleSettings(LearnerSettings):
    """No settings."""

    @model_validator(mode="after")
    def _has_its_library(self) -> Self:
        check_extra("learners", "The learner double-oracle")
        return self


class DoubleOracle(Learner[DoubleOracleSettings]):
    """Double oracle over sequences; its strategies are an equilibrium of the last restricted game."""

    settings_model = DoubleOracleSettings
    source = "Bosansky et al. 2014, An exact double-oracle algorithm for zero-sum extensive-form games"

    def start(self, game: LearningGame, settings: DoubleOracleSettings, seed: int) -> None:
        """Allow the actions of best responses to uniform play at all infosets."""
        self.game, self.games = game, RestrictedGames(game.index, restricted_walk(game.index))
        uniform = [game.reach(p, game.uniform(p)) for p in (0, 1)]
        self.otherwise = [game.best_response(p, uniform[1 - p])[1] for p in (0, 1)]
        self.behaviours = [found.copy() for found in self.otherwise]
        self.allowed = [found > 0 for found in self.otherwise]
        self.news = np.ones(1, np.int64)  # number of actions that the last best responses added

    @property
    def settled(self) -> bool:
        """Whether the last best responses added no action."""
        return not self.news[0]

    def step(self, iterations: int) -> None:
        """Solve the restricted game, then enlarge it."""
        for _ in range(iterations):
            self.counts.iterations += 1
            if self.settled:
                continue
            before = self.games.walked
            _, plans = self.games.solve((self.allowed[0], self.allowed[1]))
            for p in (0, 1):
                self._behave(p, plans[p])
            self.news[0] = sum(self._grow(p) for p in (0, 1))
            self.counts.gradients += 2
            self.counts.states += 2 * self.game.nodes + self.games.walked - before

    def _behave(self, player: int, plan: Any) -> None:
        def arguments(part: slice) -> tuple[Any, ...]:
            return (part.start, plan[part], self.otherwise[player][part], self.behaviours[player][part])

        self.game.run(player, kernels.behave, arguments)

    def _grow(self, player: int) -> int:
        """Allow the best response's actions where it has reach; return the number of new actions."""
        opponent = self.game.reach(1 - player, self.behaviours[1 - player])
        comes = self.game.reach(player, self.game.best_response(player, opponent)[1]).sequences > 0
        news = int((comes & ~self.allowed[player]).sum())
        self.allowed[player] |= comes
        return news

    def strategy(self) -> Pair:
        """The last equilibrium, in the precision of the game."""
        first, second = (Strategy(self.game.index, p, self.behaviours[p]) for p in (0, 1))
        return first, second

    def state(self) -> Arrays:
        """The restricted game and its equilibrium."""
        named: dict[str, list[NDArray[Any]]] = {"allowed": self.allowed, "behaviours": self.behaviours}
        return {"news": self.news, **{f"{name}/{p}": pair[p] for name, pair in named.items() for p in (0, 1)}}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore them."""
        for name, array in self.state().items():
            array[:] = state[name]
