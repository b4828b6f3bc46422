"""A restricted game of what two strategies play: the start of the double oracle from an approximate solution.

It allows the actions that a strategy plays with more than a small probability, at the infosets that both strategies
come to in this way.  So the rounds need not find again what the solution has found already.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pttt_ooc.exact.double_oracle.places import find_place, places_of, sequence_at, write_path
from pttt_ooc.exact.double_oracle.restricted_histories import Plans
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables
from pttt_ooc.exact.double_oracle.sparse_plan import SPARE, allow, has_capacity, next_infoset, with_capacity
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.jit import bare_kernel

LEAST_PLAYED = 1e-3
"""The probability from which an action is allowed."""


def allow_played(
    rules: RuleTables, plans: Plans, strategies: tuple[Strategy, Strategy], least: float = LEAST_PLAYED
) -> Plans:
    """Allow what the strategies play with a probability of more than `least`, where both come.

    Parameters
    ----------
    plans
        Plans without allowed actions.
    strategies
        Strategies of the same game; one of the mirror images of an infoset counts.
    """
    places = [places_of(strategy.index, strategy.player) for strategy in strategies]
    while True:
        first, second = (with_capacity(plan, SPARE) for plan in plans)
        plans, counts = (first, second), np.zeros(2, np.int64)
        start = (np.int64(0), np.int64(0), np.int64(0), *rules.setup)
        probabilities = (strategies[0].probabilities, strategies[1].probabilities)
        _walk(rules, first, second, *places, *probabilities, least, counts, rules.first, start)
        if not counts[1]:
            return plans


@bare_kernel
def _walk(
    rules: Any,
    first: Any,
    second: Any,
    places0: Any,
    places1: Any,
    played0: Any,
    played1: Any,
    least: float,
    counts: Any,
    player: int,
    at: Any,
) -> None:
    """Visit all histories of allowed actions after one; infosets without an allowed action get what is played there.

    Parameters
    ----------
    counts : int64 (2,)
        Histories; whether something did not fit.
    at
        The infosets of both players, the orientation of player 1, and the marks of both, on the board.
    """
    infoset0, infoset1, g, marks0, marks1 = at
    # The mover's plan, on the board as the mover is turned; player 0's orientation is that of the board.
    plan, infoset, turn, own, others = first, infoset0, np.int64(0), marks0, marks1
    if player == 1:
        plan, infoset, turn, own, others = second, infoset1, g, marks1, marks0
    counts[0] += 1
    # The first visit of an infoset allows what the strategy plays there.
    if not plan.choices[infoset]:
        if len(plan.before) - plan.counts[1] < rules.squares:
            counts[1] = 1
            return
        if player == 0:
            _allow(rules, plan, places0, played0, least, infoset)
        else:
            _allow(rules, plan, places1, played1, least, infoset)
    stabiliser = plan.stabilisers[infoset]
    # All allowed actions are followed; those of player 1 with all images of their orbit, which may lead player 0 to
    # different infosets.
    for square in range(rules.squares):
        if plan.actions[infoset, square] < 0:
            continue
        for h in range(len(rules.images)):
            if not rules.orbits[stabiliser, square] >> h & 1:
                continue
            bit = 1 << rules.places[turn, rules.images[h, square]]
            placed = 0 if others & bit else 1
            marks = own | bit if placed else own
            # A win or a full board ends the history; otherwise only the mover's infoset changes.
            if placed and rules.wins[player, marks]:
                pass
            elif placed == 0 or (marks | others) != rules.full:
                if not has_capacity(plan):
                    counts[1] = 1
                    return
                after = np.int64(next_infoset(rules, plan, infoset, square, placed))
                mover = player if placed == 0 and rules.classical else 1 - player
                if player == 0:
                    then = (after, infoset1, g, marks, marks1)
                else:
                    then = (infoset0, after, rules.turned[h, g], marks0, marks)
                _walk(rules, first, second, places0, places1, played0, played1, least, counts, mover, then)
            if player == 0:
                break  # mirror images of this action lead to the same infosets


@bare_kernel
def _allow(rules: Any, plan: Any, places: Any, played: Any, least: float, infoset: int) -> None:
    """Allow what is played at an infoset with a probability of more than `least`, or else what is played most."""
    marks, fails = plan.marks[infoset], plan.fails[infoset]
    place = find_place(rules, places, write_path(plan, infoset, places), marks, fails)
    stabiliser, most, likeliest = plan.stabilisers[infoset], -1.0, np.int64(0)
    for square in range(rules.squares):
        if (marks | fails) >> square & 1 or rules.least[stabiliser, square] != square:
            continue
        chance = played[sequence_at(rules, places, place, marks | fails, square)]
        if chance > most:
            most, likeliest = chance, np.int64(square)
        if chance > least:
            allow(rules, plan, infoset, square)
    allow(rules, plan, infoset, likeliest)
