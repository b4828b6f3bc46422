"""A complete strategy at all infosets of an index: what is stored, evaluated and exported.

At an infoset that a player's own actions lead to, the plan's chances hold; where the opponent left the plan's
infosets, the pure rule.  Infosets that the own actions never lead to do not matter to any opponent: there the array
keeps what it holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pttt_ooc.cfr.sweep.parallel import in_order
from pttt_ooc.exact.double_oracle.clairvoyance import choice
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables
from pttt_ooc.exact.double_oracle.sparse_plan import SparsePlan
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.orders import order_counts, unrank
from pttt_ooc.games.structure.strategy import Floats, Strategy
from pttt_ooc.jit import bare_kernel, piece

_VIEWS = 256  # views for each call of the kernel


def write_whole(
    rules: RuleTables,
    plan: SparsePlan,
    index: Index,
    player: int,
    into: Floats,
    always: bool = False,
    threads: int = 1,
) -> Strategy:
    """Write what a plan and the pure rule do, at all infosets of an index.

    Parameters
    ----------
    index
        Of the same game, with symmetry or without.
    into
        float64 (sequences,): changed at the infosets that the player's own actions lead to.
    always
        Whether to write the pure rule at all other infosets too.
    """
    i = index.players[player]
    counts = order_counts(index.game, player).tables
    layout = (i.placed, i.failed, i.node_start, i.sequence_start, *counts)

    def write(first: int) -> None:
        room, chances = np.zeros(rules.squares, np.int64), np.zeros(rules.squares)
        _write(rules, player, plan, *layout, first, min(first + _VIEWS, len(i.placed)), always, room, chances, into)

    for _ in in_order(write, range(0, len(i.placed), _VIEWS), threads):
        pass
    return Strategy(index, player, into)


@bare_kernel
def _write(
    rules: Any,
    player: int,
    plan: Any,
    placed: Any,
    failed: Any,
    node_start: Any,
    sequence_start: Any,
    hidden: int,
    orders: Any,
    ending_failed: Any,
    first: int,
    last: int,
    always: bool,
    path: Any,
    chances: Any,
    into: Any,
) -> None:
    """Write the views from `first` to `last`; `path` and `chances` have room for a number for each square."""
    setup = rules.setup[player]
    for view in range(first, last):
        if sequence_start[view] == sequence_start[view + 1]:
            continue
        marks, fails, count = placed[view] | setup, failed[view], node_start[view + 1] - node_start[view]
        for rank in range(count):
            length = unrank(rank, placed[view], failed[view], hidden, orders, ending_failed, path)
            comes, at = _follow(rules, player, plan, path, length, marks, chances)
            if not comes:
                if not always:
                    continue
                _behave(rules, player, plan, (np.int64(-1), *at[1:]), chances)
            _, g, _, _, stabiliser = at
            sequence = sequence_start[view] + rank
            for square in range(rules.squares):
                if not (marks | fails) >> square & 1:
                    into[sequence] = chances[rules.least[stabiliser, rules.images[g, square]]]
                    sequence += count


@piece
def _follow(rules: Any, player: int, plan: Any, path: Any, length: int, marks: int, chances: Any) -> Any:
    """Whether a player's own actions lead along a path, and the end: infoset or -1, orientation, marks, fails, ..."""
    comes = True
    at = (np.int64(0), np.int64(0), rules.setup[player], np.int64(0), np.int64(rules.everything))
    _behave(rules, player, plan, at, chances)
    for step in range(length):
        infoset, g, own, fails, stabiliser = at
        canonical = rules.images[g, path[step]]
        least = rules.least[stabiliser, canonical]
        comes = comes and chances[least] > 0
        h = np.int64(0)
        while not (stabiliser >> h & 1 and rules.images[h, least] == canonical):
            h += 1
        bit = np.int64(1) << path[step]
        placed = 1 if marks & bit else 0
        if infoset >= 0:
            infoset = np.int64(plan.children[infoset, 2 * least + placed])
        own, fails = (own | bit, fails) if placed else (own, fails | bit)
        at = (infoset, rules.turned[h, g], own, fails, stabiliser & rules.fixing[least])
        _behave(rules, player, plan, at, chances)
    return comes, at


@piece
def _behave(rules: Any, player: int, plan: Any, at: Any, chances: Any) -> None:
    """Write the chance of one action of each orbit, by the least square of the orbit: of the plan, or of the rule."""
    infoset, g, marks, fails, stabiliser = at
    chances[:] = 0.0
    total = 0.0
    if infoset >= 0:
        for square in range(rules.squares):
            sequence = plan.actions[infoset, square]
            if sequence >= 0:
                chances[square] = plan.chances[sequence]
                total += chances[square]
    if total <= 0.0:
        ruled = choice(rules, player, g, marks, fails)
        if ruled >= 0:
            chances[ruled] = 1.0 / rules.orbit_sizes[stabiliser, ruled]
