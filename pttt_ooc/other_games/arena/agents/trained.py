"""Agents that play by learnt tables and weights."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pttt_ooc.other_games.arena.agents.base import Agent
from pttt_ooc.other_games.arena.games.base import PLAYER, ArenaError, Game, State


@dataclass
class ValueTable(Agent):
    """The learner of the report on reinforcement learning: it moves to the position with the greatest value.

    Attributes
    ----------
    path
        The directory of the two policies, as ``pttt arena train`` writes it.
    """

    path: str = ""

    name = "table"

    def seat(self, game: Game) -> None:
        """Read the policies."""
        from pttt_ooc.other_games.arena.kernels.value_table import learning
        from pttt_ooc.other_games.arena.learning.training import FILES, Training

        super().seat(game)
        if game.name not in ("mnk", "infinite"):
            raise ArenaError("The agent table plays mnk and infinite only.")
        if not self.path:
            raise ArenaError("The agent table needs the directory of its policies, as in table:path=DIR.")
        for file in FILES:
            if not (Path(self.path) / file).exists():
                raise ArenaError(f"{self.path} has no {file}: train there first, with pttt arena train.")
        self.take(game, Training(game, Path(self.path)).tables, learning(game.rules))

    def take(self, game: Game, tables: list[Any], kernels: Any) -> None:
        """Play by tables that are in memory."""
        super().seat(game)
        self._tables, self._kernels = tables, kernels
        self._moves = np.zeros(game.rules.WIDTH, dtype=np.int64)

    def choose(self, state: State) -> int:
        """The first of the moves with the greatest value."""
        table = self._tables[int(state[PLAYER])]
        return int(self._kernels.best(state, self._moves, table.keys, table.values, False, self.rng))


@dataclass
class PatternAgent(Agent):
    """K-in-a-row by patterns on lines, whose weights have been learnt by TD(lambda) from self-play.

    It looks one move ahead.

    Attributes
    ----------
    path
        The file of the weights, as ``pttt arena train-patterns`` writes it.
    """

    path: str = ""

    name = "patterns"

    def seat(self, game: Game) -> None:
        """Read the weights."""
        from pttt_ooc.other_games.arena.agents.patterns import load

        super().seat(game)
        if not self.path:
            raise ArenaError("The agent patterns needs the file of its weights, as in patterns:path=FILE.")
        self.take(game, load(Path(self.path), game))

    def take(self, game: Game, weights: Any) -> None:
        """Play by weights that are in memory."""
        from pttt_ooc.other_games.arena.kernels.line_patterns import patterns

        super().seat(game)
        self._weights, self._kernels = weights, patterns(game.rules)
        self._moves = np.zeros(game.rules.WIDTH, dtype=np.int64)

    def choose(self, state: State) -> int:
        """The move to the position with the greatest value."""
        return int(self._kernels.best(state, self._weights, self._moves, self.rng))
