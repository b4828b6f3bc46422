"""Answers to questions about an infoset, as plain data.

Arrays over squares are float64 of shape (squares,), with NaN at squares that are not legal.  Values are from the point
of view of the infoset's player: a win is 1, a loss is -1, a draw is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

SquareArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Numbers:
    """A player's strategy at one infoset: probabilities, reach and values.

    Attributes
    ----------
    player, infoset
        The infoset's player, and its text.
    legal
        Legal squares, ascending.
    probabilities
        Of each attempt.
    own_reach
        The product of the player's own probabilities on the way to the infoset.
    opponent_reach
        Counterfactual reach: the sum, over the histories of the infoset, of the opponent's reach.
    value
        Expected payoff, given that the infoset is reached and the player follows the strategy; NaN if `opponent_reach`
        is 0.
    action_values
        Expected payoff of each attempt, if the player follows the strategy afterwards.
    best_value
        Expected payoff if the player follows the best response from here on.
    best_action_values
        Expected payoff of each attempt, if the player follows the best response afterwards.
    regrets
        Counterfactual regret of each attempt, ``(action_values - value) * opponent_reach``; 0 if `opponent_reach` is 0.
    fails
        Probability that the attempt fails, given that the infoset is reached; NaN if `opponent_reach` is 0.
    arbitrary
        Whether `own_reach` or `opponent_reach` is 0, so that the strategy here has no consequence.
    """

    player: int
    infoset: str
    legal: tuple[int, ...]
    probabilities: SquareArray
    own_reach: float
    opponent_reach: float
    value: float
    action_values: SquareArray
    best_value: float
    best_action_values: SquareArray
    regrets: SquareArray
    fails: SquareArray
    arbitrary: bool

    @property
    def joint_reach(self) -> float:
        """Probability that a game between the two strategies reaches this infoset."""
        return self.own_reach * self.opponent_reach


@dataclass(frozen=True)
class Outcome:
    """One outcome of an attempt.

    Attributes
    ----------
    square, placed
        The attempt, and whether the mark is placed or the attempt fails.
    probability
        Probability of this outcome, given that the infoset is reached; NaN if the opponent's strategy never reaches it.
    infoset
        Text of the player's attempts after it.
    decides
        Whether the player can decide again there.  If not, the game is over before the player's next turn, whatever the
        opponent does.
    returns
        Probability that the player decides again, given this outcome; NaN if `probability` is 0 or NaN.
    wins, draws, loses
        Probabilities that the game ends before the player's next decision, by result for the player; they and `returns`
        sum to 1.
    """

    square: int
    placed: bool
    probability: float
    infoset: str
    decides: bool
    returns: float
    wins: float
    draws: float
    loses: float


@dataclass(frozen=True)
class Board:
    """One possible true board.

    Attributes
    ----------
    mine, theirs
        Marks of the player and of the opponent, as bit masks.
    probability
        Given that the infoset is reached.
    orders
        The opponent's infosets that lead to it, as texts with their probabilities, the likeliest first.  Empty unless
        requested.
    """

    mine: int
    theirs: int
    probability: float
    orders: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What a player believes about the board at one infoset, given the opponent's strategy.

    Attributes
    ----------
    player, infoset
        The infoset's player, and its text.
    reached
        The opponent's reach, summed over the histories of the infoset; probabilities are divided by it.
    marks
        For each square, the probability that the opponent's mark is there; 0 or 1 where the player knows.
    empty
        For each square, the probability that it is empty.
    boards
        The possible true boards, the likeliest first.
    opponent_attempts
        Number of the opponent's attempts -> probability.
    arbitrary
        Whether no history leads here under the opponent's strategy.  Then all consistent histories count equally.
    """

    player: int
    infoset: str
    reached: float
    marks: SquareArray
    empty: SquareArray
    boards: tuple[Board, ...]
    opponent_attempts: Mapping[int, float] = field(default_factory=lambda: MappingProxyType({}))
    arbitrary: bool = False
