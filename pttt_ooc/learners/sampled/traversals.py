"""The kernels of the sampled learners: traversals of random or of all histories, which add to regrets and strategies.

Each draws attempts with the state machine of :mod:`pttt_ooc.learners.sampled.kernels`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pttt_ooc.jit import bare_kernel, piece
from pttt_ooc.learners.sampled.kernels import DRAWN, FIELDS, GOES_ON, MOVER, attempt, begin, draw, first_sequence, pick


class Tables(NamedTuple):
    """What traversals read and write: numbers for both players' sequences.

    Attributes
    ----------
    regrets, sums : float64 (sequences of both players,)
        Sums of regrets and of strategies; player 1's begin at `second`.
    baselines : float32, the same shape
        Expected payoffs of player 0 after an action; may be empty.
    second
        Number of player 0's sequences.
    """

    regrets: Any
    sums: Any
    baselines: Any
    second: int


class Options(NamedTuple):
    """The variant of a learner.

    Attributes
    ----------
    power
        Iteration t has the weight ``t^power``.
    floor
        Whether sums of regrets below zero are set to zero.
    explored
        The uniform part of the player's draws in outcome sampling.
    rate
        The rate at which baselines follow.
    """

    power: float
    floor: bool
    explored: float
    rate: float


@piece
def _match(regrets, first, orders, actions, policy):
    """Regret matching: probabilities in proportion to the positive parts."""
    total = 0.0
    for a in range(actions):
        policy[a] = max(np.float64(regrets[first + a * orders]), 0.0)
        total += policy[a]
    for a in range(actions):
        policy[a] = policy[a] / total if total > 0 else 1.0 / actions


class Scratch(NamedTuple):
    """Work space of a traversal: a row for each depth of its history.

    Attributes
    ----------
    positions : int64 (D, FIELDS)
    infosets : int64 (D, 3)
        First sequence, distance to the next action's, number of actions.
    turns : int64 (D, 2)
        The next action, and the end of the actions.
    policies, chances, values : float64 (D, A)
        Of the actions: the strategy, the chances of draws, and the values found.
    """

    positions: Any
    infosets: Any
    turns: Any
    policies: Any
    chances: Any
    values: Any


def scratch_of(squares):
    """Work space for a board with this number of squares."""
    depths = 2 * squares + 2
    rows = [np.zeros((depths, squares)) for _ in range(3)]
    numbers = [np.zeros((depths, width), np.int64) for width in (FIELDS, 3, 2)]
    return Scratch(*numbers, *rows)


@piece
def _arrive(rules, tables, scratch, depth, counted):
    """Find the infoset of a history and its strategy; return the mover."""
    counted[0] += 1
    position, infoset = scratch.positions[depth], scratch.infosets[depth]
    p = position[MOVER]
    first, orders, actions = first_sequence(rules, position)
    infoset[0], infoset[1], infoset[2] = first + p * tables.second, orders, actions
    _match(tables.regrets, infoset[0], orders, actions, scratch.policies[depth])
    return p


@piece
def _go(rules, scratch, depth, action):
    """Write the history after an action into the next row; return its end."""
    for k in range(FIELDS):
        scratch.positions[depth + 1, k] = scratch.positions[depth, k]
    return attempt(rules, scratch.positions[depth + 1], action)


@bare_kernel
def external(rules, tables, player, scratch, options, weight, random, counted):
    """A traversal of external sampling (Lanctot et al. 2009, section 4.2); returns an estimate of `player`'s value.

    It follows all actions at the player's infosets, and updates regrets.  At the opponent's infosets it draws one, and
    adds the strategy to the sums.

    Parameters
    ----------
    weight
        Of added regrets and strategies.
    counted
        int64, shape (1,): the number of visited histories is added.
    """
    # Numba's cache does not keep recursive functions, so `scratch` serves as the stack.
    turns, policies, values = scratch.turns, scratch.policies, scratch.values
    begin(rules, scratch.positions[0])
    depth, arrived, value = 0, True, 0.0
    while True:
        infoset, policy = scratch.infosets[depth], policies[depth]
        # Arrived from above: follow all actions of the player's infoset, but only a drawn one of the opponent's.
        if arrived:
            p = _arrive(rules, tables, scratch, depth, counted)
            turns[depth, 0], turns[depth, 1] = 0, infoset[2]
            if p != player:
                drawn = pick(policy, infoset[2], random)
                turns[depth, 0], turns[depth, 1] = drawn, drawn + 1
                # The opponent's own draws led here with the chance of their reach, which is the weight in their average
                # strategy.
                for a in range(infoset[2]):
                    tables.sums[infoset[0] + a * infoset[1]] += weight * policy[a]
        else:
            # Back from below: keep the value of that action, and turn to the next.
            values[depth, turns[depth, 0]] = value
            turns[depth, 0] += 1
        # Downward: follow the next action. Where it ends the game, its value is the payoff of `player`.
        p = scratch.positions[depth, MOVER]
        if turns[depth, 0] < turns[depth, 1]:
            ended = _go(rules, scratch, depth, turns[depth, 0])
            arrived = ended == GOES_ON
            if arrived:
                depth += 1
            else:
                counted[0] += 1
                value = 0.0 if ended == DRAWN else (1.0 if p == player else -1.0)
            continue
        # All actions are done: the value of the infoset, and the regrets against it. At the opponent's infoset the
        # value of the drawn action stands for all: its chance is the policy's.
        if p == player:
            value = 0.0
            for a in range(infoset[2]):
                value += policy[a] * values[depth, a]
            for a in range(infoset[2]):
                at = infoset[0] + a * infoset[1]
                regret = tables.regrets[at] + weight * (values[depth, a] - value)
                tables.regrets[at] = max(regret, 0.0) if options.floor else regret
        # Upward, to the history before.
        if depth == 0:
            return value
        depth -= 1
        arrived = False


@bare_kernel
def outcome(rules, tables, player, scratch, options, weight, random, counted):
    """A traversal of outcome sampling: one game; returns an unbiased estimate of player 0's value.

    Actions are drawn with the chances ``explored / actions + (1 - explored) policy`` at the player's infosets, and with
    the policy at the opponent's.  With baselines ``b`` (Schmid et al. 2019, equations 9 to 11; without any, ``b`` is
    zero, and this is Lanctot et al. 2009, section 4.1), from the end of the game upward::

        value(a)  =  b(a) + [a is drawn] (value after a - b(a)) / chance of a,     value  =  sum of policy(a) value(a)
        regret(a) +=  weight (value(a) - value) / (chance of the player's own draws before)
        b(drawn)  +=  rate (value after it - b(drawn))

    The chance of the opponent's draws is the opponent's reach, and so cancels out of the regrets.  At the opponent's
    infosets the strategy is added to the sums, divided by the chance of the player's own draws before.
    """
    infosets, policies, chances, turns = scratch.infosets, scratch.policies, scratch.chances, scratch.turns
    begin(rules, scratch.positions[0])
    depth, ended, own = -1, GOES_ON, 1.0
    # Downward: one game. Each depth keeps its policy, chances and drawn action, for the way back.
    while ended == GOES_ON:
        depth += 1
        p = _arrive(rules, tables, scratch, depth, counted)
        actions, share = infosets[depth, 2], options.explored if p == player else 0.0
        # The player explores; the opponent draws by the policy alone.
        for a in range(actions):
            chances[depth, a] = share / actions + (1 - share) * policies[depth, a]
        drawn = pick(chances[depth], actions, random)
        turns[depth, 0] = drawn
        # The chance of the player's own draws before this infoset divides its regrets, and the opponent's strategies.
        scratch.values[depth, 0] = own
        if p == player:
            own *= chances[depth, drawn]
        else:
            for a in range(actions):
                tables.sums[infosets[depth, 0] + a * infosets[depth, 1]] += weight * policies[depth, a] / own
        ended = _go(rules, scratch, depth, drawn)
    # The last mover has won, or it is a draw; values are those of player 0.
    counted[0] += 1
    after = 0.0 if ended == DRAWN else (1.0 if p == 0 else -1.0)
    known = len(tables.baselines) > 0
    # Upward, from the end of the game.
    while depth >= 0:
        first, orders, actions = infosets[depth, 0], infosets[depth, 1], infosets[depth, 2]
        p, drawn, own = scratch.positions[depth, MOVER], turns[depth, 0], scratch.values[depth, 0]
        # value(drawn) is corrected by its baseline; the other actions have their baselines as values. So `expected` is
        # the sum of policy(a) value(a).
        base = np.float64(tables.baselines[first + drawn * orders]) if known else 0.0
        corrected = base + (after - base) / chances[depth, drawn]
        expected = policies[depth, drawn] * corrected
        for a in range(actions if known else 0):
            if a != drawn:
                expected += policies[depth, a] * tables.baselines[first + a * orders]
        # Regrets of the player: values are player 0's, hence the sign.
        if p == player:
            sign = (1.0 if p == 0 else -1.0) * weight / own
            for a in range(actions):
                at = first + a * orders
                value = corrected if a == drawn else (np.float64(tables.baselines[at]) if known else 0.0)
                regret = tables.regrets[at] + sign * (value - expected)
                tables.regrets[at] = max(regret, 0.0) if options.floor else regret
        # The baseline of the drawn action follows the value after it.
        if known:
            tables.baselines[first + drawn * orders] += options.rate * (after - base)
        after = expected
        depth -= 1
    return after


@bare_kernel
def fixed_sampling(rules, tables, player, scratch, options, weight, random, counted):
    """A traversal of ESCHER (McAleer et al. 2023, algorithm 2): one game, without importance sampling.

    Actions are drawn uniformly at the player's infosets, and by the policy at the opponent's.  So each infoset's
    sampling weight is the opponent's reach times a constant, which matters neither to regret matching nor to an
    average.  With learned expected values ``q`` of actions, given that the infoset is reached, from the end of the game
    upward::

        value  =  sum of policy(a) q(a)
        regret(a)  +=  weight (q(a) - value)
        q(drawn)  +=  rate (value of the player's next infoset, or the payoff  -  q(drawn))

    The infoset's history is drawn with the opponent's reach, so values of infosets replace the paper's values of
    histories: the expectation of ``q(a) - value`` over its histories is the same.  At the opponent's infosets the
    strategy is added to the sums.

    Returns
    -------
    float
        The value of the player's first infoset, for player 0.
    """
    infosets, policies, turns = scratch.infosets, scratch.policies, scratch.turns
    begin(rules, scratch.positions[0])
    depth, ended = -1, GOES_ON
    # Downward: one game. The player draws uniformly whatever the policy is; the opponent draws by the policy and adds
    # it to the sums.
    while ended == GOES_ON:
        depth += 1
        p = _arrive(rules, tables, scratch, depth, counted)
        actions = infosets[depth, 2]
        if p == player:
            turns[depth, 0] = np.int64(draw(random) * actions)
        else:
            turns[depth, 0] = pick(policies[depth], actions, random)
            for a in range(actions):
                tables.sums[infosets[depth, 0] + a * infosets[depth, 1]] += weight * policies[depth, a]
        ended = _go(rules, scratch, depth, turns[depth, 0])
    # The last mover has won, or it is a draw. `after` is what the player's last drawn action led to.
    counted[0] += 1
    after = 0.0 if ended == DRAWN else (1.0 if p == 0 else -1.0)
    sign = weight if player == 0 else -weight
    # Upward through the player's infosets; those of the opponent only pass `after` on.
    for at_depth in range(depth, -1, -1):
        if scratch.positions[at_depth, MOVER] == player:
            first, orders, actions = infosets[at_depth, 0], infosets[at_depth, 1], infosets[at_depth, 2]
            # The regrets, from the learned q alone: no chance of a draw divides them.
            expected = 0.0
            for a in range(actions):
                expected += policies[at_depth, a] * tables.baselines[first + a * orders]
            for a in range(actions):
                at = first + a * orders
                regret = tables.regrets[at] + sign * (tables.baselines[at] - expected)
                tables.regrets[at] = max(regret, 0.0) if options.floor else regret
            # q(drawn) moves towards what came after, and the infoset's value with the new q is passed up.
            at = first + turns[at_depth, 0] * orders
            change = options.rate * (after - tables.baselines[at])
            tables.baselines[at] += change
            after = expected + policies[at_depth, turns[at_depth, 0]] * change
    return after


@bare_kernel
def external_iterations(rules, tables, scratch, begun, iterations, options, random, counted):
    """Iterations of external sampling after the first `begun`: a traversal for each player."""
    for t in range(begun + 1, begun + iterations + 1):
        for player in range(2):
            external(rules, tables, player, scratch, options, np.float64(t) ** options.power, random, counted)


@bare_kernel
def outcome_iterations(rules, tables, scratch, begun, iterations, options, random, counted):
    """Iterations of outcome sampling; see :func:`external_iterations`."""
    for t in range(begun + 1, begun + iterations + 1):
        for player in range(2):
            outcome(rules, tables, player, scratch, options, np.float64(t) ** options.power, random, counted)


@bare_kernel
def fixed_iterations(rules, tables, scratch, begun, iterations, options, random, counted):
    """Iterations of ESCHER; see :func:`external_iterations`."""
    for t in range(begun + 1, begun + iterations + 1):
        for player in range(2):
            fixed_sampling(rules, tables, player, scratch, options, np.float64(t) ** options.power, random, counted)
