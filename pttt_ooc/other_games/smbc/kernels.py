"""The kernels of one round: reach downward; values, regrets and strategies upward.

Row ``n`` of an array of shape (nodes, 3) is for the player who moved to node ``n``, and for the sequence of their
moves, with a column for each goal.  Row 0, the empty board, is for the empty sequence.  So a player's last sequence at
a node is the row of the node itself, or of its parent if the opponent moved last.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pttt_ooc.jit import bare_kernel, piece

_MET = np.array(((0, 1, 2, 0), (2, 1, 0, 0)))  # the goal that each outcome meets, as in `rules`
_ONE = np.uint64(1)


class Shape(NamedTuple):
    """The tree of a round.

    Node numbers are unsigned, which makes the kernels twice as fast.

    Attributes
    ----------
    parent
        uint64, shape (nodes,); node 0 is its own parent.
    first_child
        uint64, shape (nodes + 1,): node ``n`` has the children ``first_child[n]`` to ``first_child[n + 1] - 1``.
    outcome
        int8, shape (nodes,): the outcome of an end, else -1.
    plies
        int64, shape (plies + 1,): the first node of each ply, and the number of nodes.
    """

    parent: Any
    first_child: Any
    outcome: Any
    plies: Any


@bare_kernel
def normalize(shape, player, shares, strategy):
    """A player's strategy in proportion to shares.

    Parameters
    ----------
    shares
        float64, shape (nodes, 3), from 0 up.  The strategy is uniform at infosets where all are zero.
    strategy
        Written: probabilities of moves.
    """
    first_child, plies = shape.first_child, shape.plies
    for ply in range(player, len(plies) - 1, 2):
        for node in range(np.uint64(plies[ply]), np.uint64(plies[ply + 1])):
            begin, end = first_child[node], first_child[node + _ONE]
            for goal in range(3):
                total = 0.0
                for child in range(begin, end):
                    total += shares[child, goal]
                for child in range(begin, end):
                    strategy[child, goal] = shares[child, goal] / total if total > 0 else 1.0 / (end - begin)


@bare_kernel
def go_down(shape, player, strategy, reach, discount, sums):
    """A player's reach, added to the discounted sums of strategies.

    Parameters
    ----------
    strategy, reach
        `reach` is written: products of the strategy's probabilities along the player's own moves.
    discount, sums
        ``sums = discount * sums + reach``; `sums` may be empty.
    """
    parent, plies = shape.parent, shape.plies
    for ply in range(player + 1, len(plies) - 1, 2):
        for node in range(np.uint64(plies[ply]), np.uint64(plies[ply + 1])):
            above = parent[parent[node]]
            for goal in range(3):
                reach[node, goal] = reach[above, goal] * strategy[node, goal]
                if len(sums):
                    sums[node, goal] = discount * sums[node, goal] + reach[node, goal]


@piece
def _end(node, outcome, player, payoffs, reach, row, values):
    """Values of an end for each of a player's goals; row `row` of `reach` is the opponent's last sequence."""
    total = reach[row, 0] + reach[row, 1] + reach[row, 2]
    met = reach[row, _MET[1 - player, outcome]]  # by the opponent
    values[node, 0] = values[node, 1] = values[node, 2] = payoffs[2] * met + payoffs[0] * (total - met)
    values[node, _MET[player, outcome]] = payoffs[3] * met + payoffs[1] * (total - met)


@piece
def _add(node, amount, values):
    """Add an amount to the values of a node."""
    for goal in range(3):
        values[node, goal] += amount


@piece
def _add_up(shape, player, payoffs, node, reach, values):
    """The values of a node at which the opponent moves: the children's values include the opponent's reach."""
    v0 = v1 = v2 = 0.0
    for child in range(shape.first_child[node], shape.first_child[node + _ONE]):
        if shape.outcome[child] >= 0:
            _end(child, shape.outcome[child], player, payoffs, reach, child, values)
        v0 += values[child, 0]
        v1 += values[child, 1]
        v2 += values[child, 2]
    values[node, 0], values[node, 1], values[node, 2] = v0, v1, v2


class RoundArrays(NamedTuple):
    """What an iteration reads and writes: float64, shape (nodes, 3).

    Attributes
    ----------
    reach
        The reach of the latest strategies.
    values
        Counterfactual values, with a column for each goal of the player who is updated.
    regrets
        Sums of regrets.
    strategy
        Probabilities of moves.
    """

    reach: Any
    values: Any
    regrets: Any
    strategy: Any


class UpdateStep(NamedTuple):
    """One iteration of an update rule.

    ``regrets = max(discounted regrets + newest, lowest)`` with ``newest = value - expected value`` and the discounts
    `positive` and `negative`, by the sign of the sum so far.  The next strategy has the shares
    ``max(ahead * regrets + trust * newest, 0)``, or is uniform where they are zero.
    """

    positive: float
    negative: float
    lowest: float
    ahead: float
    trust: float


@bare_kernel
def update(shape, player, payoffs, bonus, tables, step):
    """A player's counterfactual values against the opponent's reach, their sums of regrets, and their next strategy.

    The loops over goals are unrolled, which makes them twice as fast.

    Parameters
    ----------
    payoffs
        float64, shape (4,): the player's payoffs if nobody, only the player, only the opponent, or both score, divided
        by 9, because each pair of goals has the chance 1/9.
    bonus
        float64, shape (nodes,): the player's bonus for each move, divided by 9; may be empty.
    tables, step
        :class:`RoundArrays`, in which all but the reach is changed, and :class:`UpdateStep`.
    """
    # Upward, from the last ply whose nodes have children: values first, as parents need those of their children.
    plies, first_child, outcome = shape.plies, shape.first_child, shape.outcome
    reach, values, regrets, strategy = tables
    positive, negative, lowest, ahead, trust = step
    for ply in range(len(plies) - 3, -1, -1):
        for node in range(np.uint64(plies[ply]), np.uint64(plies[ply + 1])):
            begin, end = first_child[node], first_child[node + _ONE]
            if begin == end:
                continue
            # Where the opponent moves, the values of the children add up: the opponent's reach is in them already.
            if ply % 2 != player:
                _add_up(shape, player, payoffs, node, reach, values)
                continue
            # Where the player moves, v is the expected value of each goal under the present strategy.
            v0 = v1 = v2 = 0.0
            for child in range(begin, end):
                if outcome[child] >= 0:
                    _end(child, outcome[child], player, payoffs, reach, node, values)
                if len(bonus):
                    _add(child, bonus[child] * (reach[node, 0] + reach[node, 1] + reach[node, 2]), values)
                v0 += strategy[child, 0] * values[child, 0]
                v1 += strategy[child, 1] * values[child, 1]
                v2 += strategy[child, 2] * values[child, 2]
            values[node, 0], values[node, 1], values[node, 2] = v0, v1, v2
            # The newest regret n of a move is its value less v.  It is added to the discounted sum r.
            s0 = s1 = s2 = 0.0
            for child in range(begin, end):
                n0, n1, n2 = values[child, 0] - v0, values[child, 1] - v1, values[child, 2] - v2
                r0, r1, r2 = regrets[child, 0], regrets[child, 1], regrets[child, 2]
                r0 = max(r0 * (positive if r0 > 0 else negative) + n0, lowest)
                r1 = max(r1 * (positive if r1 > 0 else negative) + n1, lowest)
                r2 = max(r2 * (positive if r2 > 0 else negative) + n2, lowest)
                regrets[child, 0], regrets[child, 1], regrets[child, 2] = r0, r1, r2
                # The shares of the next strategy: the sum with the weight `ahead`, and the newest regret once more with
                # `trust`.
                r0 = max(ahead * r0 + trust * n0, 0.0)
                r1 = max(ahead * r1 + trust * n1, 0.0)
                r2 = max(ahead * r2 + trust * n2, 0.0)
                strategy[child, 0], strategy[child, 1], strategy[child, 2] = r0, r1, r2
                s0, s1, s2 = s0 + r0, s1 + r1, s2 + r2
            # The next strategy is in proportion to the shares; where all are zero, f is 0, and a is the uniform
            # strategy.
            same = 1.0 / (end - begin)
            f0, f1, f2 = 1 / s0 if s0 > 0 else 0.0, 1 / s1 if s1 > 0 else 0.0, 1 / s2 if s2 > 0 else 0.0
            a0, a1, a2 = 0.0 if s0 > 0 else same, 0.0 if s1 > 0 else same, 0.0 if s2 > 0 else same
            for child in range(begin, end):
                strategy[child, 0] = strategy[child, 0] * f0 + a0
                strategy[child, 1] = strategy[child, 1] * f1 + a1
                strategy[child, 2] = strategy[child, 2] * f2 + a2


@bare_kernel
def respond(shape, player, payoffs, reach, values, best):
    """Values of a player's best response to the opponent's reach, and its moves.

    Parameters
    ----------
    payoffs
        See :func:`update`.
    reach, values
        See :class:`RoundArrays`.
    best
        Written: float64, shape (nodes, 3): 1 for the first of the best moves, else 0; may be empty.
    """
    plies, first_child, outcome = shape.plies, shape.first_child, shape.outcome
    for ply in range(len(plies) - 3, -1, -1):
        for node in range(np.uint64(plies[ply]), np.uint64(plies[ply + 1])):
            begin, end = first_child[node], first_child[node + _ONE]
            if begin == end:
                continue
            if ply % 2 != player:
                _add_up(shape, player, payoffs, node, reach, values)
                continue
            for child in range(begin, end):
                if outcome[child] >= 0:
                    _end(child, outcome[child], player, payoffs, reach, node, values)
            for goal in range(3):
                chosen = begin
                for child in range(begin + _ONE, end):
                    if values[child, goal] > values[chosen, goal]:
                        chosen = child
                values[node, goal] = values[chosen, goal]
                if len(best):
                    for child in range(begin, end):
                        best[child, goal] = 1.0 if child == chosen else 0.0


@bare_kernel
def outcomes(shape, reach, result):
    """Probabilities of the outcomes for each pair of goals: `result`, float64, shape (4, 3, 3), is written."""
    parent, outcome, plies = shape.parent, shape.outcome, shape.plies
    result[:] = 0
    for ply in range(1, len(plies) - 1):
        for node in range(np.uint64(plies[ply]), np.uint64(plies[ply + 1])):
            if outcome[node] >= 0:
                first, second = (node, parent[node]) if ply % 2 else (parent[node], node)
                for mine in range(3):
                    for other in range(3):
                        result[outcome[node], mine, other] += reach[first, mine] * reach[second, other]


@piece
def _draw_child(shape, strategy, node, goal):
    """A child of a node, drawn by the strategy for a goal."""
    begin, end = shape.first_child[node], shape.first_child[node + _ONE]
    left = np.random.random()
    for child in range(begin, end):
        left -= strategy[child, goal]
        if left < 0:
            return child
    return end - _ONE  # rounded probabilities sum to a little less than 1


@piece
def _play_round(shape, strategy):
    """Play a round with drawn goals; return whether the first and whether the second player scores."""
    goals = (np.random.randint(3), np.random.randint(3))
    node, player = np.uint64(0), 0
    while shape.outcome[node] < 0:
        node = _draw_child(shape, strategy, node, goals[player])
        player = 1 - player
    outcome = shape.outcome[node]
    return _MET[0, outcome] == goals[0], _MET[1, outcome] == goals[1]


@bare_kernel
def simulate(shape, strategies, winning_score, matches, seed, visited, counts):
    """Play matches from 0-0, round by round, move by move.

    Parameters
    ----------
    strategies
        The rounds' strategies by scores (a, b): float64, shape (N, N, nodes, 3), with N the winning score.
    visited
        Work space: int64, shape (N, N).
    counts
        Written: int64, shape (3, N, N).  For scores (a, b) of a round's first and second player: the number of matches
        with these scores; how many of them were won by the player who moved first at their first occurrence; the
        number of rounds at them.
    """
    np.random.seed(seed)
    counts[:] = 0
    for _ in range(matches):
        visited[:] = 0
        a, b, mover = 0, 0, 0  # which of the two players moves first in this round
        winner = -1
        while winner < 0:
            if visited[a, b] == 0:
                visited[a, b] = 1 + mover
            counts[2, a, b] += 1
            mine, other = _play_round(shape, strategies[a, b])
            after, against = a + mine, b + other
            if after < winning_score and against < winning_score:
                a, b = against, after
            elif after >= winning_score and against >= winning_score:
                a, b = b, a  # the round does not count
            else:
                winner = mover if after > against else 1 - mover
            mover = 1 - mover
        for row in range(winning_score):
            for column in range(winning_score):
                if visited[row, column]:
                    counts[0, row, column] += 1
                    counts[1, row, column] += visited[row, column] - 1 == winner
