"""The file of a policy: a table of values for one player of one game.

A file is a line that names the format, a line of JSON, and two arrays: the keys, int64, strictly ascending, and the
values, float32.  The JSON line has the game, the player, the numbers of iterations and of entries, and a digest of the
Zobrist numbers that the keys are made of.  Nothing in a file is executed, and no array is made before the size of the
file has been checked.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.disk.files import explain_errors, replacing
from pttt_ooc.other_games.arena.games.base import ArenaError, Game

FORMAT = b"pttt arena policy 1\n"
_LONGEST_HEADER = 4096


@dataclass
class Policy:
    """A table of values.

    Attributes
    ----------
    keys, values
        int64 and float32, shape (entries,).
    iterations
        Games that it has learnt from.
    """

    keys: NDArray[np.int64]
    values: NDArray[np.float32]
    iterations: int = 0


def empty() -> Policy:
    """A policy without entries."""
    return Policy(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32))


def numbers_digest(game: Game) -> str:
    """A digest of the Zobrist numbers of a game's rules."""
    return hashlib.blake2b(np.ascontiguousarray(game.rules.ZOBRIST).tobytes(), digest_size=8).hexdigest()


def save(path: Path, game: Game, player: int, policy: Policy) -> None:
    """Write a policy; the file is whole or as before."""
    order = np.argsort(policy.keys)
    facts = {
        "game": game.text,
        "player": player,
        "iterations": policy.iterations,
        "entries": len(policy.keys),
        "numbers": numbers_digest(game),
    }
    with explain_errors(f"write {path}"), replacing(path) as aside, open(aside, "wb") as file:
        file.write(FORMAT + json.dumps(facts).encode() + b"\n")
        file.write(policy.keys[order].astype("<i8").tobytes())
        file.write(policy.values[order].astype("<f4").tobytes())


def load(path: Path, game: Game, player: int) -> Policy:
    """Read a policy.

    Raises
    ------
    ArenaError
        The file is damaged, of another format, or of another game or player.
    """
    with explain_errors(f"read {path}"):
        size = path.stat().st_size
        with open(path, "rb") as file:
            if file.read(len(FORMAT)) != FORMAT:
                raise ArenaError(f"{path} is not a policy of this version: train anew in another directory.")
            header = file.readline(_LONGEST_HEADER)
            entries, iterations = _check_header(path, header, game, player)
            if size != len(FORMAT) + len(header) + 12 * entries:
                raise ArenaError(f"{path} is damaged: its size is not that of {entries} entries; train anew.")
            keys = np.frombuffer(file.read(8 * entries), dtype="<i8").astype(np.int64)
            values = np.frombuffer(file.read(4 * entries), dtype="<f4").astype(np.float32)
    if len(keys) and (not np.all(keys[1:] > keys[:-1]) or np.any(keys == 0)):
        raise ArenaError(f"{path} is damaged: its keys are not in order; train anew.")
    if not np.all((values >= 0) & (values <= 1)):
        raise ArenaError(f"{path} is damaged: it has values that are not between 0 and 1; train anew.")
    return Policy(keys, values, iterations)


def _check_header(path: Path, header: bytes, game: Game, player: int) -> tuple[int, int]:
    """The numbers of entries and of iterations, of a header that fits."""
    try:
        record = json.loads(header)
        facts = {key: record[key] for key in ("game", "player", "iterations", "entries", "numbers")}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ArenaError(f"{path} is damaged: its second line does not say what it holds; train anew.") from None
    if facts["game"] != game.text:
        raise ArenaError(f"{path} is a policy for {str(facts['game'])[:80]!r}, not for '{game.text}'.")
    if facts["player"] != player:
        raise ArenaError(f"{path} is a policy for the other player.")
    if facts["numbers"] != numbers_digest(game):
        raise ArenaError(f"{path} names positions in another way than this version does: train anew.")
    for name in ("entries", "iterations"):
        if type(facts[name]) is not int or not 0 <= facts[name] < 1 << 48:
            raise ArenaError(f"{path} is damaged: its number of {name} makes no sense; train anew.")
    return facts["entries"], facts["iterations"]
