"""The learner of the report on reinforcement learning: two tables of values, their training, their files, the agent.

A file is a line that names the format, a line of JSON, and two arrays: the keys, int64, strictly ascending, and the
values, float32.  The JSON line has the game, the player, the numbers of iterations and of entries, and a digest of the
Zobrist numbers that the keys are made of.  Nothing in a file is executed, and no array is made before the size of the
file has been checked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.disk.files import explain_errors, replacing
from pttt_ooc.other_games.arena.agents.base import Agent
from pttt_ooc.other_games.arena.games.base import PLAYER, ArenaError, Game, State
from pttt_ooc.other_games.arena.kernels.rng import generator
from pttt_ooc.other_games.arena.kernels.value_table import enlarge, learning

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


def _numbers_digest(game: Game) -> str:
    """A digest of the Zobrist numbers of a game's rules."""
    return hashlib.blake2b(np.ascontiguousarray(game.rules.ZOBRIST).tobytes(), digest_size=8).hexdigest()


def save_policy(path: Path, game: Game, player: int, policy: Policy) -> None:
    """Write a policy atomically."""
    order = np.argsort(policy.keys)
    facts = {
        "game": game.text,
        "player": player,
        "iterations": policy.iterations,
        "entries": len(policy.keys),
        "numbers": _numbers_digest(game),
    }
    with explain_errors(f"write {path}"), replacing(path) as aside, open(aside, "wb") as file:
        file.write(FORMAT + json.dumps(facts).encode() + b"\n")
        file.write(policy.keys[order].astype("<i8").tobytes())
        file.write(policy.values[order].astype("<f4").tobytes())


def load_policy(path: Path, game: Game, player: int) -> Policy:
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
    """Check a header; returns the numbers of entries and of iterations."""
    try:
        record = json.loads(header)
        facts = {key: record[key] for key in ("game", "player", "iterations", "entries", "numbers")}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ArenaError(f"{path} is damaged: its second line does not say what it holds; train anew.") from None
    if facts["game"] != game.text:
        raise ArenaError(f"{path} is a policy for {str(facts['game'])[:80]!r}, not for '{game.text}'.")
    if facts["player"] != player:
        raise ArenaError(f"{path} is a policy for the other player.")
    if facts["numbers"] != _numbers_digest(game):
        raise ArenaError(f"{path} names positions in another way than this version does: train anew.")
    for name in ("entries", "iterations"):
        if type(facts[name]) is not int or not 0 <= facts[name] < 1 << 48:
            raise ArenaError(f"{path} is damaged: its number of {name} makes no sense; train anew.")
    return facts["entries"], facts["iterations"]


FILES = ("first.policy", "second.policy")
"""The file of each player's policy in a directory."""

_CHUNK = 10_000  # games between two checks for an interrupt


@dataclass(frozen=True)
class Rates:
    """The settings of learning; the defaults are those of the report.

    Attributes
    ----------
    explore
        The chance of a random move.
    step
        How far a value moves towards its target.
    win, loss, draw
        The rewards.
    shuffle
        Whether any of several moves with the same value is chosen; else the first.
    chain
        Whether each value is the target of the one before it; else the reward is the target of all.  The report's text
        says the first, the indentation of its listing the second.
    """

    explore: float = 0.3
    step: float = 0.1
    win: float = 1.0
    loss: float = 0.0
    draw: float = 0.1
    shuffle: bool = False
    chain: bool = True

    def __post_init__(self) -> None:
        for name in ("explore", "step", "win", "loss", "draw"):
            if not 0 <= getattr(self, name) <= 1:
                raise ArenaError(f"The {name} rate is {getattr(self, name)}, but must be between 0 and 1.")

    def array(self) -> NDArray[np.float64]:
        """The settings as an array for the kernels."""
        return np.array(
            [self.explore, self.step, self.win, self.loss, self.draw, float(self.shuffle), float(self.chain)]
        )


class GrowingTable:
    """A growing table of values in memory."""

    def __init__(self, policy: Policy, least: int) -> None:
        self.iterations = policy.iterations
        size = 1 << max(16, int(2 * (len(policy.keys) + least)).bit_length())
        self.keys, self.values = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.float32)
        self.used = len(policy.keys)
        enlarge(policy.keys, policy.values, self.keys, self.values)

    def grow(self) -> None:
        """Double the size."""
        keys, values = np.zeros(2 * len(self.keys), dtype=np.int64), np.zeros(2 * len(self.keys), dtype=np.float32)
        enlarge(self.keys, self.values, keys, values)
        self.keys, self.values = keys, values

    def policy(self) -> Policy:
        """The entries, as a policy."""
        there = self.keys != 0
        return Policy(self.keys[there], self.values[there], self.iterations)


class Training:
    """Two tables that learn by games against each other.

    Parameters
    ----------
    game
        K-in-a-row, on any board.
    directory
        The directory of the policies; existing ones are loaded.  None: begin anew, and save nothing.
    seed
        The seed of the random moves; a training that continues a policy uses its number of iterations as another seed.

    Attributes
    ----------
    tables
        The first and the second player's table.
    results
        int64, shape (4,): all games of this training, counted by the word RESULT.
    """

    def __init__(self, game: Game, directory: Path | None = None, seed: int = 0) -> None:
        self.game, self.directory = game, directory
        loaded = [self._load_policy(player) for player in (0, 1)]
        if loaded[0].iterations != loaded[1].iterations:
            raise ArenaError(
                f"The two policies in {directory} are not of the same training: remove them to train anew."
            )
        self.tables = [GrowingTable(policy, game.rules.LENGTH) for policy in loaded]
        self.results = np.zeros(4, dtype=np.int64)
        self.rng = generator(seed, loaded[0].iterations)
        self.kernels: Any = learning(game.rules)

    def _load_policy(self, player: int) -> Policy:
        if self.directory is None or not (self.directory / FILES[player]).exists():
            return Policy(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32))
        return load_policy(self.directory / FILES[player], self.game, player)

    def run(self, iterations: int, rates: Rates, report: Callable[[int], None] | None = None) -> None:
        """Play and learn.

        Parameters
        ----------
        report
            Called every few seconds with the number of games played.
        """
        start, done, array = self.game.start(), 0, rates.array()
        while done < iterations:
            first, second = self.tables
            used = np.array([first.used, second.used])
            played = self.kernels.train(
                start,
                min(_CHUNK, iterations - done),
                array,
                first.keys,
                first.values,
                second.keys,
                second.values,
                used,
                self.results,
                self.rng,
            )
            done += played
            for table, number in zip(self.tables, used, strict=True):
                table.used = int(number)
                table.iterations += played
                if 10 * (table.used + self.game.rules.LENGTH) > 7 * len(table.keys):
                    table.grow()
            if report:
                report(done)

    def save(self) -> None:
        """Write both policies."""
        if self.directory is None:
            raise ArenaError("This training has no directory for its policies.")
        self.directory.mkdir(parents=True, exist_ok=True)
        for player, table in enumerate(self.tables):
            save_policy(self.directory / FILES[player], self.game, player, table.policy())


def better(results: NDArray[np.int64]) -> int:
    """The player with more wins, where draws count for the first player, as in the report."""
    return 0 if results[1] + results[3] > results[2] else 1


@dataclass
class ValueTable(Agent):
    """The learner of the report on reinforcement learning: it moves to the position with the greatest value.

    Attributes
    ----------
    path
        The directory of the two policies, as ``pttt arena train`` writes it.
    """

    path: str = ""

    name = "table"

    def seat(self, game: Game) -> None:
        """Read the policies."""
        super().seat(game)
        if game.name not in ("mnk", "infinite"):
            raise ArenaError("The agent table plays mnk and infinite only.")
        if not self.path:
            raise ArenaError("The agent table needs the directory of its policies, as in table:path=DIR.")
        for file in FILES:
            if not (Path(self.path) / file).exists():
                raise ArenaError(f"{self.path} has no {file}: train there first, with pttt arena train.")
        self.take(game, Training(game, Path(self.path)).tables)

    def take(self, game: Game, tables: list[GrowingTable]) -> None:
        """Play by tables that are in memory."""
        super().seat(game)
        self._tables, self._kernels = tables, learning(game.rules)
        self._moves = np.zeros(game.rules.WIDTH, dtype=np.int64)

    def choose(self, state: State) -> int:
        """The first of the moves with the greatest value."""
        table = self._tables[int(state[PLAYER])]
        return int(self._kernels.best(state, self._moves, table.keys, table.values, False, self.rng))
