"""The lazy double oracle: it finds an exact equilibrium, and detects it; see :mod:`pttt_ooc.exact.double_oracle`.

An iteration is a round: the restricted game is solved, and the actions of best responses in the whole game join it.
The double oracle does not list infosets.  Its strategies are written at all infosets only for the loop's evaluation,
which all learners share.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from pttt_ooc.exact.double_oracle import oracle
from pttt_ooc.exact.double_oracle.complete_strategy import write_whole
from pttt_ooc.exact.double_oracle.state_arrays import as_bytes, from_bytes
from pttt_ooc.extras import check_extra
from pttt_ooc.learners.learner import Arrays, Learner, LearnerSettings, Pair
from pttt_ooc.learners.learning_game import LearningGame


class DoubleOracleSettings(LearnerSettings):
    """No settings."""

    @model_validator(mode="after")
    def _has_its_library(self) -> Self:
        check_extra("exact", "The learner double-oracle")
        return self


class DoubleOracle(Learner[DoubleOracleSettings]):
    """Lazy double oracle over sequences, in double precision; its strategies are those of the last round."""

    settings_model = DoubleOracleSettings
    source = "Bosansky et al. 2014, An exact double-oracle algorithm for zero-sum extensive-form games"

    def start(self, game: LearningGame, settings: DoubleOracleSettings, seed: int) -> None:
        """Begin with the pure rule."""
        self.game = game
        self.oracle = oracle.DoubleOracle(game.game, threads=game.engine.workers.count)

    @property
    def settled(self) -> bool:
        """Whether the last best responses to an equilibrium of the restricted game had nothing new."""
        return self.oracle.last is not None and self.oracle.last.settled

    def step(self, iterations: int) -> None:
        """Make rounds."""
        for _ in range(iterations):
            self.counts.iterations += 1
            if not self.settled:
                last = self.oracle.round()
                self.counts.states += sum(last.visited) + last.histories

    def strategy(self) -> Pair:
        """The plans of the last round, and the pure rule where they do not reach."""
        first, second = (
            write_whole(
                *(self.oracle.rules, plan, self.game.index, player, np.zeros(self.game.players[player].sequences)),
                always=True,
                threads=self.game.engine.workers.count,
            )
            for player, plan in enumerate(self.oracle.plans)
        )
        return first, second

    def facts(self) -> dict[str, float]:
        """The interval that is proven to contain the value of the game."""
        last = self.oracle.last
        return dict(zip(("value_lower", "value_upper"), last.interval, strict=True)) if last else {}

    def state(self) -> Arrays:
        """The state of the double oracle, as bytes of a file."""
        return {"oracle": np.frombuffer(as_bytes(self.oracle.state()), np.uint8)}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore it."""
        self.oracle.restore(from_bytes(state["oracle"].tobytes()))
