"""The training of two tables of values against each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.other_games.arena.games.base import ArenaError, Game
from pttt_ooc.other_games.arena.kernels.rng import generator
from pttt_ooc.other_games.arena.kernels.value_table import enlarge, learning
from pttt_ooc.other_games.arena.learning import policies

FILES = ("first.policy", "second.policy")
"""The file of each player's policy in a directory."""

_CHUNK = 10_000  # games between two looks at an interrupt


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
        Of moves with the same value, any is chosen; else the first.
    chain
        Each value is the target of the one before it; else the reward is the target of all.  The report's text says
        the first, the indentation of its listing the second.
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
        """As an array for the kernels."""
        return np.array(
            [self.explore, self.step, self.win, self.loss, self.draw, float(self.shuffle), float(self.chain)]
        )


class GrowingTable:
    """A table of values in memory, which grows."""

    def __init__(self, policy: policies.Policy, least: int) -> None:
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

    def policy(self) -> policies.Policy:
        """The entries, as a policy."""
        there = self.keys != 0
        return policies.Policy(self.keys[there], self.values[there], self.iterations)


class Training:
    """Two tables that learn by games against each other.

    Parameters
    ----------
    game
        K-in-a-row, on any board.
    directory
        Of the policies, which are loaded if they are there; None: begin anew, and save nothing.
    seed
        Of the random moves; a training that continues from a policy uses its number of iterations as another seed.

    Attributes
    ----------
    tables
        Of the first and of the second player.
    results
        int64, shape (4,): of all games of this training, by the word RESULT.
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

    def _load_policy(self, player: int) -> policies.Policy:
        if self.directory is None or not (self.directory / FILES[player]).exists():
            return policies.empty()
        return policies.load(self.directory / FILES[player], self.game, player)

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
            policies.save(self.directory / FILES[player], self.game, player, table.policy())


def better(results: NDArray[np.int64]) -> int:
    """The player with more wins, where draws count for the first player, as in the report."""
    return 0 if results[1] + results[3] > results[2] else 1
