"""Best responses to an equilibrium opponent who trembles: a rule for where a plan does not come.

The opponent plays an equilibrium strategy, but before the game begins they change to uniform play with a small
probability.  Every infoset that any game comes to then has a positive probability, so that the best response answers
mistakes everywhere.  With a plan, it is used by :func:`pttt_ooc.exact.double_oracle.stored_rule.complete_plan`.
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.exact.equilibria.optimal_face import OptimalFace
from pttt_ooc.games.structure.strategy import Strategy, uniform_strategy

TREMBLE = 1e-3
"""The probability of uniform play."""


def trembling_response(face: OptimalFace, player: int, tremble: float = TREMBLE) -> Strategy:
    """The best response of a player to the exact equilibrium strategy of the other, who trembles.

    Of several best actions, the pure rule's stays where it is one of them; mirror images are averaged.

    Parameters
    ----------
    tremble
        The probability of uniform play.
    """
    responses, index, other = face.responses, face.responses.index, 1 - player
    steady, errs = face.exact_strategy(other), uniform_strategy(index, other, np.float64)
    first, second = (
        responses.gradient(player, responses.reach(other, strategy.probabilities))[1] for strategy in (steady, errs)
    )
    _, choices, _ = responses.best(player, (1 - tremble) * first + tremble * second, face.rule[player])
    return Strategy(index, player, face.pure_strategy(player, choices))
