"""The kernels of one round: strategies and reach downward, values and regrets upward.

All kernels of this wing are here, and use nothing of other modules: numba's own stamp of this file is then enough to
tell what has to be compiled anew.

Row ``n`` of an array of shape (nodes, 3) belongs to the player who took a square to come to node ``n``, and is about
that sequence of its moves, with a column for each of its goals.  Row 0, the empty board, is about having done nothing.
So a player's last sequence at a node is the row of the node itself, or of its parent if the opponent moved last.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pttt_ooc.jit import kernel, piece

_MET = np.array(((0, 1, 2, 0), (2, 1, 0, 0)))  # the goal that an outcome meets, as in `rules`


class Shape(NamedTuple):
    """The tree of a round.

    Attributes
    ----------
    parent
        int32, shape (nodes,); node 0 is its own parent.
    first_child
        int32, shape (nodes + 1,): node ``n`` has the children ``first_child[n]`` to ``first_child[n + 1] - 1``.
    outcome
        int8, shape (nodes,): of an end, else -1.
    plies
        int32, shape (plies + 1,): the first node of each ply, and the number of nodes.
    """

    parent: Any
    first_child: Any
    outcome: Any
    plies: Any


@kernel
def follow(shape, player, regrets, predictions, look_ahead, strategy, reach, discount, sums):
    """A player's strategy from sums of regrets, and its reach, which is added to the discounted sums of strategies.

    The same gives the average strategy: with the sums of strategies in place of `regrets`.

    Parameters
    ----------
    regrets, predictions
        float64, shape (nodes, 3).  A move gets the share ``max(look_ahead * regret + prediction, 0)``; if all shares
        are zero, all moves get the same.  `predictions` may be empty.
    strategy, reach
        Written: probabilities of moves, and their products along the player's own moves.
    discount, sums
        ``sums = discount * sums + reach``; `sums` may be empty.
    """
    parent, first_child, plies = shape.parent, shape.first_child, shape.plies
    for ply in range(player, len(plies) - 1, 2):
        for node in range(plies[ply], plies[ply + 1]):
            begin, end = first_child[node], first_child[node + 1]
            above = parent[node]
            for goal in range(3):
                total = 0.0
                for child in range(begin, end):
                    share = look_ahead * regrets[child, goal]
                    if len(predictions):
                        share += predictions[child, goal]
                    share = max(share, 0.0)
                    strategy[child, goal] = share
                    total += share
                for child in range(begin, end):
                    if total > 0:
                        strategy[child, goal] /= total
                    else:
                        strategy[child, goal] = 1.0 / (end - begin)
                    reach[child, goal] = reach[above, goal] * strategy[child, goal]
                    if len(sums):
                        sums[child, goal] = discount * sums[child, goal] + reach[child, goal]


@piece
def _end_values(outcome, player, payoffs, opponent, values):
    """Values of an end for each of a player's goals, where the opponent's goals have the reach `opponent`."""
    total = opponent[0] + opponent[1] + opponent[2]
    met, opponents = _MET[player, outcome], opponent[_MET[1 - player, outcome]]
    for goal in range(3):
        if goal == met:
            values[goal] = payoffs[3] * opponents + payoffs[1] * (total - opponents)
        else:
            values[goal] = payoffs[2] * opponents + payoffs[0] * (total - opponents)


@piece
def _last_sequence(shape, player, ply, node):
    """The row of a player's last sequence at a node."""
    return node if ply > 0 and (ply - 1) % 2 == player else shape.parent[node]


@kernel
def update(shape, player, payoffs, bonus, strategy, reach, values, regrets, predictions, positive, negative, floor):
    """A player's counterfactual values against the opponent's reach, and its sums of regrets.

    Parameters
    ----------
    payoffs
        float64, shape (4,): what the player gets if nobody, only it, only the opponent, or both score, divided by 9,
        because each pair of goals has the chance 1/9.
    bonus
        float64, shape (nodes,): what the player gets for each of its moves besides, divided by 9; may be empty.
    strategy, reach
        Of both players' latest strategies.
    values
        Written: float64, shape (nodes, 3), with a column for each of `player`'s goals.
    regrets, predictions
        ``regrets = discounted regrets + (value - expected value)``, never below zero if `floor`; `predictions`, if not
        empty, get ``value - expected value``.
    """
    plies, first_child = shape.plies, shape.first_child
    for ply in range(len(plies) - 2, -1, -1):
        for node in range(plies[ply], plies[ply + 1]):
            begin, end = first_child[node], first_child[node + 1]
            if begin == end:
                opponent = reach[_last_sequence(shape, 1 - player, ply, node)]
                _end_values(shape.outcome[node], player, payoffs, opponent, values[node])
                continue
            for goal in range(3):
                expected = 0.0
                if ply % 2 != player:
                    for child in range(begin, end):
                        expected += values[child, goal]
                    values[node, goal] = expected
                    continue
                if len(bonus):
                    opponent = reach[node]
                    for child in range(begin, end):
                        values[child, goal] += bonus[child] * (opponent[0] + opponent[1] + opponent[2])
                for child in range(begin, end):
                    expected += strategy[child, goal] * values[child, goal]
                values[node, goal] = expected
                for child in range(begin, end):
                    regret, newest = regrets[child, goal], values[child, goal] - expected
                    regret = regret * (positive if regret > 0 else negative) + newest
                    regrets[child, goal] = max(regret, 0.0) if floor else regret
                    if len(predictions):
                        predictions[child, goal] = newest


@kernel
def respond(shape, player, payoffs, reach, values, best):
    """Values of a player's best response to the opponent's reach, and its moves.

    Parameters
    ----------
    payoffs, reach, values
        As for :func:`update`.
    best
        Written: float64, shape (nodes, 3): 1 for the first of the best moves, else 0; may be empty.
    """
    plies, first_child = shape.plies, shape.first_child
    for ply in range(len(plies) - 2, -1, -1):
        for node in range(plies[ply], plies[ply + 1]):
            begin, end = first_child[node], first_child[node + 1]
            if begin == end:
                opponent = reach[_last_sequence(shape, 1 - player, ply, node)]
                _end_values(shape.outcome[node], player, payoffs, opponent, values[node])
                continue
            for goal in range(3):
                if ply % 2 != player:
                    total = 0.0
                    for child in range(begin, end):
                        total += values[child, goal]
                    values[node, goal] = total
                    continue
                chosen = begin
                for child in range(begin + 1, end):
                    if values[child, goal] > values[chosen, goal]:
                        chosen = child
                values[node, goal] = values[chosen, goal]
                if len(best):
                    for child in range(begin, end):
                        best[child, goal] = 1.0 if child == chosen else 0.0


@kernel
def outcomes(shape, reach, found):
    """Probabilities of the outcomes for each pair of goals: `found`, float64, shape (3, 3, 4), is written."""
    found[:] = 0
    plies, first_child = shape.plies, shape.first_child
    for ply in range(len(plies) - 1):
        for node in range(plies[ply], plies[ply + 1]):
            if first_child[node] < first_child[node + 1]:
                continue
            first = reach[_last_sequence(shape, 0, ply, node)]
            second = reach[_last_sequence(shape, 1, ply, node)]
            for mine in range(3):
                for other in range(3):
                    found[mine, other, shape.outcome[node]] += first[mine] * second[other]
