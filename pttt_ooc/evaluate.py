"""Exact evaluation of two strategies: value, best responses, NashConv, exploitability."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc import tree
from pttt_ooc.engine import Engine, Reach
from pttt_ooc.errors import StrategyError
from pttt_ooc.game import Game
from pttt_ooc.regret import average_probabilities
from pttt_ooc.strategy import Strategy

Floats = NDArray[np.floating[Any]]
Interval = tuple[float, float]

REFERENCE_VALUES: dict[str, tuple[Interval, str]] = {
    "pttt-abrupt": (
        (0.550155, 0.550188),
        "exact best responses to the average strategies after 2,209 iterations of DCFR (1.5, 0, 2) by this package: "
        "0.5501559993 and 0.5501871974, rounded outward",
    ),
}
"""Intervals that hold the value of a game, and where they come from."""


@dataclass(frozen=True)
class Evaluation:
    """What two strategies are worth; all values are exact up to rounding.

    Attributes
    ----------
    value
        Expected payoff of player 0.
    best_response_0, best_response_1
        What the best reply to the opponent's strategy gets, for player 0 and for player 1, each from
        its own point of view.
    nashconv
        ``best_response_0 + best_response_1``, zero exactly at an equilibrium.
    exploitability_0, exploitability_1
        How far each player's worst case is below the value of the game; None where that is unknown.
    game_value
        The interval that is known to hold the value of the game; its middle is taken.
    seconds
        Wall time.
    """

    value: float
    best_response_0: float
    best_response_1: float
    nashconv: float
    exploitability_0: float | None
    exploitability_1: float | None
    game_value: Interval | None
    seconds: float


def reference_value(game: Game) -> Interval | None:
    """The interval that the package knows to hold the value of `game`, if any."""
    known = REFERENCE_VALUES.get(game.name)
    return known[0] if known else None


def narrowed(proved: Interval, reference: Interval | None) -> Interval:
    """What two intervals that hold the value of a game have in common.

    If there is no `reference`, or it contradicts what was `proved`, the proved one alone.
    """
    if reference is None:
        return proved
    both = (max(proved[0], reference[0]), min(proved[1], reference[1]))
    return both if both[0] <= both[1] else proved


def evaluate(
    strategy0: Strategy, strategy1: Strategy, engine: Engine, game_value: Interval | None = None
) -> Evaluation:
    """Evaluate two strategies against each other and against their best responses.

    Parameters
    ----------
    strategy0, strategy1
        Of player 0 and 1, on the engine's index.  Probabilities are scaled to sum to 1 at every
        infoset, in the engine's precision.
    engine
        In double precision, for an exact result.
    game_value
        Interval that holds the value of the game; default: :func:`reference_value`.
    """
    begun = time.perf_counter()
    probabilities = [normalised(engine, strategy) for strategy in (strategy0, strategy1)]
    reaches = [engine.reach(p, probabilities[p]) for p in (0, 1)]
    value, best_0 = _responses(engine, 0, reaches[1], probabilities[0])
    _, best_1 = _responses(engine, 1, reaches[0], None)
    known = game_value or reference_value(engine.index.game)
    middle = sum(known) / 2 if known else None
    return Evaluation(
        value=value,
        best_response_0=best_0,
        best_response_1=best_1,
        nashconv=best_0 + best_1,
        exploitability_0=None if middle is None else middle + best_1,
        exploitability_1=None if middle is None else best_0 - middle,
        game_value=known,
        seconds=time.perf_counter() - begun,
    )


def normalised(engine: Engine, strategy: Strategy) -> Floats:
    """Probabilities in the engine's precision, scaled to sum to 1 at every infoset."""
    if strategy.index is not engine.index:
        raise StrategyError(
            f"Player {strategy.player}'s strategy is laid out for symmetry {strategy.index.symmetry}, "
            f"but is to be evaluated with symmetry {engine.index.symmetry}."
        )
    i = engine.index.players[strategy.player]
    probabilities = np.empty(i.sequences, engine.dtype)
    source = strategy.probabilities.astype(engine.dtype, copy=False)
    for n in range(i.slices):
        engine.run(
            *(strategy.player, n, average_probabilities, i.node_start, i.sequence_start, 0, source, probabilities)
        )
    return probabilities


def _responses(engine: Engine, player: int, opponent: Reach, own: Floats | None) -> tuple[float, float]:
    """Value of the player's own strategy (if given) and of its best response."""
    i = engine.index.players[player]
    expected: Floats | None = None
    best: Floats | None = None
    for n in reversed(range(i.slices)):
        node_gradient, sequence_gradient = engine.gradient_slice(player, n, opponent)
        offsets = (i.nodes_of(n).start, i.sequences_of(n).start)
        tables = (i.node_start, i.sequence_start, *offsets)
        if own is not None:
            values, sequence_values = node_gradient.copy(), sequence_gradient.copy()
            engine.add_child_values(player, n, expected, sequence_values)
            engine.run(player, n, tree.expected_values, *tables, own[i.sequences_of(n)], sequence_values, values)
            expected = values
        engine.add_child_values(player, n, best, sequence_gradient)
        engine.run(player, n, tree.best_values, *tables, sequence_gradient, node_gradient)
        best = node_gradient
    assert best is not None
    return (float("nan") if expected is None else float(expected[0])), float(best[0])
