"""Gradients and best responses on an index, for objectives that are linear in a realization plan."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.sweep import tree
from pttt_ooc.cfr.sweep.engine import Engine
from pttt_ooc.cfr.sweep.tree import CHUNK, Reach, Slice
from pttt_ooc.exact.double_oracle.pure_rule import rule_squares
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables
from pttt_ooc.jit import kernel

Floats = NDArray[np.float64]
Choices = NDArray[np.uint8]


class Responses:
    """Gradients and best responses of both players.

    Parameters
    ----------
    engine
        It may have any precision; the computation is in double precision.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine.in_precision(np.float64)
        self.index = engine.index

    def reach(self, player: int, probabilities: NDArray[Any]) -> Reach:
        """The realization plan of a strategy, float (sequences,)."""
        return self.engine.reach(player, probabilities)

    def behaviour(self, player: int, plan: Floats) -> Floats:
        """The probabilities of a plan, float64 (sequences,): uniform where it does not come."""
        i, found = self.index.players[player], np.empty(len(plan))
        for n in range(i.slices):
            part = i.sequences_of(n)
            self.engine.run(player, n, tree.average_strategy, part.start, plan[part], found[part])
        return found

    def gradient(self, player: int, opponent: Reach) -> tuple[float, Floats]:
        """The payoffs of a player's plans: a constant, and for each sequence the payoff for a unit of its reach.

        Payoffs that follow before the player's next move belong to the sequence.
        """
        nodes, sequences = self.engine.gradient(player, opponent)
        i, part = self.index.players[player], Slice(sequences, nodes[:0], nodes, 0, 0, 0)
        for n in range(i.slices):
            self.engine.run(player, n, tree.add_child_values, part)
        return float(nodes[0]), sequences.astype(np.float64, copy=False)

    def best(
        self, player: int, payoffs: Floats, defaults: Choices | None = None, tolerance: float = 0.0
    ) -> tuple[float, Choices, Floats]:
        """The plan with the largest sum of reach times payoff.

        Parameters
        ----------
        payoffs
            float64 (sequences,).
        defaults
            uint8 (nodes,): the choices to make where nothing else is better by more than `tolerance`.

        Returns
        -------
        value, choices, values
            The sum; the number of the chosen action at each node, uint8 (nodes,); the values of all nodes.
        """
        i = self.index.players[player]
        choices = np.zeros(i.nodes, np.uint8) if defaults is None else defaults.copy()
        values = np.zeros(i.nodes)
        part = Slice(payoffs, values, values, 0, 0, 0)
        for n in reversed(range(i.slices)):
            self.engine.run(player, n, best_values_near, part, choices, tolerance)
        return float(values[0]), choices, values

    def value(self, player: int, payoffs: Floats, weights: Floats) -> float:
        """The sum of reach times payoff of a strategy, float (sequences,)."""
        i, values = self.index.players[player], np.zeros(self.index.players[player].nodes)
        part = Slice(payoffs, values, values, 0, 0, 0)
        for n in reversed(range(i.slices)):
            self.engine.run(player, n, tree.values_of_strategy, part, weights)
        return float(values[0])


def rule_choices(engine: Engine, rules: RuleTables, player: int) -> Choices:
    """The choices of the pure rule, uint8 (nodes,); see :mod:`pttt_ooc.exact.double_oracle.pure_rule`."""
    i, setup = engine.index.players[player], int(rules.setup[player])
    squares = rule_squares(rules, player, i.placed | setup, i.failed)
    taken = i.placed | i.failed | setup
    below = ~taken & ((1 << np.maximum(squares, 0)) - 1)
    numbers = np.bitwise_count(below).astype(np.uint8)
    return np.repeat(numbers, np.diff(i.node_start))


@kernel
def best_values_near(first_view: Any, last_view: Any, tree: Any, part: Any, choices: Any, tolerance: float) -> None:
    """As :func:`pttt_ooc.cfr.sweep.tree.best_values`, but choices change only for more than `tolerance`.

    `choices` begin at the first node of all.
    """
    values = np.empty(CHUNK, part.nodes.dtype)
    best = np.empty(CHUNK, part.nodes.dtype)
    usual = np.empty(CHUNK, part.nodes.dtype)
    first_best = np.empty(CHUNK, np.uint8)
    for view in range(first_view, last_view):
        orders = tree.node_start[view + 1] - tree.node_start[view]
        start = tree.sequence_start[view]
        actions = (tree.sequence_start[view + 1] - start) // max(orders, 1)
        # A stretch of orders at a time, so that the working arrays stay in the processor's cache.
        for first in range(0, orders if actions else 0, CHUNK):
            count = min(CHUNK, orders - first)
            node = tree.node_start[view] + first
            chosen = choices[node : node + count]
            best[:count] = -np.inf
            for action in range(actions):
                offset = start + first + action * orders
                # The value of an action: its payoff, and the values of the infosets after it has failed and after it
                # was placed. Orders of a mirrored view have other ranks there.
                for r in range(count):
                    values[r] = part.sequences[offset + r]
                for outcome in range(2):
                    child = tree.child_start[view, action, outcome]
                    if child < 0:
                        continue
                    relabel = tree.child_map[view, action, outcome]
                    if relabel < 0:
                        for r in range(count):
                            values[r] += part.child_values[child + first + r]
                    else:
                        for r in range(count):
                            values[r] += part.child_values[child + tree.relabelling[relabel + first + r]]
                # The value of the usual choice is kept beside the best one.
                for r in range(count):
                    if chosen[r] == action:
                        usual[r] = values[r]
                    if values[r] > best[r]:
                        best[r] = values[r]
                        first_best[r] = action
            # The choice changes only for a real gain; the value that is passed up is the best in any case.
            for r in range(count):
                if best[r] > usual[r] + tolerance:
                    chosen[r] = first_best[r]
                part.nodes[node + r] += best[r]
