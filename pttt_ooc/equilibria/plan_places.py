"""Where a sparse plan is in an index: the nodes of its infosets, and its strategy as an array.

A sparse plan keeps an infoset in its canonical orientation, and an index keeps one view of each set of mirror images.
The group must be the same: all symmetries of the game.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.double_oracle.lazy_response import Steps, allow_steps
from pttt_ooc.double_oracle.rule_tables import RuleTables
from pttt_ooc.double_oracle.sparse_plan import SPARE, SparsePlan, allow, with_room
from pttt_ooc.errors import GameError
from pttt_ooc.jit import bare_kernel, piece
from pttt_ooc.structure.index import Index
from pttt_ooc.structure.orders import order_counts, rank_order
from pttt_ooc.structure.strategy import Floats

_MOST_STEPS = 1 << 12  # of a pure strategy: two results of each of ten attempts


class PlaceTables(NamedTuple):
    """The index of one player, for look-ups; n squares, G symmetries.

    Attributes
    ----------
    views : int32 (4^n,)
        The representative's number, by ``placed << n | failed``; -1: no such view.
    symmetries : int8 (4^n,)
        The symmetry that takes a view to its representative.
    inverses : int64 (G, n)
        The square that a symmetry takes to a square.
    placed, failed, decides, node_start, sequence_start
        See :class:`pttt_ooc.structure.index.PlayerLayout`.
    setup
        The player's marks before the game.
    hidden, orders, ending_failed
        See :class:`pttt_ooc.structure.orders.OrderCounts`.
    """

    views: NDArray[np.int32]
    symmetries: NDArray[np.int8]
    inverses: NDArray[np.int64]
    placed: NDArray[np.int64]
    failed: NDArray[np.int64]
    decides: NDArray[np.bool_]
    node_start: NDArray[np.int64]
    sequence_start: NDArray[np.int64]
    setup: int
    hidden: int
    orders: NDArray[np.int64]
    ending_failed: NDArray[np.int64]


def place_tables(index: Index, rules: RuleTables, player: int) -> PlaceTables:
    """The tables of one player.

    Raises
    ------
    GameError
        If the index has not all symmetries of the game.
    """
    game, mine, orbits = index.game, index.players[player], index.orbits[player]
    if index.group != game.symmetries:
        raise GameError(f"Game {game.name}: sparse plans need an index with symmetry full.")
    views, symmetries = np.full(1 << 2 * game.squares, -1, np.int32), np.zeros(1 << 2 * game.squares, np.int8)
    views[orbits.keys], symmetries[orbits.keys] = orbits.view, orbits.symmetry
    hidden, orders, ending_failed = order_counts(game, player).tables
    return PlaceTables(
        views=views,
        symmetries=symmetries,
        inverses=np.argsort(rules.images, axis=1),
        placed=mine.placed,
        failed=mine.failed,
        decides=mine.decides,
        node_start=mine.node_start,
        sequence_start=mine.sequence_start,
        setup=game.setup_mask(player),
        hidden=hidden,
        orders=orders,
        ending_failed=ending_failed,
    )


class PlanPlaces:
    """The places of one player's plans in an index.

    Parameters
    ----------
    rules
        The game.
    index
        With all symmetries.
    player
        Whose plans they are.
    """

    def __init__(self, rules: RuleTables, index: Index, player: int) -> None:
        self._rules, self.tables = rules, place_tables(index, rules, player)
        self._traced, self._paths, self._depths = 0, np.zeros((0, rules.squares + 1), np.int64), np.zeros(0, np.int64)

    def _trace(self, plan: SparsePlan) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The attempts on the way to each infoset, int64 (infosets, n + 1), and their numbers; a plan only grows."""
        count = int(plan.counts[0])
        if len(self._paths) < count:
            more = 2 * count - len(self._paths)
            self._paths = np.pad(self._paths, ((0, more), (0, 0)))
            self._depths = np.pad(self._depths, (0, more))
        _trace(plan, self._paths, self._depths, self._traced)
        self._traced = count
        return self._paths, self._depths

    def sequences(self, plan: SparsePlan) -> NDArray[np.int64]:
        """The number in the index of each sequence of a plan, int64 (sequences,); one of several mirror images."""
        found = np.empty(int(plan.counts[1]), np.int64)
        _sequences(self._rules, plan, self.tables, *self._trace(plan), self._scratch(), found)
        return found

    def values_beyond(self, plan: SparsePlan, values: Floats) -> Floats:
        """For each sequence of a plan, the sum of the values of those nodes after it that the plan leaves out.

        Parameters
        ----------
        values
            float64 (nodes,).

        Returns
        -------
        float64 (sequences,)
        """
        found = np.zeros(int(plan.counts[1]))
        _values_beyond(self._rules, plan, self.tables, *self._trace(plan), self._scratch(), values, found)
        return found

    def write(self, plan: SparsePlan, probabilities: Floats) -> None:
        """Write a plan's behaviour into a strategy, float (sequences of the index,), at all infosets where it comes."""
        chances = np.zeros(self._rules.squares)
        _write(self._rules, plan, self.tables, *self._trace(plan), self._scratch(), chances, probabilities)

    def allow_choices(
        self, plan: SparsePlan, choices: NDArray[np.uint8], defaults: NDArray[np.uint8]
    ) -> tuple[SparsePlan, int]:
        """Allow the actions of a pure strategy in a plan, as far as it is not what happens anyway.

        Parameters
        ----------
        choices
            uint8 (nodes,): the number of the chosen action.
        defaults
            The same, for what is done at infosets that the plan leaves out.

        Returns
        -------
        plan, added
            The plan, and the number of new sequences.
        """
        counts, blank = np.zeros(3, np.int64), np.zeros(_MOST_STEPS, np.int8)
        steps = Steps(np.zeros(_MOST_STEPS, np.int32), blank, blank.copy(), counts, np.zeros((0, 0)))
        start = (np.int64(0), np.int64(plan.marks[0]), np.int64(0), np.int64(plan.stabilisers[0]))
        path = np.zeros(self._rules.squares + 1, np.int64)
        origin = (np.int64(-1), np.int64(0), np.int64(0))
        _walk(self._rules, plan, self.tables, choices, defaults, path, self._scratch(), steps, start, origin)
        size, before = int(counts[0]), int(plan.counts[1])
        plan = with_room(plan, size + SPARE)
        allow_steps(self._rules, plan, steps, np.zeros(size, np.int64))
        return plan, int(plan.counts[1]) - before

    def allow_everywhere(self, plan: SparsePlan, choices: NDArray[np.uint8], first: int) -> None:
        """Allow the action of a pure strategy at the infosets of the sequences from `first` on."""
        _allow_everywhere(self._rules, plan, self.tables, *self._trace(plan), self._scratch(), choices, first)

    def _scratch(self) -> NDArray[np.int64]:
        return np.zeros(self._rules.squares + 1, np.int64)


@bare_kernel
def _trace(plan: Any, paths: Any, depths: Any, first: int) -> None:
    for infoset in range(first, plan.counts[0]):
        before = plan.before[infoset]
        if before < 0:
            depths[infoset] = 0
            continue
        parent = plan.infosets[before]
        depths[infoset] = depths[parent] + 1
        for slot in range(depths[parent]):
            paths[infoset, slot] = paths[parent, slot]
        for square in range(plan.actions.shape[1]):
            if plan.actions[parent, square] == before:
                paths[infoset, depths[parent]] = square


@piece
def _image(rules: Any, g: int, squares: int) -> Any:
    return np.int64(rules.masks[g, squares])


@piece
def _rank(rules: Any, tables: Any, g: int, path: Any, depth: int, marks: int, scratch: Any) -> Any:
    """The rank of an order's image under a symmetry; negative if the order is impossible."""
    for slot in range(depth):
        scratch[slot] = rules.images[g, path[slot]]
    placed = _image(rules, g, marks & ~tables.setup)
    return rank_order(scratch, depth, placed, tables.hidden, tables.orders, tables.ending_failed)


@piece
def _place(rules: Any, tables: Any, path: Any, depth: int, marks: int, fails: int, scratch: Any) -> Any:
    """The representative's view, the symmetry to it, and the rank; a negative view if the player does not move."""
    key = ((marks & ~tables.setup) << rules.squares) | fails
    view = np.int64(tables.views[key])
    if view < 0 or not tables.decides[view]:
        return np.int64(-1), np.int64(0), np.int64(0)
    g = np.int64(tables.symmetries[key])
    rank = np.int64(_rank(rules, tables, g, path, depth, marks, scratch))
    return (view if rank >= 0 else np.int64(-1)), g, rank


@piece
def _action(rules: Any, tables: Any, view: int, square: int) -> Any:
    """The number of a square among the actions of a view."""
    taken = tables.placed[view] | tables.failed[view] | tables.setup
    number = np.int64(0)
    for other in range(square):
        number += 1 - (taken >> other & 1)
    return number


@piece
def _square(rules: Any, tables: Any, view: int, action: int) -> Any:
    """The square of an action of a view."""
    taken = tables.placed[view] | tables.failed[view] | tables.setup
    left = np.int64(action)
    for square in range(rules.squares):
        if not taken >> square & 1:
            if left == 0:
                return np.int64(square)
            left -= 1
    return np.int64(-1)


@bare_kernel
def _sequences(rules: Any, plan: Any, tables: Any, paths: Any, depths: Any, scratch: Any, found: Any) -> None:
    for infoset in range(plan.counts[0]):
        if not plan.choices[infoset]:
            continue
        marks, fails = plan.marks[infoset], plan.fails[infoset]
        view, g, rank = _place(rules, tables, paths[infoset], depths[infoset], marks, fails, scratch)
        orders = tables.node_start[view + 1] - tables.node_start[view]
        for square in range(rules.squares):
            sequence = plan.actions[infoset, square]
            if sequence >= 0:
                action = _action(rules, tables, view, rules.images[g, square])
                found[sequence] = tables.sequence_start[view] + action * orders + rank


@bare_kernel
def _values_beyond(
    rules: Any, plan: Any, tables: Any, paths: Any, depths: Any, scratch: Any, values: Any, found: Any
) -> None:
    for infoset in range(plan.counts[0]):
        path, depth = paths[infoset], depths[infoset]
        for square in range(rules.squares):
            sequence = plan.actions[infoset, square]
            if sequence < 0:
                continue
            for placed in range(2):
                child = plan.children[infoset, 2 * square + placed]
                if child >= 0 and plan.choices[child]:
                    continue
                last = path[depth]
                path[depth] = square
                marks, fails = plan.marks[infoset] | (placed << square), plan.fails[infoset] | ((1 - placed) << square)
                view, _, rank = _place(rules, tables, path, depth + 1, marks, fails, scratch)
                if view >= 0:
                    found[sequence] += values[tables.node_start[view] + rank]
                path[depth] = last


@bare_kernel
def _allow_everywhere(
    rules: Any, plan: Any, tables: Any, paths: Any, depths: Any, scratch: Any, choices: Any, first: int
) -> None:
    for sequence in range(first, plan.counts[1]):
        infoset = plan.infosets[sequence]
        marks, fails = plan.marks[infoset], plan.fails[infoset]
        view, g, rank = _place(rules, tables, paths[infoset], depths[infoset], marks, fails, scratch)
        square = tables.inverses[g, _square(rules, tables, view, choices[tables.node_start[view] + rank])]
        allow(rules, plan, np.int64(infoset), rules.least[plan.stabilisers[infoset], square])


@bare_kernel
def _write(
    rules: Any, plan: Any, tables: Any, paths: Any, depths: Any, scratch: Any, chances: Any, probabilities: Any
) -> None:
    for infoset in range(plan.counts[0]):
        marks, fails, stabiliser = plan.marks[infoset], plan.fails[infoset], plan.stabilisers[infoset]
        chances[:] = 0.0
        total = 0.0
        for least in range(rules.squares):
            sequence = plan.actions[infoset, least]
            if sequence < 0:
                continue
            total += plan.chances[sequence]
            for h in range(len(rules.images)):
                if stabiliser >> h & 1:
                    chances[rules.images[h, least]] = plan.chances[sequence]
        if total <= 0.0:
            continue
        view, _, _ = _place(rules, tables, paths[infoset], depths[infoset], marks, fails, scratch)
        orders = tables.node_start[view + 1] - tables.node_start[view]
        own = marks & ~tables.setup
        for g in range(len(rules.images)):  # all symmetries to the representative: it may be symmetric itself
            if _image(rules, g, own) != tables.placed[view] or _image(rules, g, fails) != tables.failed[view]:
                continue
            rank = _rank(rules, tables, g, paths[infoset], depths[infoset], marks, scratch)
            for square in range(rules.squares):
                if not (marks | fails) >> square & 1:
                    action = _action(rules, tables, view, rules.images[g, square])
                    probabilities[tables.sequence_start[view] + action * orders + rank] = chances[square]


@bare_kernel
def _walk(
    rules: Any,
    plan: Any,
    tables: Any,
    choices: Any,
    defaults: Any,
    path: Any,
    scratch: Any,
    steps: Any,
    node: Any,
    origin: Any,
) -> Any:
    """Add the actions of a pure strategy to `steps`, without those parts that are done anyway.

    Parameters
    ----------
    node
        The infoset in the plan, or -1; marks, failed squares and stabiliser.
    origin
        The action before, its result, and the number of attempts.

    Returns
    -------
    bool
        Whether anything was added.
    """
    infoset, marks, fails, stabiliser = node
    parent, result, depth = origin
    view, g, rank = _place(rules, tables, path, depth, marks, fails, scratch)
    if view < 0:
        return False
    at = tables.node_start[view] + rank
    chosen = rules.least[stabiliser, tables.inverses[g, _square(rules, tables, view, choices[at])]]
    if infoset >= 0 and plan.choices[infoset]:
        news = plan.actions[infoset, chosen] < 0
    else:
        infoset = np.int64(-1)
        news = chosen != rules.least[stabiliser, tables.inverses[g, _square(rules, tables, view, defaults[at])]]
    mark = steps.counts[0]
    steps.parents[mark], steps.results[mark], steps.squares[mark] = parent, result, chosen
    steps.counts[0] += 1
    path[depth] = chosen
    for placed in range(2):
        after = np.int64(plan.children[infoset, 2 * chosen + placed]) if infoset >= 0 else np.int64(-1)
        then = (
            after,
            marks | (placed << chosen),
            fails | ((1 - placed) << chosen),
            stabiliser & rules.fixing[chosen],
        )
        again = (mark, np.int64(placed), depth + 1)
        news |= _walk(rules, plan, tables, choices, defaults, path, scratch, steps, then, again)
    if not news:
        steps.counts[0] = mark
    return news
