"""A complete strategy: what a plan and the pure rule do, at one infoset and at all infosets of an index.

At an infoset that a player's own actions lead to, the plan's chances hold, or the pure rule where the opponent has left
the plan's infosets.  Infosets that a player's own actions never lead to do not matter to any opponent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.sweep.parallel import in_order
from pttt_ooc.exact.double_oracle.clairvoyance import choice
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables
from pttt_ooc.exact.double_oracle.sparse_plan import SparsePlan, canonical_action
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.orders import order_counts, unrank
from pttt_ooc.games.structure.strategy import Floats, Strategy
from pttt_ooc.jit import bare_kernel, piece
from pttt_ooc.types import Attempts

_VIEWS = 256  # views for each call of the kernel


@piece
def first_position(rules: Any, player: int) -> Any:
    """A player's first position: infoset in the plan or -1, orientation, marks, failed squares and stabiliser."""
    return np.int64(0), np.int64(0), rules.setup[player], np.int64(0), np.int64(rules.everything)


@piece
def position_after(rules: Any, plan: Any, at: Any, square: int, placed: int) -> Any:
    """The least square of the orbit of an attempt on the board, and the position after it."""
    infoset, g, marks, fails, stabiliser = at
    least, g, stabiliser = canonical_action(rules, g, stabiliser, square)
    if infoset >= 0:
        infoset = np.int64(plan.children[infoset, 2 * least + placed])
    bit = np.int64(1) << square
    marks, fails = (marks | bit, fails) if placed else (marks, fails | bit)
    return least, (infoset, g, marks, fails, stabiliser)


@piece
def write_chances(rules: Any, player: int, plan: Any, at: Any, chances: Any) -> None:
    """Write the plan's or the rule's chance of one action of each orbit, by the least square of the orbit."""
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


class CompleteStrategy:
    """A plan with its chances, and the pure rule where it does not come.

    Parameters
    ----------
    rules
        The game.
    player
        Whose strategy it is.
    plan
        The plan; it is read, and must not change meanwhile.
    """

    def __init__(self, rules: RuleTables, player: int, plan: SparsePlan) -> None:
        self._rules, self._player, self._plan = rules, player, plan

    def probabilities(self, attempts: Attempts) -> NDArray[np.float64]:
        """The probability of each square at an infoset, float64 (n,).

        At an infoset of the plan that the plan itself never reaches, the pure rule holds.
        """
        at, chances = self.position(attempts), np.zeros(self._rules.squares)
        write_chances(self._rules, self._player, self._plan, at, chances)
        return self._spread(chances, at)

    def allowed_squares(self, attempts: Attempts) -> list[int] | None:
        """The squares that the plan allows at an infoset; None if it allows none there."""
        at = self.position(attempts)
        if at[0] < 0 or not self._plan.choices[at[0]]:
            return None
        marked = (self._plan.actions[at[0]] >= 0).astype(np.float64)
        return [int(square) for square in np.flatnonzero(self._spread(marked, at))]

    def position(self, attempts: Attempts) -> tuple[Any, ...]:
        """See :func:`first_position`."""
        at: tuple[Any, ...] = first_position(self._rules, self._player)
        for square, placed in attempts:
            _, at = position_after(self._rules, self._plan, at, square, placed)
        return at

    def _spread(self, chances: NDArray[np.float64], at: tuple[Any, ...]) -> NDArray[np.float64]:
        """Spread numbers from the least squares of orbits to all squares of the board."""
        spread: NDArray[np.float64] = chances[self._rules.least[at[4]][self._rules.images[at[1]]]]
        return spread


# ---------------------------------------------------------------------------------------------
# At all infosets of an index


def write_whole(
    rules: RuleTables,
    plan: SparsePlan,
    index: Index,
    player: int,
    into: Floats,
    always: bool = False,
    threads: int = 1,
) -> Strategy:
    """Write what a plan and the pure rule do, at all infosets of an index: what is stored, evaluated and exported.

    Parameters
    ----------
    index
        An index of the same game, with symmetry or without.
    into
        float64 (sequences,): changed at the infosets that the player's own actions lead to.
    always
        Whether to write the pure rule at all other infosets too.
    """
    i = index.players[player]
    layout = (i.placed, i.failed, i.node_start, i.sequence_start, *order_counts(index.game, player).tables)

    def write(first: int) -> None:
        path, chances = np.zeros(rules.squares, np.int64), np.zeros(rules.squares)
        _write(rules, player, plan, *layout, first, min(first + _VIEWS, len(i.placed)), always, path, chances, into)

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
    """Write the views from `first` to `last`; `path` and `chances` have space for a number for each square."""
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
                write_chances(rules, player, plan, (np.int64(-1), *at[1:]), chances)
            _, g, _, _, stabiliser = at
            sequence = sequence_start[view] + rank
            for square in range(rules.squares):
                if not (marks | fails) >> square & 1:
                    into[sequence] = chances[rules.least[stabiliser, rules.images[g, square]]]
                    sequence += count


@piece
def _follow(rules: Any, player: int, plan: Any, path: Any, length: int, marks: int, chances: Any) -> Any:
    """Whether a player's own actions lead along a path, and the position at its end, with the chances there."""
    comes = True
    at = first_position(rules, player)
    write_chances(rules, player, plan, at, chances)
    for step in range(length):
        least, at = position_after(rules, plan, at, path[step], 1 if marks >> path[step] & 1 else 0)
        comes = comes and chances[least] > 0
        write_chances(rules, player, plan, at, chances)
    return comes, at
