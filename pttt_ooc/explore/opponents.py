"""Who can be played against, and what has to be asked about them.

The web process holds no strategies: whoever implements :class:`Opponents` asks the process that does.
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
    """A strategy that can be played against.

    Attributes
    ----------
    key
        What names it in forms and in the table of games.
    name
        What pages call it.
    player
        Whom it plays.
    digest
        Changes whenever the strategy does: a game is gone on with against the very same strategy, or not at all.
    """

    key: str
    name: str
    player: int
    digest: str


@dataclass(frozen=True)
class Expectation:
    """An exact expected payoff, with which a mean is compared.

    Attributes
    ----------
    who
        Who would get it against this opponent, as part of a sentence: "the solution".
    value
        From the point of view of the person who plays.
    """

    who: str
    value: float


class PreparingError(PlayError):
    """An opponent is being prepared; what was asked can be asked again in a moment.

    Parameters
    ----------
    step, share
        What is being done, and how much of the work is done already.
    ahead
        How many other preparations come first.
    """

    def __init__(self, opponent: Opponent, step: str, share: float, ahead: int = 0) -> None:
        super().__init__(f"{opponent.name} is being prepared ({step}); try again in a few seconds.", 503)
        self.step, self.share, self.ahead = step, share, ahead


class Opponents(Protocol):
    """All strategies that can be played against in one game; methods may block, and are called in threads.

    Raises
    ------
    PtttError
        By every method, if the strategies cannot be asked now.
    """

    @property
    def game(self) -> Game:
        """The game that is played."""

    def listed(self) -> Sequence[Opponent]:
        """Those that can be played against now, the most interesting first; two with one key play different sides."""

    def prepare(self, opponent: Opponent) -> None:
        """Raise a PreparingError unless questions about an opponent can be answered at once."""

    def probabilities(self, opponent: Opponent, infoset: str) -> Sequence[float]:
        """Of all squares, at an infoset of the opponent."""

    def expectations(self, opponent: Opponent) -> Sequence[Expectation]:
        """What can be expected against an opponent."""

    def numbers(self, opponent: Opponent, infoset: str) -> Record:
        """The `Numbers` of the person at an own infoset, against this opponent."""

    def beliefs(self, opponent: Opponent, infoset: str) -> Record:
        """The `Beliefs` of the person at an own infoset, against this opponent."""
