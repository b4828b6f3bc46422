"""The evaluation by patterns on lines: its training, its file, its strength, and the agent that plays by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.other_games.arena.agents.base import Agent
from pttt_ooc.other_games.arena.games.base import FIRST, PLAYER, RESULT, UNFINISHED, ArenaError, Game, State
from pttt_ooc.other_games.arena.kernels.rng import generator
from pttt_ooc.other_games.arena.research.kernels.line_patterns import PATTERNS, patterns
from pttt_ooc.other_games.arena.research.players.weights import read_weights, write_weights

HEAD = b"pttt arena patterns 1\n"
ROUNDS = 10
"""The games of a training are played in rounds; the step size shrinks from round to round."""

EXPLORE, STEP, SHRINKING, LAMBDA = 0.1, 3.0, 0.75, 0.8


def train(
    game: Game, games: int, seed: int = 0, tell: Callable[[int, NDArray[np.int64]], None] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Learn weights by games of the evaluation against itself.

    Parameters
    ----------
    tell
        Called after each round with the number of games played and their results.

    Returns
    -------
    weights
        float64, shape (PATTERNS,).
    results
        int64, shape (4,): all games, counted by the word RESULT.
    """
    check(game)
    weights, results = np.zeros(PATTERNS), np.zeros(4, dtype=np.int64)
    kernels, rng = patterns(game.rules), generator(seed)
    for number in range(ROUNDS):
        part = games * (number + 1) // ROUNDS - games * number // ROUNDS
        rates = np.array([EXPLORE, STEP * SHRINKING**number, LAMBDA])
        kernels.train(game.start(), part, rates, weights, results, rng)
        if tell:
            tell(int(results.sum()), results)
    return weights, results


def check(game: Game) -> None:
    """Refuse games without rows."""
    if game.name not in ("mnk", "infinite"):
        raise ArenaError(f"Patterns on lines are for mnk and infinite only, not for {game.name}.")


def save(path: Path, game: Game, weights: NDArray[np.float64]) -> None:
    """Write weights atomically."""
    write_weights(path, HEAD, {"need": int(game.need)}, weights, np.float64)  # type: ignore[attr-defined]


def load(path: Path, game: Game) -> NDArray[np.float64]:
    """Read weights; they fit every board with the same length of a row.

    Raises
    ------
    ArenaError
        The file is damaged, of another format, or for rows of another length.
    """
    check(game)
    header, weights = read_weights(path, HEAD, PATTERNS, np.float64)
    if "need" not in header:
        raise ArenaError(f"{path} is damaged: its second line does not say what it holds; train anew.")
    if header["need"] != game.need:  # type: ignore[attr-defined]
        raise ArenaError(f"{path} is for {str(header['need'])[:20]} in a row, which {game.text} is not.")
    return weights


@dataclass
class PatternAgent(Agent):
    """K-in-a-row by patterns on lines, whose weights have been learnt by TD(lambda) from self-play.

    It looks one move ahead.

    Attributes
    ----------
    path
        The file of the weights, as ``pttt lab train-patterns`` writes it.
    """

    path: str = ""

    name = "patterns"

    def seat(self, game: Game) -> None:
        """Read the weights."""
        super().seat(game)
        if not self.path:
            raise ArenaError("The agent patterns needs the file of its weights, as in patterns:path=FILE.")
        self.take(game, load(Path(self.path), game))

    def take(self, game: Game, weights: Any) -> None:
        """Play with weights in memory."""
        super().seat(game)
        self._weights, self._kernels = weights, patterns(game.rules)
        self._moves = np.zeros(game.rules.WIDTH, dtype=np.int64)

    def choose(self, state: State) -> int:
        """The move to the position with the greatest value."""
        return int(self._kernels.best(state, self._weights, self._moves, self.rng))


def versus(game: Game, agents: tuple[Agent, Agent], games: int, seed: int = 0, opening: int = 2) -> NDArray[np.int64]:
    """Games of two seated agents, who take turns to start; the first moves of each game are drawn at random.

    Without them two deterministic agents would repeat one game.

    Parameters
    ----------
    opening
        The number of random moves, at most 2 rows and columns from the middle.

    Returns
    -------
    results
        int64, shape (3,): wins of the first agent, of the second, draws.
    """
    results, rng = np.zeros(3, dtype=np.int64), np.random.default_rng(seed)
    for number in range(games):
        for agent in agents:
            agent.begin(seed, number // 2)
        state = game.start()
        if number % 2 == 0:  # the same opening for both
            squares = rng.permutation(25)[:opening]
        for square in squares:
            row, column = divmod(int(square), 5)
            state = game.play(state, game.read_move(f"{column - 2} {row - 2}"))
        while state[RESULT] == UNFINISHED:
            state = game.play(state, agents[(int(state[PLAYER]) + number) % 2].choose(state))
        winner = int(state[RESULT]) - FIRST
        results[(winner + number) % 2 if winner < 2 else 2] += 1
    return results
