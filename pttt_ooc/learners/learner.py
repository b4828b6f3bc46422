"""The interface of every algorithm, exact or sampled, tabular or deep."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.learners.learning_game import LearningGame

Pair = tuple[Strategy, Strategy]
Arrays = dict[str, NDArray[Any]]


class LearnerSettings(BaseModel):
    """Settings of one algorithm; each algorithm has a model of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Chosen = TypeVar("Chosen", bound=LearnerSettings)


@dataclass
class Counts:
    """The work of a learner so far.

    Attributes
    ----------
    iterations
        Steps of the algorithm, as its paper counts them.
    gradients
        Exact gradients, each of all sequences of one player.
    states
        Touched states.  A sampled learner touches each history that it visits.  An exact learner touches, with each
        gradient, all nodes of both players in its index.  The lazy double oracle touches the infosets that its best
        responses visit, and the won histories of its restricted game.
    """

    iterations: int = 0
    gradients: int = 0
    states: int = 0


class Learner(ABC, Generic[Chosen]):
    """An algorithm at work on one game.

    The loop calls :meth:`start` once, then :meth:`restore` if a state was saved, and then :meth:`step` and
    :meth:`strategy` repeatedly.  Two runs with the same game, settings and seed give the same bits, however their
    iterations are divided into steps, and whether or not a run was restored.

    Attributes
    ----------
    settings_model
        The model of the settings, with the defaults of the paper.
    source
        The paper.
    counts
        The work so far.  The loop saves them with the state.
    """

    settings_model: ClassVar[type[LearnerSettings]]
    source: ClassVar[str]

    def __init__(self) -> None:
        self.counts = Counts()

    @abstractmethod
    def start(self, game: LearningGame, settings: Chosen, seed: int) -> None:
        """Prepare the first iteration.

        Parameters
        ----------
        game
            The game.
        settings
            An instance of :attr:`settings_model`.
        seed
            Of all random numbers.
        """

    @property
    def settled(self) -> bool:
        """Whether more iterations would change nothing."""
        return False

    @abstractmethod
    def step(self, iterations: int) -> None:
        """Make some iterations, 1 or more."""

    @abstractmethod
    def strategy(self) -> Pair:
        """The pair that the algorithm recommends: its average, if it has one, else the last iterate."""

    def last(self) -> Pair | None:
        """The last iterate, if :meth:`strategy` is an average and this is a pair of strategies too; else None."""
        return None

    def facts(self) -> dict[str, float]:
        """What else the algorithm knows after the last iteration, by name: part of a row of the log."""
        return {}

    @abstractmethod
    def state(self) -> Arrays:
        """Everything that the next iterations depend on, by name.

        The arrays have one dimension or more, and may be the learner's own.
        """

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore a result of :meth:`state`, also of another process; the arrays are copied."""
        for name, array in self.state().items():
            array[:] = state[name]


class PolicyLearner(Learner[Chosen]):
    """An algorithm with policies, whose reach follows from them; its strategies are the last iterate.

    Attributes
    ----------
    saved
        The names of its attributes that are saved: pairs of arrays.
    """

    saved: ClassVar[tuple[str, ...]]

    def begin(self, game: LearningGame, settings: Chosen) -> None:
        """Begin with uniform play and its reach."""
        self.game, self.settings = game, settings
        self.policies = [game.uniform(p) for p in (0, 1)]
        self.reaches = [game.reach(p, self.policies[p]) for p in (0, 1)]

    def strategy(self) -> Pair:
        """The last iterate."""
        return self.game.pair(self.policies)

    def state(self) -> Arrays:
        """See :attr:`saved`."""
        return {f"{name}/{p}": getattr(self, name)[p] for name in self.saved for p in (0, 1)}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore it, and the reach of the policies."""
        super().restore(state)
        for p in (0, 1):
            self.game.reach(p, self.policies[p], self.reaches[p])
