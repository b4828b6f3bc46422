"""One strategy on its own: how well a best response does, and what any opponent would get.

Against a fixed strategy the opponent's payoff is linear in the opponent's realization plan, so one gradient
holds the value of every match to come: each is a dot product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.aliases import Interval
from pttt_ooc.disk.memory import in_memory
from pttt_ooc.solving.evaluation import check_layout
from pttt_ooc.structure.strategy import Strategy
from pttt_ooc.sweep import tree
from pttt_ooc.sweep.engine import Engine, slice_arrays, slice_layout

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Gradient:
    """What a player's realization plans get against one strategy of the other player.

    Attributes
    ----------
    constant
        What the player gets whatever it does: games that the opponent wins before the player's first attempt.
    sequences
        float, shape (the player's sequences,): what each sequence adds for each unit of reach.
    """

    constant: float
    sequences: Floats

    def value(self, plan: Floats) -> float:
        """Expected payoff of a realization plan, shape (the player's sequences,), from its player's point of view."""
        return self.constant + float(np.dot(plan, self.sequences))


@dataclass(frozen=True, eq=False)
class Assessment:
    """What can be said of a strategy without knowing its opponent.

    Attributes
    ----------
    player
        Whose strategy it is.
    best_response
        What the best reply of the other player gets, from the other player's point of view.
    plan
        float, shape (own sequences,): the strategy's realization plan.
    gradient
        Of the other player.
    """

    player: int
    best_response: float
    plan: Floats
    gradient: Gradient

    def exploitability(self, game_value: Interval) -> float:
        """How far the strategy's worst case is below the value of the game, whose interval's middle is taken."""
        middle = sum(game_value) / 2
        return self.best_response + (middle if self.player == 0 else -middle)


def plan_of(strategy: Strategy, engine: Engine) -> Floats:
    """Realization plan of a strategy: float64, shape (own sequences,)."""
    check_layout(strategy, engine.index, strategy.player)
    return engine.in_precision(np.float64).reach(strategy.player, strategy.probabilities).sequences


def assess(strategy: Strategy, engine: Engine, on_progress: Callable[[float], None] = lambda share: None) -> Assessment:
    """Find the opponent's best response to a strategy, and the opponent's gradient.

    Parameters
    ----------
    strategy
        On the engine's index.
    engine
        On an index without symmetry; of any precision, for double precision is what it is done in.
    on_progress
        Called with the share of the work that is done, 0 to 1; what it raises ends the work.

    Raises
    ------
    ValueError
        If the index is folded by symmetry, where a sequence stands for several and sums would miss them.
    StrategyError
        If the strategy is laid out for another game or symmetry.
    """
    if engine.index.symmetry != "none":
        raise ValueError(f"strategies are assessed without symmetry, but this index has {engine.index.symmetry!r}")
    check_layout(strategy, engine.index, strategy.player)
    engine = engine.in_precision(np.float64)
    other = 1 - strategy.player
    reach, i = engine.reach(strategy.player, strategy.probabilities), engine.index.players[other]
    gradient = np.empty(i.sequences, engine.dtype)
    arrays = slice_arrays(in_memory(slice_layout(engine.index, engine.dtype, "best")), "best")
    ended = gradient[:0]  # payoffs of the slice below, of games that the strategy's player ends there
    for n in reversed(range(i.slices)):
        s, part = arrays.of(i, n), gradient[i.sequences_of(n)]
        engine.gradient_slice(other, n, reach, s.nodes, s.sequences)
        part[:] = s.sequences
        engine.run(other, n, tree.add_child_values, *i.upward, *s.offsets, ended, part)
        ended = s.nodes.copy()
        engine.run(other, n, tree.best_values, *i.upward, *s.offsets, s.child_values, s.nodes, s.sequences)
        on_progress(1 - i.nodes_of(n).start / i.nodes)
    best = float(arrays.nodes[0][0])
    return Assessment(strategy.player, best, reach.sequences, Gradient(float(ended[0]), gradient))
