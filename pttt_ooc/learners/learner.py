"""A learner: the few verbs that every algorithm has, exact or sampled, tabular or deep."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from pttt_ooc.learners.learning_game import LearningGame
from pttt_ooc.structure.strategy import Strategy

Pair = tuple[Strategy, Strategy]
Arrays = dict[str, NDArray[Any]]


class LearnerSettings(BaseModel):
    """Settings of one algorithm; each algorithm has a model of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Chosen = TypeVar("Chosen", bound=LearnerSettings)


@dataclass
class Counts:
    """What a learner has done so far.

    Attributes
    ----------
    iterations
        Steps of the algorithm, as its paper counts them.
    gradients
        Exact gradients, each of all sequences of one player.
    states
        Touched states.  A sampled learner touches each history that it comes to.  An exact one touches, with each
        gradient, all nodes of both players that its index has.
    """

    iterations: int = 0
    gradients: int = 0
    states: int = 0


class Learner(ABC, Generic[Chosen]):
    """An algorithm at work on one game.

    The loop calls :meth:`start` once, then perhaps :meth:`restore`, and then :meth:`step` and :meth:`strategy` again
    and again.  Two runs with the same game, settings and seed give the same bits, however their iterations are cut into
    steps, and whether or not a run was restored on the way.

    Attributes
    ----------
    settings_model
        The model of the settings, with the defaults of the paper.
    source
        The paper.
    counts
        What has been done so far.  The loop keeps them with the state.
    """

    settings_model: ClassVar[type[LearnerSettings]]
    source: ClassVar[str]

    def __init__(self) -> None:
        self.counts = Counts()

    @abstractmethod
    def start(self, ground: LearningGame, settings: Chosen, seed: int) -> None:
        """Get ready for the first iteration.

        Parameters
        ----------
        ground
            The game.
        settings
            An instance of :attr:`settings_model`.
        seed
            Of all that is random; without effect where nothing is.
        """

    @property
    def settled(self) -> bool:
        """Whether more iterations change nothing."""
        return False

    @abstractmethod
    def step(self, iterations: int) -> None:
        """Make some iterations, 1 or more."""

    @abstractmethod
    def strategy(self) -> Pair:
        """The pair that the algorithm recommends: the average for those that average, else the last iterate."""

    def last(self) -> Pair | None:
        """The last iterate, where :meth:`strategy` is an average and the last iterate is a pair of strategies too."""
        return None

    @abstractmethod
    def state(self) -> Arrays:
        """All that the next iterations depend on, by name.

        The arrays have one dimension or more, and may be the learner's own.
        """

    @abstractmethod
    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what :meth:`state` gave, perhaps in another process; the arrays are copied."""
