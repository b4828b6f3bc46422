"""What is known at an infoset: the answers to questions, as plain data.

Arrays over squares are float64 of shape (squares,).  Where a square is not legal they hold NaN.  Values are from the
point of view of the player whose infoset it is: a win is 1, a loss is -1, a draw is 0.
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
    """What a player's strategy does at one infoset, and why.

    Attributes
    ----------
    player, infoset
        Whose infoset it is, and its text.
    legal
        Squares that may be attempted, ascending.
    probabilities
        Of each attempt.
    own_reach
        Product of the player's own probabilities on the way to the infoset.
    opponent_reach
        Counterfactual reach: the sum, over the histories of the infoset, of the opponent's reach.
    value
        Expected payoff, given that the infoset is reached and the player follows the strategy; NaN if `opponent_reach`
        is 0.
    action_values
        The same for each attempt, after which the player follows the strategy.
    best_value
        The same, if the player goes on with the best response from here.
    best_action_values
        The same for each attempt, after which the player goes on with the best response.
    regrets
        Counterfactual regret of each attempt, ``(action_values - value) * opponent_reach``; 0 if `opponent_reach` is 0.
    fails
        Probability that the attempt fails, given that the infoset is reached; NaN if `opponent_reach` is 0.
    arbitrary
        Whether `own_reach` or `opponent_reach` is 0: what the strategy does here is without consequence.
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
        """Probability that a game between the two strategies comes to this infoset."""
        return self.own_reach * self.opponent_reach


@dataclass(frozen=True)
class Outcome:
    """What an attempt leads to.

    Attributes
    ----------
    square, placed
        The attempt, and whether the mark is placed or the attempt fails.
    probability
        Probability that the attempt has this outcome, given that the infoset is reached; NaN if the opponent's strategy
        does not let the game come here.
    infoset
        Text of what the player knows after it.
    decides
        Whether the player can come to another decision there.  If not, the game is over before the player's turn
        comes again, whatever the opponent does.
    returns
        Probability that the player decides again, given this outcome; NaN if `probability` is 0 or NaN.
    wins, draws, loses
        Probabilities that the game ends before the player decides again, by result for the player; together with
        `returns` they sum to 1.
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
    """One true board that may be there.

    Attributes
    ----------
    mine, theirs
        Marks of the player and of the opponent, as bit masks.
    probability
        Given that the infoset is reached.
    orders
        The opponent's own infosets that lead to it, as texts, each with its probability; the likeliest comes first.
        Empty unless they are asked for.
    """

    mine: int
    theirs: int
    probability: float
    orders: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What a player knows of the board at one infoset, given the opponent's strategy.

    Attributes
    ----------
    player, infoset
        Whose infoset it is, and its text.
    reached
        The opponent's reach, summed over the histories of the infoset: what probabilities are divided by.
    marks
        For each square, the probability that the opponent's mark is there; 0 or 1 where the player knows.
    empty
        For each square, the probability that it is empty.
    boards
        The true boards, the likeliest first.
    opponent_attempts
        How many attempts the opponent has made -> probability.
    arbitrary
        Whether no history leads here under the opponent's strategy.  All consistent histories then count alike.
    """

    player: int
    infoset: str
    reached: float
    marks: SquareArray
    empty: SquareArray
    boards: tuple[Board, ...]
    opponent_attempts: Mapping[int, float] = field(default_factory=lambda: MappingProxyType({}))
    arbitrary: bool = False
