"""The agent that searches by alpha-beta as strong programs do."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pttt_ooc.other_games.arena.agents.base import logistic, values_of
from pttt_ooc.other_games.arena.agents.search_limits import Bounded
from pttt_ooc.other_games.arena.games.base import KEY, PLAYER, RESULT, UNFINISHED, ArenaError, Game, State
from pttt_ooc.other_games.arena.kernels.clock import NODE_LIMIT, REACHED, VALUE
from pttt_ooc.other_games.arena.research.kernels.alphabeta import search_kernel, work
from pttt_ooc.other_games.arena.research.players import evaluations


@dataclass
class Tuned(Bounded):
    """Alpha-beta with a transposition table, move ordering and quiescence; its depth counts single plies.

    Attributes
    ----------
    heur
        The number of the heuristic.
    slots
        Slots of the transposition table, a power of two.
    path
        The file of a learnt evaluation, which ``pttt lab train-ultimate`` writes, or of a network; ``shipped`` or
        ``network``, those in the package.  It replaces the heuristic.
    """

    heur: int = 3
    slots: int = 1 << 20
    path: str = ""

    name = "tuned"

    def __post_init__(self) -> None:
        self.check(self.name, {"depth": 6})
        if not 2 <= self.slots <= 1 << 28 or self.slots & (self.slots - 1):
            raise ArenaError("The option slots of tuned must be a power of two from 2 to 2**28.")

    def seat(self, game: Game) -> None:
        """Compile the search for the game, and make its table."""
        super().seat(game)
        values_of(game, self.heur)
        if game.name != "ultimate":
            raise ArenaError(f"The heuristics for {game.name} are not enough for this agent.")
        path, weights, draw = Path(self.path), (np.zeros(0), np.zeros(0)), 0.5
        # An evaluation and its tables are loaded only if they are needed.
        values: Any
        if self.path and evaluations.is_network(path):
            from pttt_ooc.other_games.arena.research.kernels import ultimate_network as values

            network, draw = evaluations.load_network(path, game)
            weights = (values.whole(network),) * 2
        elif self.path:
            from pttt_ooc.other_games.arena.research.kernels import ultimate_learnt as values

            (own, others), draw = evaluations.load_weights(path, game)
            weights = values.whole(own, others), values.whole(others, own)
        else:
            from pttt_ooc.other_games.arena.research.kernels import ultimate_plain as values
        self._scale = values.SCALE if self.path else 1.0
        self.draw = round(self._scale * math.log(draw / (1 - draw)))
        self.values, self._choose = values, search_kernel(game.rules, values)
        self._deepest = min(self.depth or game.rules.LENGTH, game.rules.LENGTH)
        first = work(game.rules, values, self.slots, weights[0])
        self.works = first, first._replace(weights=weights[1])  # by the player whom the agent plays
        self._memory = first.memory
        self._memory[: game.rules.WORDS] = game.start()
        self._control[NODE_LIMIT] = 100
        self._choose(first, self.heur, 1, 0, self._control)  # compiles
        self.begin(0)

    def begin(self, *seed: int) -> None:
        """Forget all positions."""
        super().begin(*seed)
        self._memory[:] = 0

    def choose(self, state: State) -> int:
        """The best move found within the budget."""
        self._memory[: self.game.rules.WORDS] = state
        searched = self.works[int(state[PLAYER])]
        return int(self._choose(searched, self.heur, self._deepest, self.draw, self._limits()))

    def line(self, state: State) -> list[int]:
        """The best moves that the transposition table holds, from the position of the last move on."""
        table, found = self._memory[len(self._memory) - 2 * self.slots :], list[int]()
        while state[RESULT] == UNFINISHED and len(found) <= self._control[REACHED]:
            slot = 2 * (int(state[KEY]) & self.slots - 1)
            move = (int(table[slot + 1]) >> 10 & 0x3FFF) - 1
            if table[slot] != state[KEY] or move not in self.game.legal(state):
                break
            found.append(move)
            state = self.game.play(state, move)
        return found

    def points(self, state: State) -> float:
        """An estimate of the points of player 0, where a win is 1 and a draw one half; it forgets all positions.

        It needs a learnt evaluation, in which a draw is worth less than half to the player who searches: the estimate
        is the mean of both players' views.
        """
        if not self.path:
            raise ArenaError("Only a learnt evaluation of tuned estimates points: give it a path.")
        found = 0.0
        for player, searched in enumerate(self.works):
            self._memory[:] = 0
            self._memory[: self.game.rules.WORDS] = state
            sign = 1 if int(state[PLAYER]) == player else -1
            self._choose(searched, self.heur, self._deepest, sign * self.draw, self._limits())
            chance = logistic(sign * int(self._control[VALUE]) / self._scale)
            found += (chance if player == 0 else 1 - chance) / 2
        return found
