"""The agents that need nothing else: random moves, and a user's file."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from dataclasses import dataclass

from pttt_ooc.other_games.arena.agents.base import Agent
from pttt_ooc.other_games.arena.games.base import ArenaError, Game, State
from pttt_ooc.other_games.arena.kernels.perft import counting


@dataclass
class Random(Agent):
    """Draws its moves uniformly."""

    name = "random"

    def seat(self, game: Game) -> None:
        """Compile the kernel that draws moves."""
        super().seat(game)
        self._draw = counting(game.rules).random_move
        self._draw(game.start(), self.rng)

    def choose(self, state: State) -> int:
        """A legal move, each with the same chance."""
        return int(self._draw(state, self.rng))


@dataclass
class File(Agent):
    """A user's agent: a Python file with a function ``choose(legal, state)``.

    `legal` is the list of legal moves, `state` the position as a list of whole numbers (see
    :mod:`pttt_ooc.other_games.arena.games.base`).  The function returns one of the legal moves.  It always runs in a
    process of its own, but that process is not a sandbox.
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
        """The move that the file's function returns."""
        return self._choose(self.game.legal(state), state.tolist())
