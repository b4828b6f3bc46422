"""Alpha-beta as strong programs do it, as an agent."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from pttt_ooc.arena.agents.bounded import Bounded, values_of
from pttt_ooc.arena.games.base import ArenaError, Game, State
from pttt_ooc.arena.kernels import search
from pttt_ooc.arena.kernels.tuned import tuning, work
from pttt_ooc.arena.learning.ultimate import load


@dataclass
class Tuned(Bounded):
    """Alpha-beta with a table, an order of moves, and quiescence; its depth counts single plies.

    Attributes
    ----------
    heur
        The number of the heuristic.
    slots
        Of the transposition table, a power of two.
    path
        Of a learnt evaluation, as ``pttt arena train-ultimate`` writes it, in the place of the heuristic.
    """

    heur: int = 3
    slots: int = 1 << 20
    path: str = ""

    name = "tuned"

    def __post_init__(self) -> None:
        self.check(self.name, {"depth": 6})
        if not 2 <= self.slots <= 1 << 28 or self.slots & (self.slots - 1):
            raise ArenaError("The option slots of tuned is a power of two, up to 2**28.")

    def seat(self, game: Game) -> None:
        """Compile the search for the game, and make its table."""
        super().seat(game)
        values, weights = values_of(game, self.heur), np.zeros(0)
        if self.path:
            values, weights = import_module("pttt_ooc.arena.kernels.ultimate_learnt"), load(Path(self.path), game)
        self._choose = tuning(game.rules, values)
        self._deepest = min(self.depth or game.rules.LENGTH, game.rules.LENGTH)
        self._work = work(game.rules, self.slots, weights)
        self._work.states[0] = game.start()
        self._control[search.NODE_LIMIT] = 100
        self._choose(self._work, self.heur, 1, self._control)  # compiles
        self.begin(0)

    def begin(self, *seed: int) -> None:
        """Forget all positions."""
        super().begin(*seed)
        for array in (self._work.keys, self._work.entries, self._work.history):
            array[:] = 0

    def choose(self, state: State) -> int:
        """The best move found within the budget."""
        self._work.states[0] = state
        return int(self._choose(self._work, self.heur, self._deepest, self._limits()))
