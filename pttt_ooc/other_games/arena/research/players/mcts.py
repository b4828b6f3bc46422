"""Monte Carlo tree search as an agent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pttt_ooc.other_games.arena.agents.search_limits import Bounded
from pttt_ooc.other_games.arena.games.base import DRAW, FIRST, PLAYER, ArenaError, Game, State
from pttt_ooc.other_games.arena.kernels.clock import NODE_LIMIT
from pttt_ooc.other_games.arena.research.kernels.mcts import tree, tree_kernels

SEEN = 30
"""Fewest visits of a move that the agent says it expects."""

_NO_WEIGHTS = np.zeros(0, dtype=np.int16)


@dataclass
class TreeSearch(Bounded):
    """UCT with a solver; the part of the tree below the next position is kept for the next move.

    The budget is a time or a number of visits of leaves: games played out, or positions evaluated.

    Attributes
    ----------
    explore
        The constant of UCT.
    reuse
        Whether the tree is kept from move to move.
    solver
        Whether wins, losses and draws are proven in the tree.
    room
        The most nodes of the tree.
    path
        The file of a learnt evaluation, which ``pttt lab train-ultimate`` writes, or ``shipped``;
        it replaces the games played out.
    """

    explore: float = 0.7
    reuse: bool = True
    solver: bool = True
    room: int = 2_000_000
    path: str = ""

    name = "mcts"

    def __post_init__(self) -> None:
        if self.depth is not None:
            raise ArenaError("The agent mcts has no depth: give it a time, or nodes, the number of games to play out.")
        self.check(self.name, {"nodes": 1000})
        if self.explore < 0:
            raise ArenaError("The option explore of mcts must not be below zero.")
        if not 100 <= self.room < 1 << 30:
            raise ArenaError("The option room of mcts is at least 100, and below 2**30.")

    def seat(self, game: Game) -> None:
        """Compile the search for the game, and make room for its tree."""
        super().seat(game)
        self._kernels, self._weights, self._draws = tree_kernels(game.rules), (_NO_WEIGHTS, _NO_WEIGHTS), (0.5, 0.5)
        if self.path:
            # The evaluation and its tables are loaded only if they are needed.
            from pttt_ooc.other_games.arena.research.kernels import ultimate_learnt as values
            from pttt_ooc.other_games.arena.research.players.evaluations import load_weights

            (own, others), draw = load_weights(Path(self.path), game)
            self._kernels = tree_kernels(game.rules, values)
            self._weights = values.whole(own, others), values.whole(others, own)  # by the player whom the agent plays
            self._draws = draw, 1.0 - draw
        self._tree, self._other = tree(self.room), tree(self.room)
        self.begin(0)
        first = game.start()
        self._control[NODE_LIMIT] = 2
        self._grow(first, self._control)  # these lines compile
        self._kernels.keep(self._tree, first, first, self._other)
        self._kernels.best(self._tree, 0, self.solver)
        self.begin(0)

    def begin(self, *seed: int) -> None:
        """Forget the tree."""
        super().begin(*seed)
        self._plant()

    def _plant(self) -> None:
        self._state: State | None = None
        self._tree.filled[0] = 1
        for array in self._tree[:-1]:
            array[0] = 0

    def choose(self, state: State) -> int:
        """The most visited move."""
        control = self._limits()
        if self.reuse and self._state is not None and self._kernels.keep(self._tree, self._state, state, self._other):
            self._tree, self._other = self._other, self._tree
        else:
            self._plant()
        self._grow(state, control)
        self._state = state.copy()
        return int(self._kernels.best(self._tree, int(state[PLAYER]), self.solver))

    def _grow(self, state: State, control: Any) -> None:
        player = int(state[PLAYER])
        self._kernels.grow(
            self._tree,
            state,
            self.rng,
            self.explore,
            self.solver,
            self._draws[player],
            self._weights[player],
            control,
        )

    def line(self, state: State) -> list[int]:
        """The last move, and the most visited moves after it, each in at least :data:`SEEN` visits."""
        tree, found, node = self._tree, list[int](), 0
        while number := int(tree.count[node]):
            begin = int(tree.first[node])
            node = begin + int(np.argmax(tree.visits[begin : begin + number]))
            if not found:  # a move that is proven to win may have fewer visits
                chosen = int(self._kernels.best(self._tree, int(state[PLAYER]), self.solver))
                node = begin + int(np.flatnonzero(tree.move[begin : begin + number] == chosen)[0])
            elif tree.visits[node] < SEEN:
                break
            found.append(int(tree.move[node]))
        return found

    def points(self, state: State) -> float:
        """An estimate of the points of player 0, where a win is 1 and a draw one half: the mean of the games."""
        self.choose(state)
        if self.proven:
            return {FIRST: 1.0, DRAW: 0.5}.get(self.proven, 0.0)
        begin = int(self._tree.first[0])
        below = slice(begin, begin + int(self._tree.count[0]))
        mean = float(self._tree.points[below].sum() / self._tree.visits[below].sum())
        return mean if state[PLAYER] == 0 else 1 - mean

    @property
    def proven(self) -> int:
        """The result of the last position under perfect play, as the word RESULT, or zero if it is not known."""
        return int(self._tree.proven[0])
