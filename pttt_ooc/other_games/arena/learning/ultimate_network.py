"""The file of a neural network that evaluates Ultimate tic-tac-toe, and the networks in the package."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pttt_ooc.disk.files import atomic_write_bytes, explain_errors
from pttt_ooc.other_games.arena.games.base import ArenaError, Game
from pttt_ooc.other_games.arena.learning.ultimate import SHIPPED, check

if TYPE_CHECKING:
    from pttt_ooc.other_games.arena.kernels.ultimate_network import Network

HEAD = b"pttt arena ultimate network 3\n"
MOST_BYTES = 1 << 24
"""A longer file is none of ours."""

NETWORK = "network"
"""In place of the path of a file: the network of the package for the game, which ``python -m
pttt_ooc.other_games.arena.experiments.ultimate_training`` makes.  It is under the package's licence."""

NETWORK_DIGESTS = {"ultimate": "d108fe1b0e0d1a4d", "ultimate:most": "6ba1d94c1c8c8e84"}
"""The games that have such a network, and BLAKE2b of their files, 8 bytes."""


def is_network(path: Path) -> bool:
    """Whether a path names a network and not a file of weights without one."""
    if str(path) in (NETWORK, SHIPPED):
        return str(path) == NETWORK
    with explain_errors(f"read {path}"), open(path, "rb") as file:
        return file.read(len(HEAD)) == HEAD


def network_file(game: Game) -> Path:
    """The file of the package's network for a game.

    Raises
    ------
    ArenaError
        It has none.
    """
    if game.text not in NETWORK_DIGESTS:
        known = " and ".join(NETWORK_DIGESTS)
        raise ArenaError(f"The package has networks for {known}, not for {game.text}: name a file of your own.")
    return Path(__file__).with_name(f"{game.text.replace(':', '-')}.network")


def save(path: Path, game: Game, network: Network, draw: float) -> None:
    """Write a network as compressed numbers of 16 bits; the file is whole or as before.

    Parameters
    ----------
    draw
        What a draw is worth to the player who searches, where a win is worth 1.
    """
    numbers = np.concatenate([part.ravel() for part in network]).astype("<f2")
    header = json.dumps({"game": game.text, "draw": draw}).encode()
    atomic_write_bytes(path, HEAD + header + b"\n" + zlib.compress(numbers.tobytes(), 9))


def load(path: Path, game: Game) -> tuple[Network, float]:
    """Read a network, and its value of a draw; `path` may be :data:`NETWORK`.

    Raises
    ------
    ArenaError
        The file is damaged, of another format, or for other rules; or the package has no network for the game.
    """
    from pttt_ooc.other_games.arena.kernels.ultimate_network import SHAPES, Network

    check(game)
    if str(path) == NETWORK:
        path = network_file(game)
    with explain_errors(f"read {path}"), open(path, "rb") as file:
        data = file.read(MOST_BYTES)
    first, _, rest = data[len(HEAD) :].partition(b"\n")
    sizes = [int(np.prod(shape)) for shape in SHAPES]
    try:
        if not data.startswith(HEAD):
            raise ValueError
        header, decompressor = dict(json.loads(first)), zlib.decompressobj()
        numbers = np.frombuffer(decompressor.decompress(rest, 2 * sum(sizes) + 1), dtype="<f2").astype(np.float64)
        if not decompressor.eof or len(numbers) != sum(sizes) or not np.all(np.isfinite(numbers)):
            raise ValueError
    except (ValueError, TypeError, zlib.error):
        raise ArenaError(f"{path} is not a whole file of a network of this version: train anew.") from None
    if header.get("game") != game.text:
        raise ArenaError(f"{path} is for {str(header.get('game'))[:40]}, not for {game.text}: train anew.")
    draw = header.get("draw")
    if not isinstance(draw, float) or not 0 < draw < 1:
        raise ArenaError(f"{path} is damaged: it does not say what a draw is worth; train anew.")
    parts = np.split(numbers, np.cumsum(sizes)[:-1])
    return Network(*(part.reshape(shape) for part, shape in zip(parts, SHAPES, strict=True))), draw
