"""The base class of deep learners: networks, their optimisers, and their state.

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
from pttt_ooc.learners.deep.memory import Memory
from pttt_ooc.learners.deep.observation import Sight
from pttt_ooc.learners.learner import Arrays, Learner, LearnerSettings
from pttt_ooc.learners.learning_game import LearningGame


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
