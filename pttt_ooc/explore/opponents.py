"""Opponents, and the questions about them.

The web process holds no strategies: its :class:`Opponents` ask the answerer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pttt_ooc.errors import PlayError
from pttt_ooc.rules.game import Game

Record = Mapping[str, Any]
"""An answer of :mod:`pttt_ooc.questions.answers` as JSON values; NaN is None."""


@dataclass(frozen=True)
class Opponent:
    """A strategy as an opponent.

    Attributes
    ----------
    key
        Its name in forms and in the table of games.
    name
        Its name on pages.
    player
        The player that it is.
    digest
        Changes with the strategy: a game continues only against the same strategy.
    """

    key: str
    name: str
    player: int
    digest: str


@dataclass(frozen=True)
class Expectation:
    """An exact expected payoff, for comparison with a mean.

    Attributes
    ----------
    who
        Who gets it against this opponent, as part of a sentence: "the solution".
    value
        The payoff of the person.
    """

    who: str
    value: float


class PreparingError(PlayError):
    """An opponent is being prepared; ask again later.

    Parameters
    ----------
    step, share
        The current step, and the share of the work that is done.
    ahead
        The number of preparations before this one.
    """

    def __init__(self, opponent: Opponent, step: str, share: float, ahead: int = 0) -> None:
        super().__init__(f"{opponent.name} is being prepared ({step}); try again in a few seconds.", 503)
        self.step, self.share, self.ahead = step, share, ahead


class Opponents(Protocol):
    """All opponents of one game; methods may block, and are called in threads.

    Raises
    ------
    PtttError
        By every method, if there is no answer now.
    """

    @property
    def game(self) -> Game:
        """The game that is played."""

    def listed(self) -> Sequence[Opponent]:
        """All opponents now, the most interesting first; two with the same key are different players."""

    def prepare(self, opponent: Opponent) -> None:
        """Raise a PreparingError if an opponent is not prepared yet."""

    def probabilities(self, opponent: Opponent, infoset: str) -> Sequence[float]:
        """The probabilities of all squares at an infoset of the opponent."""

    def expectations(self, opponent: Opponent) -> Sequence[Expectation]:
        """Expected payoffs against an opponent."""

    def numbers(self, opponent: Opponent, infoset: str) -> Record:
        """The `Numbers` of the person at an own infoset, against this opponent."""

    def beliefs(self, opponent: Opponent, infoset: str) -> Record:
        """The `Beliefs` of the person at an own infoset, against this opponent."""

    def drawn(self, opponent: Opponent, infoset: str, number: float) -> str:
        """An infoset of the opponent, drawn from these beliefs by a random number in [0, 1)."""
