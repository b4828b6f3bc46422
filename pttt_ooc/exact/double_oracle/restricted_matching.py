"""Regret matching on a restricted game: plans that are good enough while the whole game's interval is wide.

Predictive regret matching+ (Farina, Kroer, Sandholm 2021) with alternating updates and averages of weight t^2.  Regrets
are kept when the restricted game grows; averages begin anew.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.exact.double_oracle.restricted_histories import Plans, WonHistories
from pttt_ooc.exact.double_oracle.sparse_plan import SparsePlan
from pttt_ooc.jit import bare_kernel, inner_kernel

Floats = NDArray[np.float64]
_LOOKS = 20  # iterations between two looks at the gap


class Matching:
    """The regrets of one restricted game that grows."""

    def __init__(self) -> None:
        self._regrets = [np.zeros((2, 0)), np.zeros((2, 0))]

    def keep(self, player: int, sequences: NDArray[np.int64]) -> None:
        """Keep the regrets of these sequences of a player, which are numbered anew in this order."""
        self._regrets[player] = self._regrets[player][:, sequences]

    def state(self) -> dict[str, Floats]:
        """The regrets by player, for :meth:`restore`."""
        return {str(player): regrets.copy() for player, regrets in enumerate(self._regrets)}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self._regrets = [state[str(player)].copy() for player in (0, 1)]

    def solve(self, plans: Plans, won: WonHistories, target: float, most: int) -> tuple[list[Floats], int]:
        """Average plans with a gap of at most `target` in the restricted game, or those after `most` iterations.

        Returns
        -------
        plans, iterations
            The reach of each player's sequences, and the number of iterations.
        """
        sides = []
        for p, plan in enumerate(plans):
            size = int(plan.counts[1])
            self._regrets[p] = np.pad(self._regrets[p], ((0, 0), (0, size - self._regrets[p].shape[1])))
            starts, listed = _by_infosets(plan)
            sides.append((starts, listed, plan.before, self._regrets[p], np.zeros((4, size))))
        iterations = _match(sides[0], sides[1], *won, target, most)
        return [side[4][_AVERAGE] for side in sides], int(iterations)


def gap(plans: Plans, won: WonHistories, reach: tuple[Floats, Floats]) -> float:
    """What both players together can gain against two plans within the restricted game."""
    return sum(action_values(plans, won, player, reach[1 - player])[2] for player in (0, 1))


def action_values(plans: Plans, won: WonHistories, player: int, reach: Floats) -> tuple[Floats, Floats, float]:
    """What a player's actions get against a plan of the other if the best actions of the restricted game follow.

    Parameters
    ----------
    reach : float64
        Of the other player's sequences.

    Returns
    -------
    values, bests, whole
        Of sequences, and of infosets the highest one, float64 (sequences,) and (infosets,): counterfactual values,
        0 at infosets without an action.  And the value of the best response.
    """
    starts, listed = _by_infosets(plans[player])
    side = (starts, listed, plans[player].before, np.zeros((2, 0)), np.zeros((4, len(listed))))
    own, other, sign = (won.first, won.second, 1.0) if player == 0 else (won.second, won.first, -1.0)
    whole = _gradient(own, other, won.payoffs, sign, reach, side[4][_VALUES]) + _best(side)
    values, bests = side[4][_VALUES], np.zeros(len(starts) - 1)
    used = starts[:-1] < starts[1:]
    if used.any():
        bests[used] = np.maximum.reduceat(values[listed], starts[:-1][used])
    return values, bests, float(whole)


def _by_infosets(plan: SparsePlan) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The sequences, infoset by infoset: where each infoset begins, and the list."""
    infosets = plan.infosets[: plan.counts[1]]
    starts = np.zeros(plan.counts[0] + 1, np.int64)
    starts[1:] = np.bincount(infosets, minlength=plan.counts[0]).cumsum()
    return starts, np.argsort(infosets, kind="stable")


_POLICY, _REACH, _VALUES, _AVERAGE = range(4)


@bare_kernel
def _match(first: Any, second: Any, last0: Any, last1: Any, payoffs: Any, target: float, most: int) -> int:
    _play(first)
    _play(second)
    weights = 0.0
    for iteration in range(1, most + 1):
        _gradient(last0, last1, payoffs, 1.0, second[4][_REACH], first[4][_VALUES])
        _learn(first)
        _play(first)
        _gradient(last1, last0, payoffs, -1.0, first[4][_REACH], second[4][_VALUES])
        _learn(second)
        weight = float(iteration) * iteration
        weights += weight
        _average(first, weight / weights)
        _average(second, weight / weights)
        _play(second)
        if iteration % _LOOKS == 0 or iteration == most:
            left = _gradient(last0, last1, payoffs, 1.0, second[4][_AVERAGE], first[4][_VALUES])
            left += _gradient(last1, last0, payoffs, -1.0, first[4][_AVERAGE], second[4][_VALUES])
            if left + _best(first) + _best(second) <= target:
                return iteration
    return most


@bare_kernel
def _gradient(own: Any, other: Any, payoffs: Any, sign: float, reach: Any, values: Any) -> float:
    """Set the payoff of each own sequence against a plan, without what comes after it.

    Returns
    -------
    alone
        The payoff where the other player wins before the own first action.
    """
    values[:] = 0.0
    alone = 0.0
    for k in range(len(payoffs)):
        there = reach[other[k]] if other[k] >= 0 else 1.0
        if own[k] >= 0:
            values[own[k]] += sign * payoffs[k] * there
        else:
            alone += sign * payoffs[k] * there
    return alone


@inner_kernel
def _learn(side: Any) -> None:
    """Add regrets, from the last infosets to the first."""
    starts, listed, before, regrets, rows = side
    policy, values = rows[_POLICY], rows[_VALUES]
    for infoset in range(len(starts) - 2, -1, -1):
        value = 0.0
        for k in range(starts[infoset], starts[infoset + 1]):
            value += policy[listed[k]] * values[listed[k]]
        for k in range(starts[infoset], starts[infoset + 1]):
            sequence = listed[k]
            regrets[1, sequence] = values[sequence] - value
            regrets[0, sequence] = max(regrets[0, sequence] + regrets[1, sequence], 0.0)
        if before[infoset] >= 0:
            values[before[infoset]] += value


@bare_kernel
def _best(side: Any) -> float:
    """The value of a best response within the restricted game."""
    starts, listed, before, _, rows = side
    values, whole = rows[_VALUES], 0.0
    for infoset in range(len(starts) - 2, -1, -1):
        if starts[infoset] == starts[infoset + 1]:
            continue
        value = -1e300
        for k in range(starts[infoset], starts[infoset + 1]):
            value = max(value, values[listed[k]])
        if before[infoset] >= 0:
            values[before[infoset]] += value
        else:
            whole += value
    return whole


@inner_kernel
def _play(side: Any) -> None:
    """The next policy and its reach; the last regrets are the prediction."""
    starts, listed, before, regrets, rows = side
    policy, reach = rows[_POLICY], rows[_REACH]
    for infoset in range(len(starts) - 1):
        begin, end = starts[infoset], starts[infoset + 1]
        total = 0.0
        for k in range(begin, end):
            policy[listed[k]] = max(regrets[0, listed[k]] + regrets[1, listed[k]], 0.0)
            total += policy[listed[k]]
        above = reach[before[infoset]] if before[infoset] >= 0 else 1.0
        for k in range(begin, end):
            sequence = listed[k]
            policy[sequence] = policy[sequence] / total if total > 0 else 1.0 / (end - begin)
            reach[sequence] = above * policy[sequence]


@bare_kernel
def _average(side: Any, share: float) -> None:
    rows = side[4]
    for sequence in range(rows.shape[1]):
        rows[_AVERAGE, sequence] += share * (rows[_REACH, sequence] - rows[_AVERAGE, sequence])
