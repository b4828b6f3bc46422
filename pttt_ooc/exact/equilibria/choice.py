"""The choice of an equilibrium strategy: the one that wins most against an opponent who errs.

All equilibrium strategies win the same against an equilibrium strategy.  Among them, the choice maximises the payoff
against a given opponent who plays every action with a positive probability.  So no strategy is at least as good
against all opponents and better against some: it would be an equilibrium strategy with a larger payoff.  The choice is
*undominated*.  After the opponent's mistakes, it is a best response to this opponent, as far as the equilibrium
leaves it free.

See Cermak, Bosansky and Lisy 2014, Practical performance of refinements of Nash equilibria in extensive-form zero-sum
games (ECAI), for how much such choices gain in other games.
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.exact.equilibria.optimal_face import Extreme, OptimalFace
from pttt_ooc.exact.equilibria.responses import Floats
from pttt_ooc.games.structure.index import Layout
from pttt_ooc.games.structure.strategy import Strategy, uniform_strategy

ERRS = 1e-3
"""The share of uniform play mixed into an opponent who is not uniform: each action gets a positive probability."""


def needed_bytes(layout: Layout) -> int:
    """The memory of a choice besides that of restricted games, bytes.

    At most there are two arrays of a player's sequences and nodes, one of the other's, and a byte for each sequence.
    """
    sizes = [8 * (player.sequences + player.nodes) for player in layout.players]
    return sum(sizes) + max(sizes) + sum(player.sequences for player in layout.players)


def choose_strategy(face: OptimalFace, player: int, opponent: Strategy | None = None) -> Extreme:
    """The equilibrium strategy of a player that wins most against an opponent.

    Parameters
    ----------
    opponent
        A strategy of the other player on the index of the face; None: uniform play.

    Returns
    -------
    Extreme
        Its `value` and `bound` are payoffs against the opponent, errors included.

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
