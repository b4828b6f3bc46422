"""The learnt evaluation of Ultimate tic-tac-toe: its training and its file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.other_games.arena.games.base import ArenaError, Game
from pttt_ooc.other_games.arena.kernels.rng import generator
from pttt_ooc.other_games.arena.learning.weights import read_weights, write_weights

HEAD = b"pttt arena ultimate 2\n"
ROUNDS = 20
"""The games of a training are played in rounds; the step size shrinks from round to round."""

EXPLORE, STEP, SHRINKING, LAMBDA, OPENING = 0.1, 3.0, 0.85, 0.8, 8

SHIPPED = "shipped"
"""In place of the path of a file: the weights of the package for the game, which ``pttt arena train-ultimate -o FILE
--game GAME`` makes (4,000,000 games, seed 0; about 200 s of one core).  They are under the package's licence."""

SHIPPED_DIGESTS = {"ultimate": "f64ce08a61d1a0b9", "ultimate:most": "88a40a0dad7fd4cc"}
"""The games that have such weights, and BLAKE2b of their files, 8 bytes."""

DRAW = 0.15
"""The value of a draw to the player who searches, where a win is 1: against weaker players, most lost
points are draws."""


def train(
    game: Game, games: int, seed: int = 0, tell: Callable[[int, NDArray[np.int64]], None] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Learn weights by games of the evaluation against itself.

    Parameters
    ----------
    tell
        Called after each round, with the number of games so far and their results.

    Returns
    -------
    weights
        float64, shape (2, WEIGHTS): for the player to whom draws are worth DRAW, and for the other one.
    results
        int64, shape (4,): of all games, by the word RESULT.
    """
    from pttt_ooc.other_games.arena.kernels.ultimate_learnt import WEIGHTS
    from pttt_ooc.other_games.arena.kernels.ultimate_learnt import train as played

    check(game)
    weights, results, rng = np.zeros((2, WEIGHTS)), np.zeros(4, dtype=np.int64), generator(seed)
    for number in range(ROUNDS):
        part = games * (number + 1) // ROUNDS - games * number // ROUNDS
        rates = np.array([EXPLORE, STEP * SHRINKING**number, LAMBDA, OPENING, DRAW])
        played(game.start(), part, rates, weights, results, rng)
        if tell is not None:
            tell(games * (number + 1) // ROUNDS, results)
    return weights, results


def check(game: Game) -> None:
    """Refuse other games."""
    if game.name != "ultimate":
        raise ArenaError(f"This evaluation is learnt for ultimate only, not for {game.name}.")


def shipped_file(game: Game) -> Path:
    """The file of the package's weights for a game.

    Raises
    ------
    ArenaError
        It has none.
    """
    if game.text not in SHIPPED_DIGESTS:
        known = " and ".join(SHIPPED_DIGESTS)
        raise ArenaError(f"The package has weights for {known}, not for {game.text}: pttt arena train-ultimate.")
    return Path(__file__).with_name(f"{game.text.replace(':', '-')}.weights")


def save(path: Path, game: Game, weights: NDArray[np.float64]) -> None:
    """Write weights; the file is whole or as before."""
    write_weights(path, HEAD, {"game": game.text, "draw": DRAW}, weights, np.float32)


def load(path: Path, game: Game) -> tuple[NDArray[np.float64], float]:
    """Read weights, and their value of a draw; `path` may be :data:`SHIPPED`.

    Raises
    ------
    ArenaError
        The file is damaged, of another format, or for other rules; or the package has no weights for the game.
    """
    from pttt_ooc.other_games.arena.kernels.ultimate_learnt import WEIGHTS

    check(game)
    if str(path) == SHIPPED:
        path = shipped_file(game)
    header, weights = read_weights(path, HEAD, 2 * WEIGHTS, np.float32)
    if header.get("game") != game.text:
        raise ArenaError(f"{path} is for {str(header.get('game'))[:40]}, not for {game.text}: train anew.")
    draw = header.get("draw")
    if not isinstance(draw, float) or not 0 < draw < 1:
        raise ArenaError(f"{path} is damaged: it does not say what a draw is worth; train anew.")
    return weights.reshape(2, WEIGHTS), draw
