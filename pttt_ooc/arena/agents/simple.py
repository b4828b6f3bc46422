"""The random agent, and agents from a file of somebody's own."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pttt_ooc.arena.agents.base import Agent
from pttt_ooc.arena.games.base import ArenaError, Game, State
from pttt_ooc.arena.kernels.rng import below


@dataclass
class Random(Agent):
    """Draws its moves uniformly."""

    name = "random"

    def choose(self, state: State) -> int:
        """A legal move, each with the same chance."""
        moves = self.game.legal(state)
        return moves[int(draw(self.rng, len(moves)))]


def draw(rng: Any, bound: int) -> int:
    """A number from 0 to ``bound - 1``, as kernels draw it."""
    import numpy as np

    with np.errstate(over="ignore"):  # the generator multiplies modulo 2**64
        return int(below(rng, bound))


@dataclass
class File(Agent):
    """Somebody's own agent: a Python file with a function ``choose(legal, state)``.

    `legal` is the list of legal moves, `state` the position as a list of whole numbers (see
    :mod:`pttt_ooc.arena.games.base`).  The function returns one of the legal moves.  It always runs in a process of its
    own, but that process is not a sandbox.
    """

    path: str = ""

    name = "file"

    def seat(self, game: Game) -> None:
        """Run the file."""
        super().seat(game)
        if not self.path:
            raise ArenaError("The agent file needs a path, as in file:path=mine.py.")
        try:
            names = runpy.run_path(self.path)
        except Exception as error:
            raise ArenaError(f"{self.path} cannot be run: {type(error).__name__}: {error}") from error
        if not callable(names.get("choose")):
            raise ArenaError(f"{self.path} has no function choose(legal, state).")
        self._choose: Callable[[list[int], list[int]], int] = names["choose"]

    def choose(self, state: State) -> int:
        """What the file's function answers."""
        return self._choose(self.game.legal(state), state.tolist())
