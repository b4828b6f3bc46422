"""Assessment of one strategy: the value of a best response, and the payoffs of all opponents.

Against a fixed strategy the opponent's payoff is linear in the opponent's realization plan, so one gradient
gives the value of any match as a dot product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.solving.evaluation import check_layout
from pttt_ooc.cfr.sweep import tree
from pttt_ooc.cfr.sweep.engine import Engine, slice_arrays
from pttt_ooc.cfr.sweep.tree import Reach, Slice
from pttt_ooc.disk.memory import in_memory
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.types import Interval

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Gradient:
    """Payoffs of a player's realization plans against one strategy of the other player.

    Attributes
    ----------
    constant
        The part of the payoff that does not depend on the plan: games that the opponent wins before the player's first
        attempt.
    sequences
        float, shape (the player's sequences,): payoff of each sequence per unit of reach.
    """

    constant: float
    sequences: Floats

    def value(self, plan: Floats) -> float:
        """Expected payoff of a realization plan, shape (the player's sequences,), from the player's point of view."""
        return self.constant + float(np.dot(plan, self.sequences))


@dataclass(frozen=True, eq=False)
class Assessment:
    """The assessment of a strategy against all opponents.

    Attributes
    ----------
    player
        The player of the strategy.
    best_response
        Value of the other player's best response, from the other player's point of view.
    plan
        float, shape (own sequences,): the strategy's realization plan.
    gradient
        Gradient of the other player.
    """

    player: int
    best_response: float
    plan: Floats
    gradient: Gradient

    def exploitability(self, game_value: Interval) -> float:
        """The value of the game, taken as the middle of its interval, minus the strategy's worst case."""
        middle = sum(game_value) / 2
        return self.best_response + (middle if self.player == 0 else -middle)


def assess(strategy: Strategy, engine: Engine, on_progress: Callable[[float], None] = lambda share: None) -> Assessment:
    """Find the opponent's best response to a strategy, and the opponent's gradient.

    Parameters
    ----------
    strategy
        A strategy on the engine's index.
    engine
        An engine of any precision, on an index without symmetry; the computation is in double precision.
    on_progress
        Called with the finished share of the work, 0 to 1; an exception that it raises ends the work.

    Raises
    ------
    ValueError
        If the index is folded by symmetry: there a sequence represents several, and sums would be wrong.
    StrategyError
        If the strategy is laid out for another game or symmetry.
    """
    if engine.index.symmetry != "none":
        raise ValueError(f"strategies are assessed without symmetry, but this index has {engine.index.symmetry!r}")
    check_layout(strategy, engine.index, strategy.player)
    engine = engine.in_precision(np.float64)
    reach, other = engine.reach(strategy.player, strategy.probabilities), 1 - strategy.player
    i, best = engine.index.players[other], float("nan")

    def respond(n: int, part: Slice) -> None:
        nonlocal best
        engine.run(other, n, tree.best_values, part, tree.NO_CHOICES)
        on_progress(1 - i.nodes_of(n).start / i.nodes)
        best = float(part.nodes[0])

    gradient = _find_gradient(reach, other, engine, respond)
    return Assessment(strategy.player, best, reach.sequences, gradient)


def gradient_against(strategy: Strategy, engine: Engine) -> Gradient:
    """The gradient of the other player against a strategy.

    On an index with symmetry, each sequence has its own payoff, which is that of its mirror images too; a plan's value
    is then no dot product with the stored sequences.  For parameters and errors see :func:`assess`.
    """
    check_layout(strategy, engine.index, strategy.player)
    engine = engine.in_precision(np.float64)
    reach = engine.reach(strategy.player, strategy.probabilities)
    return _find_gradient(reach, 1 - strategy.player, engine, lambda n, part: None)


def _find_gradient(reach: Reach, player: int, engine: Engine, on_slice: Callable[[int, Slice], None]) -> Gradient:
    """The gradient of `player` against a realization plan.

    `on_slice` is called with each slice's number and its gradient, from the longest sequences to the shortest, and may
    turn it into values.
    """
    i = engine.index.players[player]
    gradient = np.empty(i.sequences, engine.dtype)
    arrays = in_memory(slice_arrays(engine.index.players, engine.dtype))
    ended = gradient[:0]  # payoffs of the slice below, of games that the opponent wins there
    for n in reversed(range(i.slices)):
        s, part = arrays.of(i, n), gradient[i.sequences_of(n)]
        engine.gradient_slice(player, n, reach, s)
        part[:] = s.sequences
        engine.run(player, n, tree.add_child_values, s._replace(sequences=part, child_values=ended))
        ended = s.nodes.copy()
        on_slice(n, s)
    return Gradient(float(ended[0]), gradient)
