"""A stored strategy in place of the pure rule: what it does where a plan does not come becomes a part of the plan.

Best responses then answer an opponent who follows the plan, and the stored strategy elsewhere: nothing else has to
change, and clairvoyant bounds hold as they are.  The stored strategy may be a solver's average, an equilibrium, or a
best response to an opponent who trembles.  The plan gets an infoset for each one that the player's own actions lead to,
so this is for strategies that play few of their actions: an average that plays all of them needs the whole game.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pttt_ooc.errors import ConfigError, MemoryBudgetError
from pttt_ooc.exact.double_oracle.places import find_place, places_of, sequence_at, write_path
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables
from pttt_ooc.exact.double_oracle.sparse_plan import SPARE, SparsePlan, allow, next_infoset, trim_plan, with_room
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.jit import bare_kernel


def complete_plan(rules: RuleTables, plan: SparsePlan, strategy: Strategy, megabytes: float = 256) -> SparsePlan:
    """A copy of a plan, with what a stored strategy does wherever the player's own actions lead and the plan does not.

    Parameters
    ----------
    plan
        With its chances.  Without allowed actions, the result is the stored strategy alone.
    strategy
        Of the same player, on an index with full symmetry.  Mirror images of an action are mixed evenly.
    megabytes
        For the result, at most.

    Raises
    ------
    ConfigError
        If the index has no symmetry: a plan does the same at mirror images of an infoset.
    MemoryBudgetError
        If the strategy plays too much to fit.
    """
    index, player = strategy.index, strategy.player
    if index.symmetry != "full":
        raise ConfigError("A stored strategy can complete a plan only if its index has the symmetry full.")
    places, plan = places_of(index, player), trim_plan(plan)
    done = 0
    while done < plan.counts[0]:
        plan = with_room(plan, 2 * rules.squares + SPARE)
        size = sum(part.nbytes for part in plan) / 1e6
        if size > megabytes:
            raise MemoryBudgetError(
                f"Game {index.game.name}: what player {player} plays by the stored strategy is more than "
                f"{megabytes:g} MB; take a strategy that plays fewer of its actions, or allow more."
            )
        done = _complete(rules, player, plan, places, strategy.probabilities, done)
    return plan


@bare_kernel
def _complete(rules: Any, player: int, plan: Any, places: Any, played: Any, done: int) -> Any:
    """Complete one infoset after the other from `done` on; returns the number of the first that has no room."""
    setup, infoset = rules.setup[player], done
    while infoset < plan.counts[0]:
        if len(plan.before) - max(plan.counts[0], plan.counts[1]) < 2 * rules.squares:
            return infoset
        _behave(rules, plan, places, played, setup, infoset)
        for square in range(rules.squares):
            sequence = plan.actions[infoset, square]
            if sequence < 0 or plan.chances[sequence] <= 0.0:
                continue
            marks = plan.marks[infoset] | (1 << square)
            for placed in range(2):
                wins = placed == 1 and rules.wins[player, marks]
                if not wins and (marks | plan.fails[infoset]) != rules.full:
                    next_infoset(rules, plan, infoset, square, placed)
        infoset += 1
    return infoset


@bare_kernel
def _behave(rules: Any, plan: Any, places: Any, played: Any, setup: int, infoset: int) -> None:
    """Give an infoset the chances of the stored strategy, unless the plan has chances there, or no game comes there."""
    for square in range(rules.squares):
        sequence = plan.actions[infoset, square]
        if sequence >= 0 and plan.chances[sequence] > 0.0:
            return
    marks, stabiliser = plan.marks[infoset], plan.stabilisers[infoset]
    length = write_path(plan, infoset, setup, places.path)
    first, orders, tried, h = np.int64(-1), np.int64(0), np.int64(0), -1
    while first < 0:
        h += 1
        if h == len(rules.images):
            return
        first, orders, tried = find_place(rules, places, setup, marks, length, h)
    known = marks | plan.fails[infoset]
    for square in range(rules.squares):
        if known >> square & 1 or rules.least[stabiliser, square] != square:
            continue
        total = 0.0
        for g in range(len(rules.images)):
            if rules.orbits[stabiliser, square] >> g & 1:
                image = rules.images[g, square]
                total += played[sequence_at(rules, first, orders, tried, h, image)]
        if total > 0.0:
            plan.chances[allow(rules, plan, infoset, square)] = total / rules.orbit_sizes[stabiliser, square]
