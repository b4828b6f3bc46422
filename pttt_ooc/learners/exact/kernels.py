"""The kernels of the exact learners: the step at each infoset, when values are passed up a player's tree.

:meth:`pttt_ooc.learners.learning_game.LearningGame.upward` calls them with the arrays of one slice.
``part.sequences`` hold the counterfactual values ``q`` of actions, and each kernel adds the value of each infoset to
``part.nodes``.  All other arrays have a number for each of the slice's sequences.  Within a view, the sequences of an
action are one block with a number for each order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pttt_ooc.jit import kernel, piece

TINY = 1e-30  # visits below this count as 0: the infoset learns nothing


class Policy(NamedTuple):
    """Probabilities, and their logarithms up to a constant at each infoset."""

    probabilities: Any
    logits: Any


class Reference(NamedTuple):
    """The reference of R-NaD: ``log ref = blend now + (1 - blend) before``, with logarithms of probabilities."""

    now: Any
    before: Any
    blend: Any


@piece
def _shape(tree, view):
    """A view's numbers of orders and actions, and its first sequence; 0 actions if the player never decides there."""
    orders = tree.node_start[view + 1] - tree.node_start[view]
    start = tree.sequence_start[view]
    return orders, (tree.sequence_start[view + 1] - start) // max(orders, 1), start


@piece
def _expected_value(policy, values, first, orders, actions):
    """Expected value of an infoset, whose first action has the sequence `first`."""
    total = values.dtype.type(0)
    for a in range(actions):
        total += policy[first + a * orders] * values[first + a * orders]
    return total


@piece
def _softmax(logits, policy, first, orders, actions):
    """Shift the logits of an infoset so that the largest is 0, and write the policy; return the shift.

    The logarithm of the sum of exponentials of the old logits is the shift plus that of the new ones.
    """
    most = logits[first]
    for a in range(1, actions):
        most = max(most, logits[first + a * orders])
    total = policy.dtype.type(0)
    for a in range(actions):
        at = first + a * orders
        logits[at] -= most
        policy[at] = np.exp(logits[at])
        total += policy[at]
    for a in range(actions):
        policy[first + a * orders] /= total
    return most, total


@kernel
def mirror(first_view, last_view, tree, part, visits, policy, magnet, sizes):
    """One step of magnetic mirror descent at each infoset: behavioural form, negative entropy.

    With ``Q = q / visits`` (Sokota et al. 2023, section 3, the closed form for negative entropy)::

        policy  ~  (policy * magnet^(eta alpha) * exp(eta Q))^(1 / (1 + eta alpha))

    and then ``magnet ~ magnet^(1 - pull) * policy^pull``; an empty `magnet` stands for the uniform one.

    Parameters
    ----------
    visits
        Reach of the opponent, summed over an infoset's histories, at the infoset's first action.
    policy, magnet
        :class:`Policy`, and logarithms of the magnet up to a constant.
    sizes
        `eta`, `alpha` and `pull`.
    """
    policy, logits = policy
    eta, alpha, pull = sizes
    zero = logits.dtype.type(0)
    shrink = 1 / (1 + eta * alpha)
    for view in range(first_view, last_view):
        orders, actions, start = _shape(tree, view)
        node = tree.node_start[view] - part.first_node
        for r in range(orders if actions else 0):
            first = start - part.first_sequence + r
            # The value that is passed up is that of the policy before the step.
            part.nodes[node + r] += _expected_value(policy, part.sequences, first, orders, actions)
            # Where the opponent's reach is 0, there is no Q = q / visits; a single action leaves nothing to learn.
            if visits[first] <= TINY or actions == 1:
                continue
            # The closed form, in logarithms: (log policy + eta (alpha log magnet + Q)) / (1 + eta alpha).
            for a in range(actions):
                at = first + a * orders
                pulled = magnet[at] if len(magnet) else zero
                logits[at] = (logits[at] + eta * (alpha * pulled + part.sequences[at] / visits[first])) * shrink
            _softmax(logits, policy, first, orders, actions)
            # The magnet follows: magnet^(1 - pull) policy^pull. Its largest logarithm becomes 0, so that it stays in
            # range.
            if len(magnet):
                most = -np.inf
                for a in range(actions):
                    at = first + a * orders
                    magnet[at] += pull * (logits[at] - magnet[at])
                    most = max(most, magnet[at])
                for a in range(actions):
                    magnet[first + a * orders] -= most


@kernel
def dilated_mirror(first_view, last_view, tree, part, policy, eta, alpha):
    """One step of magnetic mirror descent with dilated entropy, in the sequence form; the magnet is uniform.

    The step maximises ``<g, x> - alpha E(x) - D(x, old x) / eta`` over realization plans, with the dilated entropy
    ``E(x) = sum over infosets h of x(h) (sum over a of x(a|h) log x(a|h))`` and its divergence
    ``D(x, y) = sum over h of x(h) KL(x( |h), y( |h))``.  From the leaves upward, with ``k = alpha + 1 / eta`` (Hoda et
    al. 2010, section 4; Sokota et al. 2023, appendix)::

        f(a) = (g(a) + V(after a) + log old(a) / eta) / k
        policy(a) ~ exp f(a),      V(h) = k log(sum over a of exp f(a))

    So the values are not those of the policy, and `logits` are always logarithms of probabilities.
    """
    policy, logits = policy
    scale = alpha + 1 / eta
    for view in range(first_view, last_view):
        orders, actions, start = _shape(tree, view)
        node = tree.node_start[view] - part.first_node
        for r in range(orders if actions else 0):
            first = start - part.first_sequence + r
            for a in range(actions):
                at = first + a * orders
                logits[at] = (part.sequences[at] + logits[at] / eta) / scale
            most, total = _softmax(logits, policy, first, orders, actions)
            part.nodes[node + r] += scale * (most + np.log(total))
            for a in range(actions):
                logits[first + a * orders] -= np.log(total)


@kernel
def replicator(first_view, last_view, tree, part, visits, policy, reference, sizes):
    """One step of neural replicator dynamics on regularised rewards, at each infoset.

    With ``Q = q / visits`` (Perolat et al. 2022, R-NaD; Hennes et al. 2020, equation 8)::

        Q(a)  <-  Q(a) - eta log(policy(a) / ref(a))
        V = sum over a of policy(a) Q(a)
        logit(a)  <-  logit(a) + rate (Q(a) - V)

    A logit that is `bound` or more away from the mean of the infoset's logits only moves back towards it; a nearer one
    may overshoot `bound` in its step.  Afterwards all logits are shifted so that the largest is 0.
    ``q`` includes what the opponent pays, for its own distance from its reference, after the action.

    Parameters
    ----------
    visits
        See :func:`mirror`.
    policy, reference
        :class:`Policy` and :class:`Reference`.
    sizes
        `eta`, `rate` and `bound`.
    """
    policy, logits = policy
    now, before, blend = reference
    eta, rate, bound = sizes
    for view in range(first_view, last_view):
        orders, actions, start = _shape(tree, view)
        node = tree.node_start[view] - part.first_node
        for r in range(orders if actions else 0):
            first = start - part.first_sequence + r
            # The logarithm of the policy is the logit minus that of the sum of exponentials; `bound` is a distance from
            # the mean.
            total, mean = logits.dtype.type(0), logits.dtype.type(0)
            for a in range(actions):
                total += np.exp(logits[first + a * orders])  # the largest logit is 0
                mean += logits[first + a * orders]
            logarithm = np.log(total)
            mean /= actions
            # The regularised rewards Q - eta log(policy / ref), all times visits, as q is.
            for a in range(actions):
                at = first + a * orders
                reference = blend * now[at] + (1 - blend) * before[at]
                part.sequences[at] -= eta * visits[first] * (logits[at] - logarithm - reference)
            # V of the regularised rewards is what the infoset passes up.
            expected = _expected_value(policy, part.sequences, first, orders, actions)
            part.nodes[node + r] += expected
            # Where the opponent's reach is 0, there is no Q = q / visits; a single action leaves nothing to learn.
            if visits[first] <= TINY or actions == 1:
                continue
            # The step of the replicator; a logit that is `bound` or more away from the mean can only come back.
            for a in range(actions):
                at = first + a * orders
                change = rate * (part.sequences[at] - expected) / visits[first]
                distance = logits[at] - mean
                if (change > 0 and distance < bound) or (change < 0 and distance > -bound):
                    logits[at] += change
            _softmax(logits, policy, first, orders, actions)


@kernel
def log_ratio(first_view, last_view, tree, first_sequence, policy, reference, sequences):
    """Multiply reach by the logarithm of the policy's probabilities over their :class:`Reference`, in place."""
    now, before, blend = reference
    for view in range(first_view, last_view):
        orders, actions, start = _shape(tree, view)
        for at in range(start - first_sequence, start - first_sequence + orders * actions):
            if sequences[at] > 0:
                sequences[at] *= np.log(policy[at]) - blend * now[at] - (1 - blend) * before[at]


@kernel
def restricted_regrets(first_view, last_view, tree, part, allowed, regrets, policy):
    """One step of regret matching+ at each infoset, among its allowed actions.

    An infoset without allowed actions is outside the restricted game, and its strategy is uniform.

    Parameters
    ----------
    allowed
        uint8: whether an action belongs to the restricted game.
    regrets, policy
        Sums of regrets, never below zero, and the strategy by regret matching.
    """
    zero, one = regrets.dtype.type(0), regrets.dtype.type(1)
    for view in range(first_view, last_view):
        orders, actions, start = _shape(tree, view)
        node = tree.node_start[view] - part.first_node
        for r in range(orders if actions else 0):
            first = start - part.first_sequence + r
            expected = _expected_value(policy, part.sequences, first, orders, actions)
            part.nodes[node + r] += expected
            total, some = zero, zero
            for a in range(actions):
                at = first + a * orders
                if allowed[at]:
                    regrets[at] = max(regrets[at] + part.sequences[at] - expected, zero)
                    total += regrets[at]
                    some += one
            for a in range(actions):
                at = first + a * orders
                if some == 0:
                    policy[at] = one / actions
                elif not allowed[at]:
                    policy[at] = zero
                else:
                    policy[at] = regrets[at] / total if total > 0 else one / some
