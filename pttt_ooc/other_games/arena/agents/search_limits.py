"""The base class of agents whose kernels search until a limit of nodes or time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pttt_ooc.other_games.arena.agents.base import Agent, Budget, Effort
from pttt_ooc.other_games.arena.games.base import Game
from pttt_ooc.other_games.arena.kernels import clock as clocks


@dataclass
class Bounded(Budget, Agent):
    """An agent with a budget; its kernel reads limits from the array ``_control``, and writes costs to it."""

    def _limits(self) -> Any:
        """The array ``_control`` with the limits of the next move; the clock starts."""
        control = self._control
        control[:] = 0
        control[clocks.NODE_LIMIT] = self.nodes or np.iinfo(np.int64).max
        if self.time is not None:
            control[clocks.CLOCK] = clocks.WALL if self.clock == "wall" else clocks.PROCESSOR
            control[clocks.DEADLINE] = clocks.nanoseconds(int(control[clocks.CLOCK])) + int(self.time * 1e9)
        return control

    def seat(self, game: Game) -> None:
        """Make room for the limits."""
        super().seat(game)
        self._control = np.zeros(8, dtype=np.int64)

    @property
    def effort(self) -> Effort:
        """Nodes visited, or games played out, and the depth that the last move reached."""
        return Effort(int(self._control[clocks.NODES]), int(self._control[clocks.REACHED]))

    @property
    def limited_by_time(self) -> bool:
        """Whether the budget is a time."""
        return self.time is not None
