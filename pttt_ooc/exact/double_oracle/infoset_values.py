"""Values at one infoset against a plan and the pure rule: the opponent's positions, and what the player gets there.

Nothing is listed: following the player's attempts finds the opponent's positions that fit them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.exact.double_oracle.clairvoyance import NEVER, chance, choice, digest_plan, new_bounds, opponent_after
from pttt_ooc.exact.double_oracle.complete_strategy import CompleteStrategy
from pttt_ooc.exact.double_oracle.lazy_response import bound_attempts, new_steps, respond
from pttt_ooc.exact.double_oracle.opponent_positions import attempt, follow, new_positions
from pttt_ooc.exact.double_oracle.restricted_histories import Plans
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables
from pttt_ooc.exact.double_oracle.sparse_plan import SparsePlan
from pttt_ooc.exact.double_oracle.transpositions import new_transpositions
from pttt_ooc.jit import bare_kernel
from pttt_ooc.types import Attempts

_OWN, _BEST = 0, 1
_CAPACITY = 1 << 14  # positions, at first


class Fitting(NamedTuple):
    """The opponent's positions that fit a player's attempts and have reach.

    Attributes
    ----------
    marks, fails : int32 (positions,)
        The opponent's marks, setup included, and the squares on which they failed; several orders may have the same.
    reach : float64 (positions,)
        The opponent's probability to come there.
    payoff
        What the player gets, times reach, where the last attempt or the opponent's answer to it ends the game.
    """

    marks: NDArray[np.int32]
    fails: NDArray[np.int32]
    reach: NDArray[np.float64]
    payoff: float


class InfosetValues:
    """One player against the plan of the other, with the pure rule outside of both.

    Parameters
    ----------
    player
        Whose values they are.
    plans
        Both players' plans; they are read, and must not change meanwhile.
    memo_mb
        Megabytes for the bounds of best responses.
    """

    def __init__(self, rules: RuleTables, player: int, plans: Plans, memo_mb: float = 48) -> None:
        self._rules, self._strategy = rules, CompleteStrategy(rules, player, plans[player])
        self._own, opponent = _restrict_to_played(plans[player]), _restrict_to_played(plans[1 - player])
        digests = np.zeros((int(opponent.counts[0]), 2), np.uint64)
        digest_plan(rules, opponent, opponent.chances.view(np.uint64), digests)
        self._opponent = (1 - player, opponent, digests, new_bounds(rules.squares, memo_mb), True, new_transpositions())
        self._allocate(_CAPACITY)

    def fitting(self, attempts: Attempts) -> Fitting:
        """The opponent's positions after some attempts of the player.

        Parameters
        ----------
        attempts
            Those after the setup; they need not be possible.
        """
        path = _path(attempts)
        while (found := follow(self._rules, self._opponent, self._positions, path))[4] > len(self._positions.reach):
            self._allocate(4 * len(self._positions.reach))
        begin, end, payoff = found[3:]
        there, of = slice(begin, end), self._positions
        return Fitting(of.marks[there].copy(), of.fails[there].copy(), of.reach[there].copy(), float(payoff))

    def own_value(self, attempts: Attempts) -> float:
        """What the player gets after some attempts by following their plan, times the opponent's reach.

        The payoff of the last attempt itself is not counted.
        """
        infoset, *rest = self._strategy.position(attempts)
        return self._value(_OWN, attempts, (infoset if infoset >= 0 and self._own.choices[infoset] else -1, *rest))

    def best_value(self, attempts: Attempts) -> float:
        """What the best response gets after some attempts; as :meth:`own_value`."""
        return self._value(_BEST, attempts, (-1, 0, 0, 0, 0))

    def _value(self, kind: int, attempts: Attempts, at: tuple[int, ...]) -> float:
        path, position = _path(attempts), tuple(map(np.int64, at))
        while True:
            value = _value(self._rules, self._opponent, self._own, self._positions, self._steps, path, kind, position)
            if not self._steps.counts[2]:
                return float(value)
            self._allocate(4 * len(self._positions.reach))

    def _allocate(self, capacity: int) -> None:
        self._positions, self._steps = new_positions(capacity), new_steps(capacity, self._rules.squares)


def _restrict_to_played(plan: SparsePlan) -> SparsePlan:
    """The plan, without the infosets at which it plays no action: there the rule holds."""
    played = np.zeros(len(plan.choices), np.int32)
    size = int(plan.counts[1])
    np.add.at(played, plan.infosets[:size], (plan.chances[:size] > 0).astype(np.int32))
    return plan._replace(choices=played)


def _path(attempts: Attempts) -> NDArray[np.int64]:
    return np.array(attempts, np.int64).reshape(-1, 2)


@bare_kernel
def _value(rules: Any, opponent: Any, own_plan: Any, positions: Any, steps: Any, path: Any, kind: int, at: Any) -> Any:
    """The value after a path, by the own plan or the best response; ``steps.counts[2]`` is set if space is missing.

    Parameters
    ----------
    at
        The player's position in their own plan.
    """
    steps.counts[:] = 0
    own, tried, stabiliser, begin, end, _ = follow(rules, opponent, positions, path)
    if end > len(positions.reach):
        steps.counts[2] = 1
        return 0.0
    if begin == end:
        return 0.0
    if kind == _OWN:
        return _play_on(rules, opponent, own_plan, positions, steps, at, (begin, end), end)
    depth, result = np.int64(len(path)), np.int64(0)
    bound_attempts(rules, opponent, positions, own, tried, stabiliser, begin, end, steps.bounds[depth, result])
    node = (own, tried, stabiliser, np.int64(-1), result, depth, np.int64(-1))
    return respond(rules, opponent, own_plan, positions, steps, node, (begin, end), end, NEVER)


@bare_kernel
def _play_on(rules: Any, opponent: Any, plan: Any, positions: Any, steps: Any, at: Any, span: Any, top: int) -> float:
    """What the player gets against some positions by following their plan, and the rule where it does not come."""
    infoset, g, marks, fails, stabiliser = at
    ruled = np.int64(choice(rules, 1 - opponent[0], g, marks, fails)) if infoset < 0 else np.int64(-1)
    total = 0.0
    for square in range(rules.squares):
        share = chance(rules, plan, infoset, stabiliser, ruled, square)
        if share <= 0.0:
            continue
        for h in range(len(rules.images)):
            if not rules.orbits[stabiliser, square] >> h & 1:
                continue
            target = rules.places[g, rules.images[h, square]]
            for placed in range(2):
                end, payoff = attempt(rules, opponent, positions, marks, span, top, target, placed)
                if end > len(positions.reach):
                    steps.counts[2] = 1
                    return 0.0
                total += share * payoff
                if end > top:
                    after = opponent_after(rules, plan, at, h, square, np.int64(1) << target, placed)
                    total += share * _play_on(rules, opponent, plan, positions, steps, after, (top, end), end)
    return total
