"""The best response to a strategy, as a strategy.

Against a fixed opponent, values are propagated up the player's own tree of nodes, slice by slice, and the best action
at every infoset is recorded (Johanson et al. 2011, "Accelerating best response calculation in large extensive
games", section 3).  Of equally good actions, the one with the lowest square is chosen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.solving.evaluation import check_layout
from pttt_ooc.cfr.sweep import tree
from pttt_ooc.cfr.sweep.engine import Engine, slice_arrays
from pttt_ooc.disk.memory import in_memory
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.games.structure.symmetry import Symmetriser
from pttt_ooc.jit import kernel


@dataclass(frozen=True, eq=False)
class BestResponse:
    """A player's best response to a fixed strategy of the opponent.

    Attributes
    ----------
    index
        The index that numbers the nodes of `choices`.
    player
        The responding player.
    value
        Expected payoff, from the responding player's point of view.
    choices
        uint8, shape (nodes,): the number of the chosen action among the actions of the node's view, which are in
        ascending order of squares.  Not used at nodes that are not infosets.
    """

    index: Index
    player: int
    value: float
    choices: NDArray[np.uint8]

    def strategy(self, into: NDArray[np.float32] | None = None) -> Strategy:
        """The best response as probabilities.

        Without symmetry they are 0 and 1.  With symmetry, mirror images must have the same probabilities; so
        where an infoset's view is symmetric itself, its mirror images are averaged, which is also a best response.

        Parameters
        ----------
        into
            float32, shape (sequences,): the array to write to; default: a new one.
        """
        mine = self.index.players[self.player]
        probabilities = np.empty(mine.sequences, np.float32) if into is None else into
        write_choices(mine.node_start, mine.sequence_start, self.choices, probabilities)
        Symmetriser(self.index, self.player)(probabilities)
        return Strategy(self.index, self.player, probabilities)


@kernel
def write_choices(node_start, sequence_start, choices, probabilities):
    """Probability 1 for the chosen action of each infoset, 0 for all others."""
    for view in range(len(node_start) - 1):
        orders = node_start[view + 1] - node_start[view]
        start, size = sequence_start[view], sequence_start[view + 1] - sequence_start[view]
        probabilities[start : start + size] = 0
        for r in range(orders if size else 0):
            probabilities[start + choices[node_start[view] + r] * orders + r] = 1


def best_response(strategy: Strategy, engine: Engine) -> BestResponse:
    """The other player's best response to a strategy, with its value.

    Parameters
    ----------
    strategy
        The fixed strategy, on the engine's index.  Probabilities are scaled to sum to 1 at every infoset.
    engine
        An engine of any precision; the computation is in double precision.

    Returns
    -------
    BestResponse
        The response of the player ``1 - strategy.player``.

    Raises
    ------
    StrategyError
        If the strategy is laid out for another game or symmetry.
    """
    check_layout(strategy, engine.index, strategy.player)
    engine, player = engine.in_precision(np.float64), 1 - strategy.player
    reach, i = engine.reach(strategy.player, strategy.probabilities), engine.index.players[player]
    choices = np.zeros(i.nodes, np.uint8)
    arrays = in_memory(slice_arrays(engine.index.players, engine.dtype))
    for n in reversed(range(i.slices)):
        s = arrays.of(i, n)
        engine.gradient_slice(player, n, reach, s)
        engine.run(player, n, tree.best_values, s, choices[i.nodes_of(n)])
    return BestResponse(engine.index, player, float(s.nodes[0]), choices)
