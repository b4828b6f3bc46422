"""Objectives on the optimal face: the choice of an equilibrium strategy, and the ranges of first attempts.

The choice is the strategy that wins most against an opponent who errs.  All equilibrium strategies win the same against
an equilibrium strategy.  Among them, the choice maximises the payoff against a given opponent who plays every action
with a positive probability.  So no strategy is at least as good against all opponents and better against some: it would
be an equilibrium strategy with a larger payoff.  The choice is *undominated*.  Where the opponent's mistakes lead, it
is a best response to this opponent, as far as the equilibrium does not bind it.

See Cermak, Bosansky and Lisy 2014, Practical performance of refinements of Nash equilibria in extensive-form zero-sum
games (ECAI), for how much such choices gain in other games.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pttt_ooc.exact.equilibria.optimal_face import Extreme, OptimalFace
from pttt_ooc.exact.equilibria.responses import Floats
from pttt_ooc.games.structure.index import Layout
from pttt_ooc.games.structure.strategy import Strategy, uniform_strategy

ERRS = 1e-3
"""The part of uniform play in the opponent, unless it is uniform: each action gets a positive probability."""


def needed_bytes(layout: Layout) -> int:
    """The memory of a choice besides that of restricted games, bytes.

    At the most there are two arrays of a player's sequences and nodes, and one of the other's.
    """
    sizes = [8 * (player.sequences + player.nodes) for player in layout.players]
    return sum(sizes) + max(sizes)


def choose_strategy(face: OptimalFace, player: int, opponent: Strategy | None = None) -> Extreme:
    """The equilibrium strategy of a player that wins most against an opponent.

    Parameters
    ----------
    opponent
        A strategy of the other player on the index of the face; None: uniform play.

    Returns
    -------
    Extreme
        Its `value` and `bound` are payoffs against the opponent, with the errors.

    Raises
    ------
    PtttError
        If a linear program cannot be solved.
    """
    constant, payoffs = _against(face, player, uniform_strategy(face.responses.index, 1 - player, np.float64))
    if opponent is not None:
        told, gradient = _against(face, player, opponent)
        constant = (1 - ERRS) * told + ERRS * constant
        payoffs *= ERRS
        gradient *= 1 - ERRS
        payoffs += gradient
        del gradient
    found = face.extreme(player, payoffs)
    return Extreme(found.strategy, found.value + constant, found.bound + constant, found.loss, found.plan, found.rounds)


def _against(face: OptimalFace, player: int, opponent: Strategy) -> tuple[float, Floats]:
    """The payoffs of the player's plans against a strategy: a constant, and one for each sequence."""
    return face.responses.gradient(player, face.responses.reach(1 - player, opponent.probabilities))


@dataclass(frozen=True)
class OpeningRange:
    """The probability of a first attempt over all equilibrium strategies of its player.

    Attributes
    ----------
    squares
        The square and its mirror images.
    lowest, highest
        The probability that the first attempt is one of them.  The mean of the mirror images of an equilibrium strategy
        is one too, so that this holds for strategies without symmetry as well.
    """

    squares: tuple[int, ...]
    lowest: float
    highest: float


def opening_ranges(face: OptimalFace, player: int, gap: float = 1e-8) -> Iterator[OpeningRange]:
    """The ranges of all first attempts of a player, mirror images together.

    Parameters
    ----------
    gap
        The width of the interval in which an end of a range is proven to be.

    Raises
    ------
    PtttError
        If a linear program cannot be solved.
    """
    rules, i = face.rules, face.responses.index.players[player]
    free = [square for square in range(rules.squares) if not int(rules.setup[player]) >> square & 1]
    images = {square: int(rules.least[rules.everything, square]) for square in free}
    for least in sorted(set(images.values())):
        squares = tuple(square for square in free if images[square] == least)
        payoffs = np.zeros(i.sequences)
        # The first view has one order: its sequences are its actions, in the order of their squares.
        payoffs[[int(i.sequence_start[0]) + free.index(square) for square in squares]] = 1.0
        lowest, highest = (sign * face.extreme(player, sign * payoffs, gap=gap).value for sign in (-1.0, 1.0))
        yield OpeningRange(squares, *(min(max(end, 0.0), 1.0) + 0.0 for end in (lowest, highest)))
