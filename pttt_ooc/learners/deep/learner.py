"""The base class of deep learners: networks, their optimisers, their state, and memories of decisions.

Random numbers of iteration t depend only on the seed and on t.  So a run that continues after a kill gives the same
bits as an uninterrupted one, on the same machine with the same version of JAX.  On another machine or with another
version, single-precision sums have another order, and results are close but not the same.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pttt_ooc.learners.deep import network as nets
from pttt_ooc.learners.deep.game_batches import Movers, Plays, play
from pttt_ooc.learners.deep.observation import Sight
from pttt_ooc.learners.learner import Arrays, Learner, LearnerSettings
from pttt_ooc.learners.learning_game import LearningGame

Rows = dict[str, NDArray[Any]]


class Memory:
    """A table with a limited number of rows.

    Parameters
    ----------
    capacity
        The greatest number of rows.
    fair
        Whether all rows ever added have the same chance to be kept (reservoir sampling, Vitter 1985, algorithm R);
        otherwise the newest are kept.
    columns
        By name: shape and dtype of one row's entry.
    """

    def __init__(self, capacity: int, fair: bool, **columns: tuple[tuple[int, ...], Any]) -> None:
        self.fair, self.added = fair, np.zeros(1, np.int64)
        self.rows: Rows = {name: np.zeros((capacity, *shape), kind) for name, (shape, kind) in columns.items()}

    def __len__(self) -> int:
        return min(int(self.added[0]), self._capacity)

    @property
    def _capacity(self) -> int:
        return len(next(iter(self.rows.values())))

    def add(self, rng: np.random.Generator, **columns: NDArray[Any]) -> None:
        """Add rows, given by their columns."""
        numbers = self.added[0] + np.arange(len(next(iter(columns.values()))))
        if self.fair:
            at = np.where(numbers < self._capacity, numbers, rng.integers(0, numbers + 1))
        else:
            at = numbers % self._capacity
        # Of several rows for one place the last one is kept, as if they were added one by one.
        chosen = np.flatnonzero(at < self._capacity)
        places, last = np.unique(at[chosen][::-1], return_index=True)
        for name, column in columns.items():
            self.rows[name][places] = column[chosen[::-1][last]]
        self.added += len(numbers)

    def clear(self) -> None:
        """Forget all rows."""
        self.added[:] = 0

    def draw(self, rng: np.random.Generator, number: int) -> Rows:
        """Draw rows, with replacement."""
        at = rng.integers(0, len(self), number)
        return {name: column[at] for name, column in self.rows.items()}

    def state(self) -> Rows:
        """All arrays, by name."""
        return {"added": self.added, **self.rows}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore a result of :meth:`state`."""
        for name, array in self.state().items():
            array[:] = state[name]


class DeepSettings(LearnerSettings):
    """Settings of all deep learners."""

    hidden: tuple[Annotated[int, Field(ge=1, le=4096)], ...] = Field(
        default=(128, 128), description="Sizes of the network's layers between input and output."
    )
    games: int = Field(default=1024, ge=1, le=10**6, description="Games of one iteration, side by side.")
    rate: float = Field(default=2.5e-4, gt=0, le=1, description="Step size of the optimiser.")


Chosen = TypeVar("Chosen", bound=DeepSettings)


class DeepLearner(Learner[Chosen]):
    """A learner with networks.

    Attributes
    ----------
    networks, moments
        By name: the networks, and the optimiser's memory of those that are trained.
    memories
        By name: remembered decisions.
    """

    def start(self, game: LearningGame, settings: Chosen, seed: int) -> None:
        """Make the networks."""
        self.game, self.settings, self.seed = game, settings, seed
        self.sight = Sight(game.index)
        self.networks: dict[str, nets.Parameters] = {}
        self.moments: dict[str, nets.Parameters] = {}
        self.memories: dict[str, Memory] = {}
        self.begin()

    @abstractmethod
    def begin(self) -> None:
        """Prepare the first iteration."""

    @abstractmethod
    def iterate(self, rng: np.random.Generator) -> None:
        """Make one iteration."""

    def step(self, iterations: int) -> None:
        """Make iterations, each with random numbers of its own."""
        for _ in range(iterations):
            self.counts.iterations += 1
            self.iterate(np.random.default_rng([self.seed, self.counts.iterations]))

    def add_network(self, name: str, outputs: int) -> None:
        """Make a network and its optimiser's memory."""
        seed = [self.seed, *name.encode()]
        self.networks[name] = nets.make_network(self.sight.squares, self.settings.hidden, outputs, seed)
        self.moments[name] = nets.make_moments(self.networks[name])

    def train(self, name: str, step: Any, rate: float, *arguments: Any) -> None:
        """Take a step of :func:`pttt_ooc.learners.deep.network.trainer` with a network."""
        size = np.float32(rate)
        self.networks[name], self.moments[name] = step(self.networks[name], self.moments[name], size, *arguments)

    def play(self, number: int, movers: Movers, rng: np.random.Generator) -> Plays:
        """Play games, and count the visited histories."""
        plays = play(self.sight, number, movers, rng)
        self.counts.states += len(plays.infosets) + number
        return plays

    def state(self) -> Arrays:
        """All networks, their optimisers' memories, and memories of decisions."""
        named: dict[str, Mapping[str, Mapping[str, Any]]] = {"networks": self.networks, "moments": self.moments}
        named["memories"] = {name: memory.state() for name, memory in self.memories.items()}
        return {
            f"{kind}/{name}/{part}": np.asarray(array)
            for kind, group in named.items()
            for name, parts in group.items()
            for part, array in parts.items()
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take them."""
        for kind, group in (("networks", self.networks), ("moments", self.moments)):
            for name, parts in group.items():
                group[name] = {part: nets.on_processor(state[f"{kind}/{name}/{part}"]) for part in parts}
        for name, memory in self.memories.items():
            memory.restore({part: state[f"memories/{name}/{part}"] for part in memory.state()})
