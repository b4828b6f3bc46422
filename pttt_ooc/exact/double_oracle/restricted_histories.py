"""The won histories of a restricted game: both players use only sequences of their plans.

At an infoset without an allowed action, the pure rule's action is allowed first.  So each pair of plans and rule is a
pair of complete strategies.

A history never changes, so a walk visits only what is new: histories after which a player has a new sequence.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.exact.double_oracle.clairvoyance import choice
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables
from pttt_ooc.exact.double_oracle.sparse_plan import SPARE, SparsePlan, allow, has_capacity, next_infoset, with_capacity
from pttt_ooc.jit import bare_kernel, piece


class WonHistories(NamedTuple):
    """The won histories, in the orientation of player 0, whose mirror images are left out.

    Attributes
    ----------
    first, second : int32 (wins,)
        The last sequences of both players; -1: the empty sequence.
    payoffs : float64 (wins,)
        The payoff of player 0 if both sequences have reach 1: 1 or -1, divided by the orbits of player 1's actions.
    """

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    payoffs: NDArray[np.float64]


Plans = tuple[SparsePlan, SparsePlan]


class HistoryFinder:
    """Finds the won histories of a restricted game that grows."""

    def __init__(self, rules: RuleTables) -> None:
        self._rules = rules
        self.forget()

    def forget(self) -> None:
        """Begin anew, with other plans."""
        self._found = WonHistories(np.empty(1 << 14, np.int32), np.empty(1 << 14, np.int32), np.empty(1 << 14))
        self._size, self._known = 0, np.zeros((2, 2), np.int64)

    def state(self) -> dict[str, Any]:
        """What was found so far, for :meth:`restore`."""
        size = slice(self._size)
        found = {name: part[size].copy() for name, part in self._found._asdict().items()}
        return {**found, "known": self._known.copy()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self._known, self._size = state["known"].copy(), len(state["payoffs"])
        found = WonHistories(*(state[name] for name in WonHistories._fields))
        self._found = _with_capacity(found) if self._size else self._found

    def find_won(self, plans: Plans) -> tuple[Plans, WonHistories]:
        """The won histories of two plans, old ones first; the plans get the rule's actions where they have none.

        Since the last call, the plans may only have grown.
        """
        while True:
            first, second = (with_capacity(plan, SPARE) for plan in plans)
            plans = first, second
            fresh = _fresh(first, self._known[0]), _fresh(second, self._known[1])
            counts = np.array([self._size, 0])
            start = (np.int64(0), np.int64(0), np.int64(0), *self._rules.setup)
            _walk(self._rules, first, second, fresh, self._found, counts, self._rules.first, start, -1, -1, 1.0)
            if not counts[1]:
                break
            if counts[0] == len(self._found.payoffs):
                self._found = _with_capacity(self._found)
        self._size, self._known = int(counts[0]), np.array([first.counts, second.counts])
        size = slice(self._size)
        return plans, WonHistories(self._found.first[size], self._found.second[size], self._found.payoffs[size])


def _with_capacity(found: WonHistories) -> WonHistories:
    """The same with space for half as many more."""
    more = slice(len(found.payoffs) // 2 + 1)
    return WonHistories(*(np.concatenate([part, np.empty_like(part[more])]) for part in found))


def _fresh(plan: SparsePlan, known: NDArray[np.int64]) -> tuple[int, int, NDArray[np.bool_]]:
    """How many infosets and sequences are old, and which old infosets come before a new sequence."""
    before_new = np.zeros(int(known[0]), np.bool_)
    _mark(plan, known, before_new)
    return int(known[0]), int(known[1]), before_new


@bare_kernel
def _mark(plan: Any, known: Any, before_new: Any) -> None:
    for sequence in range(known[1], plan.counts[1]):
        infoset = np.int64(plan.infosets[sequence])
        while infoset >= known[0] or not before_new[infoset]:
            if infoset < known[0]:
                before_new[infoset] = True
            if plan.before[infoset] < 0:
                break
            infoset = np.int64(plan.infosets[plan.before[infoset]])


@piece
def _is_new(fresh: Any, infoset: int) -> Any:
    return infoset >= fresh[0] or fresh[2][infoset]


@bare_kernel
def _walk(
    rules: Any,
    first: Any,
    second: Any,
    fresh: Any,
    found: Any,
    counts: Any,
    player: int,
    at: Any,
    last0: int,
    last1: int,
    scale: float,
) -> None:
    """Visit all new histories after one.

    Parameters
    ----------
    fresh
        For each player, the numbers of old infosets and sequences, and which old infosets come before a new sequence.
    at
        The infosets of both players, the orientation of player 1, and the marks of both, on the board.
    last0, last1, scale
        The last sequences, and the product of the shares of player 1's actions in their orbits.
    """
    # After infosets that are old and come before nothing new, all histories are known.
    infoset0, infoset1, g, marks0, marks1 = at
    if not (_is_new(fresh[0], infoset0) or _is_new(fresh[1], infoset1)):
        return
    # The mover's plan, on the board as the mover is turned; player 0's orientation is that of the board.
    plan, infoset, turn, own, others = first, infoset0, np.int64(0), marks0, marks1
    if player == 1:
        plan, infoset, turn, own, others = second, infoset1, g, marks1, marks0
    # At an infoset without an allowed action, the rule's is allowed.
    if not plan.choices[infoset]:
        if not has_capacity(plan):
            counts[1] = 1
            return
        allow(rules, plan, infoset, choice(rules, player, 0, plan.marks[infoset], plan.fails[infoset]))
    stabiliser = plan.stabilisers[infoset]
    for square in range(rules.squares):
        sequence = np.int64(plan.actions[infoset, square])
        if sequence < 0:
            continue
        # A sequence stands for its orbit: player 1 plays each image with an equal share; of player 0's images one is
        # enough.
        for h in range(len(rules.images)):
            if not rules.orbits[stabiliser, square] >> h & 1:
                continue
            bit = 1 << rules.places[turn, rules.images[h, square]]
            share = scale / plan.orbits[sequence] if player == 1 else scale
            placed = 0 if others & bit else 1
            marks = own | bit if placed else own
            if counts[0] == len(found.payoffs) or not has_capacity(plan):
                counts[1] = 1
                return
            # A win is a won history; it is listed if one of its two last sequences is new.
            if placed and rules.wins[player, marks]:
                sequence0, sequence1 = (last0, sequence) if player == 1 else (sequence, last1)
                if sequence0 >= fresh[0][1] or sequence1 >= fresh[1][1]:
                    found.first[counts[0]], found.second[counts[0]] = sequence0, sequence1
                    found.payoffs[counts[0]] = -share if player == 1 else share
                    counts[0] += 1
            # The game goes on, unless the board is full: only the mover's infoset changes.
            elif placed == 0 or (marks | others) != rules.full:
                after = np.int64(next_infoset(rules, plan, infoset, square, placed))
                mover = player if placed == 0 and rules.classical else 1 - player
                if player == 0:
                    then = (after, infoset1, g, marks, marks1)
                    _walk(rules, first, second, fresh, found, counts, mover, then, sequence, last1, share)
                else:
                    then = (infoset0, after, rules.turned[h, g], marks0, marks)
                    _walk(rules, first, second, fresh, found, counts, mover, then, last0, sequence, share)
            if player == 0:
                break  # the mirror images of this action have the same payoffs
