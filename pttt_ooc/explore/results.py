"""Attempts that are drawn, games that are over, and how many have ended how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pttt_ooc.errors import StoreError
from pttt_ooc.explore.opponents import Opponent, Opponents
from pttt_ooc.explore.player_view import Seat
from pttt_ooc.rules.play import History


@dataclass(frozen=True)
class FinishedGame:
    """A game that is over: all of it may be told.

    Attributes
    ----------
    seat
        What the person knew at the end.
    history
        All that happened.
    opponent
        Whom it was played against.
    """

    seat: Seat
    history: History
    opponent: Opponent


@dataclass(frozen=True)
class Tally:
    """How a person's finished games against one opponent have ended."""

    opponent: Opponent
    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """How many there are."""
        return self.wins + self.draws + self.losses

    @property
    def mean(self) -> float:
        """Mean payoff."""
        return (self.wins - self.losses) / self.games

    @property
    def error(self) -> float | None:
        """Standard error of the mean; None for a single game, which has none."""
        if self.games < 2:
            return None
        variance = (self.wins + self.losses - self.games * self.mean**2) / (self.games - 1)
        return float((max(0.0, variance) / self.games) ** 0.5)


def answered(opponents: Opponents, opponent: Opponent, history: History, draw: Callable[[], float]) -> History:
    """The history after an opponent has made its attempts, until it is the person's turn or the game is over.

    Parameters
    ----------
    draw
        Gives random numbers in [0, 1).
    """
    while history.player == opponent.player:
        probabilities = opponents.probabilities(opponent, history.infoset(opponent.player))
        history = history.step(drawn(probabilities, history.legal(), draw()))
    return history


def drawn(probabilities: Sequence[float], legal: Sequence[int], number: float) -> int:
    """The legal square that a random number in [0, 1) chooses.

    Raises
    ------
    StoreError
        If no legal square has a positive probability.
    """
    possible = [square for square in legal if probabilities[square] > 0]
    if not possible:
        raise StoreError("The opponent's strategy has no legal attempt with a positive probability.")
    left = number * sum(probabilities[square] for square in possible)
    for square in possible:
        left -= probabilities[square]
        if left < 0:
            return square
    return possible[-1]  # sums of rounded numbers
