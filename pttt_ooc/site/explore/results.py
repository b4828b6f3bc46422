"""Drawn attempts, finished games, and results beside the exact expectations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pttt_ooc.errors import StoreError
from pttt_ooc.games.rules.play import History
from pttt_ooc.site.explore.opponents import Expectation, Opponent, Opponents, PreparingError
from pttt_ooc.site.explore.player_view import Seat


@dataclass(frozen=True)
class FinishedGame:
    """A finished game, of which everything may be shown.

    Attributes
    ----------
    seat
        The person's view at the end.
    history
        All attempts.
    opponent
        The opponent.
    shared
        Whether everybody who knows its link may see it.
    """

    seat: Seat
    history: History
    opponent: Opponent
    shared: bool = False


@dataclass(frozen=True)
class Tally:
    """A person's results against one opponent."""

    opponent: Opponent
    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """The number of games."""
        return self.wins + self.draws + self.losses

    @property
    def mean(self) -> float:
        """Mean payoff."""
        return (self.wins - self.losses) / self.games

    @property
    def error(self) -> float | None:
        """Standard error of the mean; None for a single game."""
        if self.games < 2:
            return None
        variance = (self.wins + self.losses - self.games * self.mean**2) / (self.games - 1)
        return float((max(0.0, variance) / self.games) ** 0.5)


@dataclass(frozen=True)
class Standing:
    """Results against one opponent, and expected payoffs against it.

    Attributes
    ----------
    expectations
        Exact expected payoffs; empty if the opponent cannot be asked now.
    """

    tally: Tally
    expectations: Sequence[Expectation]


def standing(opponents: Opponents, tally: Tally) -> Standing:
    """A person's results, with the exact expectations."""
    if tally.opponent not in opponents.list_opponents():
        return Standing(tally, ())
    try:
        return Standing(tally, opponents.expectations(tally.opponent))
    except PreparingError:
        return Standing(tally, ())


def play_opponent(opponents: Opponents, opponent: Opponent, history: History, draw: Callable[[], float]) -> History:
    """The history after the opponent's attempts, at the person's next turn or the end of the game.

    Parameters
    ----------
    draw
        Returns random numbers in [0, 1).
    """
    while history.player == opponent.player:
        probabilities = opponents.probabilities(opponent, history.infoset(opponent.player))
        history = history.step(draw_attempt(probabilities, history.legal(), draw()))
    return history


def draw_attempt(probabilities: Sequence[float], legal: Sequence[int], number: float) -> int:
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
    return possible[-1]  # because of rounding
