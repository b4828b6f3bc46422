"""Learnt evaluations of Ultimate tic-tac-toe: the training of weights, their files, and those of networks.

The file of a network is like one of :mod:`.weights`, with compressed 16-bit numbers.  The package has both, under its
licence.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.disk.files import atomic_write_bytes, explain_errors
from pttt_ooc.other_games.arena.games.base import ArenaError, Game
from pttt_ooc.other_games.arena.kernels.rng import generator
from pttt_ooc.other_games.arena.research.players.weights import read_weights, write_weights

if TYPE_CHECKING:
    from pttt_ooc.other_games.arena.research.kernels.ultimate_network import Network

HEAD, NETWORK_HEAD = b"pttt arena ultimate 2\n", b"pttt arena ultimate network 3\n"
MOST_BYTES = 1 << 24
"""A longer file is no network of ours."""

ROUNDS = 20
"""The games of a training are played in rounds; the step size shrinks from round to round."""

EXPLORE, STEP, SHRINKING, LAMBDA, OPENING = 0.1, 3.0, 0.85, 0.8, 8

SHIPPED, NETWORK = "shipped", "network"
"""They stand for the path of a file: the weights of the package for the game, which ``pttt lab train-ultimate -o FILE
--game GAME`` makes (4,000,000 games, seed 0; about 200 s of one core), and its network, which :mod:`.ultimate_training`
makes."""

SHIPPED_DIGESTS = {"ultimate": "f64ce08a61d1a0b9", "ultimate:most": "88a40a0dad7fd4cc"}
NETWORK_DIGESTS = {"ultimate": "d108fe1b0e0d1a4d", "ultimate:most": "6ba1d94c1c8c8e84"}
"""The games that have such weights, and such a network, and BLAKE2b of their files, 8 bytes."""

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
        int64, shape (4,): all games, counted by the word RESULT.
    """
    from pttt_ooc.other_games.arena.research.kernels.ultimate_learnt import WEIGHTS
    from pttt_ooc.other_games.arena.research.kernels.ultimate_learnt import train as played

    _check_game(game)
    weights, results, rng = np.zeros((2, WEIGHTS)), np.zeros(4, dtype=np.int64), generator(seed)
    for number in range(ROUNDS):
        part = games * (number + 1) // ROUNDS - games * number // ROUNDS
        rates = np.array([EXPLORE, STEP * SHRINKING**number, LAMBDA, OPENING, DRAW])
        played(game.start(), part, rates, weights, results, rng)
        if tell is not None:
            tell(games * (number + 1) // ROUNDS, results)
    return weights, results


def _check_game(game: Game) -> None:
    if game.name != "ultimate":
        raise ArenaError(f"This evaluation is learnt for ultimate only, not for {game.name}.")


def _draw_of(path: Path, header: Mapping[str, Any], game: Game) -> float:
    """What a draw is worth according to the metadata of a file, which must be for the game."""
    if header.get("game") != game.text:
        raise ArenaError(f"{path} is for {str(header.get('game'))[:40]}, not for {game.text}: train anew.")
    draw = header.get("draw")
    if not isinstance(draw, float) or not 0 < draw < 1:
        raise ArenaError(f"{path} is damaged: it does not say what a draw is worth; train anew.")
    return draw


def shipped_file(game: Game) -> Path:
    """The file of the package's weights for a game; an ArenaError if it has none."""
    if game.text not in SHIPPED_DIGESTS:
        known = " and ".join(SHIPPED_DIGESTS)
        raise ArenaError(f"The package has weights for {known}, not for {game.text}: pttt lab train-ultimate.")
    return Path(__file__).with_name(f"{game.text.replace(':', '-')}.weights")


def network_file(game: Game) -> Path:
    """The file of the package's network for a game; an ArenaError if it has none."""
    if game.text not in NETWORK_DIGESTS:
        known = " and ".join(NETWORK_DIGESTS)
        raise ArenaError(f"The package has networks for {known}, not for {game.text}: name a file of your own.")
    return Path(__file__).with_name(f"{game.text.replace(':', '-')}.network")


def save_weights(path: Path, game: Game, weights: NDArray[np.float64]) -> None:
    """Write weights of Ultimate atomically."""
    write_weights(path, HEAD, {"game": game.text, "draw": DRAW}, weights, np.float32)


def load_weights(path: Path, game: Game) -> tuple[NDArray[np.float64], float]:
    """Read weights of Ultimate, and their value of a draw; `path` may be :data:`SHIPPED`.

    Raises
    ------
    ArenaError
        The file is damaged, of another format, or for other rules; or the package has no weights for the game.
    """
    from pttt_ooc.other_games.arena.research.kernels.ultimate_learnt import WEIGHTS

    _check_game(game)
    if str(path) == SHIPPED:
        path = shipped_file(game)
    header, weights = read_weights(path, HEAD, 2 * WEIGHTS, np.float32)
    return weights.reshape(2, WEIGHTS), _draw_of(path, header, game)


def is_network(path: Path) -> bool:
    """Whether a path names a network and not a file of weights without one."""
    if str(path) in (NETWORK, SHIPPED):
        return str(path) == NETWORK
    with explain_errors(f"read {path}"), open(path, "rb") as file:
        return file.read(len(NETWORK_HEAD)) == NETWORK_HEAD


def save_network(path: Path, game: Game, network: Network, draw: float) -> None:
    """Write a network atomically.

    Parameters
    ----------
    draw
        What a draw is worth to the player who searches, where a win is worth 1.
    """
    numbers = np.concatenate([part.ravel() for part in network]).astype("<f2")
    header = json.dumps({"game": game.text, "draw": draw}).encode()
    atomic_write_bytes(path, NETWORK_HEAD + header + b"\n" + zlib.compress(numbers.tobytes(), 9))


def load_network(path: Path, game: Game) -> tuple[Network, float]:
    """Read a network, and its value of a draw; `path` may be :data:`NETWORK`.

    Raises
    ------
    ArenaError
        The file is damaged, of another format, or for other rules; or the package has no network for the game.
    """
    from pttt_ooc.other_games.arena.research.kernels.ultimate_network import SHAPES, Network

    _check_game(game)
    if str(path) == NETWORK:
        path = network_file(game)
    with explain_errors(f"read {path}"), open(path, "rb") as file:
        data = file.read(MOST_BYTES)
    first, _, rest = data[len(NETWORK_HEAD) :].partition(b"\n")
    sizes = [int(np.prod(shape)) for shape in SHAPES]
    try:
        if not data.startswith(NETWORK_HEAD):
            raise ValueError
        header, decompressor = dict(json.loads(first)), zlib.decompressobj()
        numbers = np.frombuffer(decompressor.decompress(rest, 2 * sum(sizes) + 1), dtype="<f2").astype(np.float64)
        if not decompressor.eof or len(numbers) != sum(sizes) or not np.all(np.isfinite(numbers)):
            raise ValueError
    except (ValueError, TypeError, zlib.error):
        raise ArenaError(f"{path} is not a whole file of a network of this version: train anew.") from None
    parts = np.split(numbers, np.cumsum(sizes)[:-1])
    network = Network(*(part.reshape(shape) for part, shape in zip(parts, SHAPES, strict=True)))
    return network, _draw_of(path, header, game)
