"""The base class of agents whose kernels search until a limit of nodes or time."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from pttt_ooc.other_games.arena.agents.base import Agent, Budget, Effort
from pttt_ooc.other_games.arena.games.base import ArenaError, Game
from pttt_ooc.other_games.arena.kernels import clock as clocks
from pttt_ooc.other_games.arena.kernels import search_control as words


@dataclass
class Bounded(Budget, Agent):
    """An agent with a budget; its kernel reads limits from the array ``_control``, and writes costs to it."""

    def _limits(self) -> Any:
        """The array ``_control`` with the limits of the next move; the clock starts."""
        control = self._control
        control[:] = 0
        control[words.NODE_LIMIT] = self.nodes or np.iinfo(np.int64).max
        if self.time is not None:
            control[words.CLOCK] = clocks.WALL if self.clock == "wall" else clocks.PROCESSOR
            control[words.DEADLINE] = clocks.nanoseconds(int(control[words.CLOCK])) + int(self.time * 1e9)
        return control

    def seat(self, game: Game) -> None:
        """Make room for the limits."""
        super().seat(game)
        self._control = np.zeros(8, dtype=np.int64)

    @property
    def effort(self) -> Effort:
        """Nodes visited, or games played out, and the depth that the last move reached."""
        return Effort(int(self._control[words.NODES]), int(self._control[words.REACHED]))

    @property
    def limited_by_time(self) -> bool:
        """Whether the budget is a time."""
        return self.time is not None


def values_of(game: Game, heuristic: int, *needs: str) -> Any:
    """The module with the heuristics for a game.

    Parameters
    ----------
    needs
        Further functions that it must have.

    Raises
    ------
    ArenaError
        There are none, or none with this number, or they are not enough for this agent.
    """
    try:
        values = import_module(f"pttt_ooc.other_games.arena.kernels.{game.name}_values")
    except ModuleNotFoundError:
        raise ArenaError(f"There is no heuristic for {game.name}, which this agent needs.") from None
    if not all(hasattr(values, name) for name in needs):
        raise ArenaError(f"The heuristics for {game.name} are not enough for this agent.")
    if heuristic not in values.HEURISTICS:
        known = ", ".join(map(str, values.HEURISTICS))
        raise ArenaError(f"{game.name} has no heuristic {heuristic}: heur is one of {known}.")
    return values
