"""A sparse plan on an index with symmetry: payoffs of sequences, behaviour as an array, responses as actions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import GameError
from pttt_ooc.exact.double_oracle.lazy_response import Steps, allow_steps
from pttt_ooc.exact.double_oracle.places import places_of
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables
from pttt_ooc.exact.double_oracle.sparse_plan import SPARE, SparsePlan, allow, with_room
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.orders import popcount, rank_order
from pttt_ooc.games.structure.strategy import Floats
from pttt_ooc.jit import bare_kernel, piece

Ints = NDArray[np.int64]
Choices = NDArray[np.uint8]

_LONGEST = 1 << 10  # a pure strategy has fewer actions: two results of each of ten attempts


class PlanPlaces:
    """The places of one player's plan in an index.

    Parameters
    ----------
    rules
        The game.
    index
        With all symmetries.
    player
        Whose plans they are.

    Raises
    ------
    GameError
        If the index has not all symmetries of the game.
    """

    def __init__(self, rules: RuleTables, index: Index, player: int) -> None:
        if index.group != index.game.symmetries:
            raise GameError(f"Game {index.game.name}: equilibrium strategies need an index with symmetry full.")
        self._at = (rules, places_of(index, player), np.argsort(rules.images, axis=1), int(rules.setup[player]))
        self._squares, self._traced = rules.squares, 0
        self._paths, self._depths = np.zeros((0, rules.squares + 1), np.int64), np.zeros(0, np.int64)

    def _trace(self, plan: SparsePlan) -> tuple[Ints, Ints]:
        """The attempts on the way to each infoset, int64 (infosets, n + 1), and their numbers; a plan only grows."""
        count = int(plan.counts[0])
        if len(self._paths) < count:
            more = 2 * count - len(self._paths)
            self._paths, self._depths = np.pad(self._paths, ((0, more), (0, 0))), np.pad(self._depths, (0, more))
        _trace(plan, self._paths, self._depths, self._traced)
        self._traced = count
        return self._paths, self._depths

    def sequences(self, plan: SparsePlan) -> Ints:
        """The number in the index of each sequence of a plan, int64 (sequences,); one of several mirror images."""
        found = np.empty(int(plan.counts[1]), np.int64)
        _sequences(self._at, plan, *self._trace(plan), found)
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
        _values_beyond(self._at, plan, *self._trace(plan), values, found)
        return found

    def write(self, plan: SparsePlan, probabilities: Floats) -> None:
        """Write a plan's behaviour into a strategy, float (sequences of the index,), at all infosets where it comes."""
        _write(self._at, plan, *self._trace(plan), np.zeros(self._squares), probabilities)

    def mark_left_out(self, plan: SparsePlan, into: Floats) -> None:
        """Write 1 for each action that a plan leaves out at its infosets, else 0, in an array (index sequences,)."""
        _mark_left_out(self._at, plan, *self._trace(plan), np.zeros(self._squares), into)

    def allow_everywhere(self, plan: SparsePlan, choices: Choices) -> SparsePlan:
        """Allow the action of a pure strategy at all infosets of a plan that have an action."""
        plan = with_room(plan, int(plan.counts[0]) + SPARE)
        _allow_everywhere(self._at, plan, *self._trace(plan), choices)
        return plan

    def allow_choices(self, plan: SparsePlan, choices: Choices, defaults: Choices) -> tuple[SparsePlan, int]:
        """Allow the choices at all infosets where a plan comes, and what follows, as far as it is not done anyway.

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
        room, before = int(plan.counts[1]) + int(plan.counts[0]) * 16 + _LONGEST, int(plan.counts[1])
        start = (np.int64(0), np.int64(plan.marks[0]), np.int64(0), np.int64(plan.stabilisers[0]))
        while True:
            counts, blank = np.zeros(4, np.int64), np.zeros(room, np.int8)
            steps = Steps(np.zeros(room, np.int32), blank, blank.copy(), counts, np.zeros((0, 0, 0)))
            _walk(self._at, plan, choices, defaults, steps, start, (np.int64(-1), np.int64(0), np.int64(0)), True)
            if not counts[2]:
                break
            room *= 2
        size = int(counts[0])
        plan = with_room(plan, size + SPARE)
        allow_steps(self._at[0], plan, steps, np.zeros(size, np.int64))
        return plan, int(plan.counts[1]) - before


@bare_kernel
def _trace(plan: Any, paths: Any, depths: Any, first: int) -> None:
    for infoset in range(first, plan.counts[0]):
        before = plan.before[infoset]
        if before < 0:
            depths[infoset] = 0
            continue
        parent = plan.infosets[before]
        depth = depths[parent]
        depths[infoset] = depth + 1
        for slot in range(depth):
            paths[infoset, slot] = paths[parent, slot]
        tried = np.int64(plan.marks[infoset] | plan.fails[infoset])
        paths[infoset, depth] = popcount((tried & ~(plan.marks[parent] | plan.fails[parent])) - 1)


@piece
def _rank(at: Any, g: int, path: Any, depth: int, marks: int) -> Any:
    """The rank of an order's image under a symmetry; negative if the order is impossible."""
    rules, places, _, setup = at
    for slot in range(depth):
        places.image[slot] = rules.images[g, path[slot]]
    placed = np.int64(rules.masks[g, marks & ~setup])
    return np.int64(rank_order(places.image, depth, placed, places.hidden, places.orders, places.ending_failed))


@piece
def _key(at: Any, g: int, marks: int, fails: int) -> Any:
    """The key of a view's image under a symmetry."""
    rules, _, _, setup = at
    return (np.int64(rules.masks[g, marks & ~setup]) << rules.squares) | np.int64(rules.masks[g, fails])


@piece
def _place(at: Any, path: Any, depth: int, marks: int, fails: int) -> Any:
    """The representative's view, the symmetry to it, and the rank; a view of -1 if the player does not move there."""
    places, key = at[1], _key(at, 0, marks, fails)
    found = np.searchsorted(places.keys, key)
    nowhere = (np.int64(-1), np.int64(0), np.int64(0))
    if found == len(places.keys) or places.keys[found] != key:
        return nowhere
    view, g = np.int64(places.representatives[found]), np.int64(places.symmetries[found])
    if places.sequence_start[view] == places.sequence_start[view + 1]:
        return nowhere
    rank = _rank(at, g, path, depth, marks)
    return (view, g, rank) if rank >= 0 else nowhere


@piece
def _action(at: Any, g: int, taken: int, square: int) -> Any:
    """The number of an action's image under a symmetry, after the marks and failed squares `taken`."""
    rules = at[0]
    return np.int64(popcount(~np.int64(rules.masks[g, taken]) & ((1 << rules.images[g, square]) - 1)))


@piece
def _square(at: Any, g: int, taken: int, stabiliser: int, action: int) -> Any:
    """The least square of the orbit of an action, by its number in the image under a symmetry."""
    rules, _, inverses, _ = at
    left, image = np.int64(action), np.int64(rules.masks[g, taken])
    for square in range(rules.squares):
        if not image >> square & 1:
            if left == 0:
                return np.int64(rules.least[stabiliser, inverses[g, square]])
            left -= 1
    return np.int64(-1)


@piece
def _spread(at: Any, path: Any, depth: int, marks: int, fails: int, numbers: Any, into: Any) -> None:
    """Write a number for each free square of an infoset, at all mirror images that the index has of it."""
    rules, places, _, _ = at
    view, first, _ = _place(at, path, depth, marks, fails)
    orders, key = places.node_start[view + 1] - places.node_start[view], _key(at, first, marks, fails)
    for g in range(len(rules.images)):  # all symmetries to the representative: it may be symmetric itself
        if _key(at, g, marks, fails) != key:
            continue
        rank = _rank(at, g, path, depth, marks)
        for square in range(rules.squares):
            if not (marks | fails) >> square & 1:
                action = _action(at, g, marks | fails, square)
                into[places.sequence_start[view] + action * orders + rank] = numbers[square]


@bare_kernel
def _sequences(at: Any, plan: Any, paths: Any, depths: Any, found: Any) -> None:
    rules, places, _, _ = at
    for infoset in range(plan.counts[0]):
        if not plan.choices[infoset]:
            continue
        marks, fails = plan.marks[infoset], plan.fails[infoset]
        view, g, rank = _place(at, paths[infoset], depths[infoset], marks, fails)
        orders = places.node_start[view + 1] - places.node_start[view]
        for square in range(rules.squares):
            sequence = plan.actions[infoset, square]
            if sequence >= 0:
                action = _action(at, g, marks | fails, square)
                found[sequence] = places.sequence_start[view] + action * orders + rank


@bare_kernel
def _values_beyond(at: Any, plan: Any, paths: Any, depths: Any, values: Any, found: Any) -> None:
    rules, places, _, _ = at
    for infoset in range(plan.counts[0]):
        path, depth = paths[infoset], depths[infoset]
        for square in range(rules.squares):
            sequence = plan.actions[infoset, square]
            if sequence < 0:
                continue
            path[depth] = square
            for placed in range(2):
                child = plan.children[infoset, 2 * square + placed]
                if child >= 0 and plan.choices[child]:
                    continue
                marks, fails = plan.marks[infoset] | (placed << square), plan.fails[infoset] | ((1 - placed) << square)
                view, _, rank = _place(at, path, depth + 1, marks, fails)
                if view >= 0:
                    found[sequence] += values[places.node_start[view] + rank]


@bare_kernel
def _allow_everywhere(at: Any, plan: Any, paths: Any, depths: Any, choices: Any) -> None:
    rules, places, _, _ = at
    for infoset in range(plan.counts[0]):
        if not plan.choices[infoset]:
            continue
        marks, fails, stabiliser = plan.marks[infoset], plan.fails[infoset], plan.stabilisers[infoset]
        view, g, rank = _place(at, paths[infoset], depths[infoset], marks, fails)
        square = _square(at, g, marks | fails, stabiliser, choices[places.node_start[view] + rank])
        allow(rules, plan, infoset, square)


@bare_kernel
def _write(at: Any, plan: Any, paths: Any, depths: Any, chances: Any, probabilities: Any) -> None:
    rules = at[0]
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
        if total > 0.0:
            _spread(at, paths[infoset], depths[infoset], marks, fails, chances, probabilities)


@bare_kernel
def _mark_left_out(at: Any, plan: Any, paths: Any, depths: Any, left_out: Any, into: Any) -> None:
    rules = at[0]
    for infoset in range(plan.counts[0]):
        if not plan.choices[infoset]:
            continue
        for square in range(rules.squares):
            least = rules.least[plan.stabilisers[infoset], square]
            left_out[square] = 1.0 if plan.actions[infoset, least] < 0 else 0.0
        _spread(at, paths[infoset], depths[infoset], plan.marks[infoset], plan.fails[infoset], left_out, into)


@bare_kernel
def _walk(at: Any, plan: Any, choices: Any, defaults: Any, steps: Any, node: Any, origin: Any, planned: bool) -> bool:
    """Add the chosen actions to `steps`, without those parts that are done anyway.

    Parameters
    ----------
    node
        The infoset in the plan, or -1; marks, failed squares and stabiliser.
    origin
        The action before, its result, and the number of attempts.
    planned
        Whether the plan comes here: then what it does is followed too.

    Returns
    -------
    bool
        Whether anything was added.
    """
    rules, places, _, _ = at
    infoset, marks, fails, stabiliser = node
    parent, result, depth = origin
    view, g, rank = _place(at, places.path, depth, marks, fails)
    if view < 0:
        return False
    # The chosen square; and outside of the plan the usual one, which is attempted there anyway.
    there, taken = places.node_start[view] + rank, marks | fails
    chosen = _square(at, g, taken, stabiliser, choices[there])
    inside = infoset >= 0 and plan.choices[infoset] > 0
    usual = np.int64(-1) if inside else _square(at, g, taken, stabiliser, defaults[there])
    some = False
    # Besides the chosen square, follow those that the plan plays: there may be something new after them.
    for square in range(rules.squares):
        follows = planned and inside and plan.actions[infoset, square] >= 0
        follows = follows and plan.chances[plan.actions[infoset, square]] > 0
        if square != chosen and not follows:
            continue
        # The action joins the steps, for now. It is new if the plan does not have it, or, outside of the plan, if it is
        # not usual.
        mark = steps.counts[0]
        if mark == len(steps.parents):
            steps.counts[2] = 1
            return False
        news = square == chosen and (plan.actions[infoset, chosen] < 0 if inside else chosen != usual)
        steps.parents[mark], steps.results[mark], steps.squares[mark] = parent, result, square
        steps.counts[0] += 1
        # The same after both results.
        for placed in range(2):
            after = np.int64(plan.children[infoset, 2 * square + placed]) if inside else np.int64(-1)
            then = (
                after,
                marks | (placed << square),
                fails | ((1 - placed) << square),
                stabiliser & rules.fixing[square],
            )
            places.path[depth] = square
            again = (mark, np.int64(placed), depth + 1)
            news |= _walk(at, plan, choices, defaults, steps, then, again, follows)
        # Nothing new in it or after it: it is taken out again.
        if not news:
            steps.counts[0] = mark
        some |= news
    return some
