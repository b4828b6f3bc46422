"""A sparse plan on an index with symmetry: payoffs of sequences, behaviour as an array, responses as actions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import GameError
from pttt_ooc.exact.double_oracle.lazy_response import Steps, allow_steps
from pttt_ooc.exact.double_oracle.places import find_place, key_at, places_of, rank_at, sequence_at, write_path
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables
from pttt_ooc.exact.double_oracle.sparse_plan import SPARE, SparsePlan, allow, with_capacity
from pttt_ooc.games.structure.index import Index
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
        An index with all symmetries.
    player
        Whose plans they are.

    Raises
    ------
    GameError
        If the index lacks a symmetry of the game.
    """

    def __init__(self, rules: RuleTables, index: Index, player: int) -> None:
        if index.group != index.game.symmetries:
            raise GameError(f"Game {index.game.name}: equilibrium strategies need an index with symmetry full.")
        self._rules, self._places = rules, places_of(index, player)

    def sequences(self, plan: SparsePlan) -> Ints:
        """The number in the index of each sequence of a plan, int64 (sequences,); one of several mirror images."""
        found = np.empty(int(plan.counts[1]), np.int64)
        _sequences(self._rules, self._places, plan, found)
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
        _values_beyond(self._rules, self._places, plan, values, found)
        return found

    def write(self, plan: SparsePlan, probabilities: Floats) -> None:
        """Write a plan's behaviour into a strategy, float (sequences of the index,), at all infosets where it comes."""
        _write(self._rules, self._places, plan, np.zeros(self._rules.squares), probabilities)

    def mark_left_out(self, plan: SparsePlan, into: Floats) -> None:
        """Write 1 for each action that a plan leaves out at its infosets, else 0, in an array (index sequences,)."""
        _mark_left_out(self._rules, self._places, plan, np.zeros(self._rules.squares), into)

    def allow_everywhere(self, plan: SparsePlan, choices: Choices) -> SparsePlan:
        """Allow the action of a pure strategy at all infosets of a plan that have an action."""
        plan = with_capacity(plan, int(plan.counts[0]) + SPARE)
        _allow_everywhere(self._rules, self._places, plan, choices)
        return plan

    def allow_choices(self, plan: SparsePlan, choices: Choices, defaults: Choices) -> tuple[SparsePlan, int]:
        """Allow the choices at all infosets where a plan comes, and those that follow, unless they are made anyway.

        Parameters
        ----------
        choices
            uint8 (nodes,): the number of the chosen action.
        defaults
            The same, for the choices at infosets that the plan leaves out.

        Returns
        -------
        plan, added
            The plan, and the number of new sequences.
        """
        capacity, before = int(plan.counts[1]) + int(plan.counts[0]) * 16 + _LONGEST, int(plan.counts[1])
        start = (np.int64(0), np.int64(plan.marks[0]), np.int64(0), np.int64(plan.stabilisers[0]))
        while True:
            counts, blank = np.zeros(3, np.int64), np.zeros(capacity, np.int8)
            steps = Steps(np.zeros(capacity, np.int32), blank, blank.copy(), counts, np.zeros((0, 0, 0)))
            _walk(
                self._rules,
                self._places,
                plan,
                choices,
                defaults,
                steps,
                start,
                (np.int64(-1), np.int64(0), np.int64(0)),
                True,
            )
            if not counts[2]:
                break
            capacity *= 2
        size = int(counts[0])
        plan = with_capacity(plan, size + SPARE)
        allow_steps(self._rules, plan, steps, np.zeros(size, np.int64))
        return plan, int(plan.counts[1]) - before


@piece
def _square(rules: Any, place: Any, taken: int, stabiliser: int, action: int) -> Any:
    """The least square of the orbit of an action, by its number at the place."""
    g = place[1]
    left, image = np.int64(action), np.int64(rules.masks[g, taken])
    for square in range(rules.squares):
        if not image >> square & 1:
            if left == 0:
                return np.int64(rules.least[stabiliser, rules.places[g, square]])
            left -= 1
    return np.int64(-1)


@piece
def _spread(rules: Any, places: Any, plan: Any, infoset: int, numbers: Any, into: Any) -> None:
    """Write a number for each free square of an infoset, at all mirror images that the index has of it."""
    marks, fails = plan.marks[infoset], plan.fails[infoset]
    length = write_path(plan, infoset, places)
    view, first, _ = find_place(rules, places, length, marks, fails)
    key = key_at(rules, places, first, marks, fails)
    for g in range(len(rules.images)):  # all symmetries to the representative: it may be symmetric itself
        if key_at(rules, places, g, marks, fails) != key:
            continue
        place = (view, np.int64(g), rank_at(rules, places, g, length, marks))
        for square in range(rules.squares):
            if not (marks | fails) >> square & 1:
                into[sequence_at(rules, places, place, marks | fails, square)] = numbers[square]


@bare_kernel
def _sequences(rules: Any, places: Any, plan: Any, found: Any) -> None:
    for infoset in range(plan.counts[0]):
        if not plan.choices[infoset]:
            continue
        marks, fails = plan.marks[infoset], plan.fails[infoset]
        place = find_place(rules, places, write_path(plan, infoset, places), marks, fails)
        for square in range(rules.squares):
            sequence = plan.actions[infoset, square]
            if sequence >= 0:
                found[sequence] = sequence_at(rules, places, place, marks | fails, square)


@bare_kernel
def _values_beyond(rules: Any, places: Any, plan: Any, values: Any, found: Any) -> None:
    for infoset in range(plan.counts[0]):
        length = write_path(plan, infoset, places)
        for square in range(rules.squares):
            sequence = plan.actions[infoset, square]
            if sequence < 0:
                continue
            places.path[length] = square
            for placed in range(2):
                child = plan.children[infoset, 2 * square + placed]
                if child >= 0 and plan.choices[child]:
                    continue
                marks, fails = plan.marks[infoset] | (placed << square), plan.fails[infoset] | ((1 - placed) << square)
                view, _, rank = find_place(rules, places, length + 1, marks, fails)
                if view >= 0:
                    found[sequence] += values[places.node_start[view] + rank]


@bare_kernel
def _allow_everywhere(rules: Any, places: Any, plan: Any, choices: Any) -> None:
    for infoset in range(plan.counts[0]):
        if not plan.choices[infoset]:
            continue
        marks, fails = plan.marks[infoset], plan.fails[infoset]
        place = find_place(rules, places, write_path(plan, infoset, places), marks, fails)
        chosen = choices[places.node_start[place[0]] + place[2]]
        allow(rules, plan, infoset, _square(rules, place, marks | fails, plan.stabilisers[infoset], chosen))


@bare_kernel
def _write(rules: Any, places: Any, plan: Any, chances: Any, probabilities: Any) -> None:
    for infoset in range(plan.counts[0]):
        stabiliser, total = plan.stabilisers[infoset], 0.0
        chances[:] = 0.0
        for least in range(rules.squares):
            sequence = plan.actions[infoset, least]
            if sequence < 0:
                continue
            total += plan.chances[sequence]
            for h in range(len(rules.images)):
                if stabiliser >> h & 1:
                    chances[rules.images[h, least]] = plan.chances[sequence]
        if total > 0.0:
            _spread(rules, places, plan, infoset, chances, probabilities)


@bare_kernel
def _mark_left_out(rules: Any, places: Any, plan: Any, left_out: Any, into: Any) -> None:
    for infoset in range(plan.counts[0]):
        if not plan.choices[infoset]:
            continue
        for square in range(rules.squares):
            least = rules.least[plan.stabilisers[infoset], square]
            left_out[square] = 1.0 if plan.actions[infoset, least] < 0 else 0.0
        _spread(rules, places, plan, infoset, left_out, into)


@bare_kernel
def _walk(
    rules: Any, places: Any, plan: Any, choices: Any, defaults: Any, steps: Any, node: Any, origin: Any, planned: bool
) -> bool:
    """Add the chosen actions to `steps`, except those that are played anyway.

    Parameters
    ----------
    node
        The infoset in the plan, or -1; marks, failed squares and stabiliser.
    origin
        The action before, its result, and the number of attempts.
    planned
        Whether the plan comes here: then its own actions are followed too.

    Returns
    -------
    bool
        Whether anything was added.
    """
    infoset, marks, fails, stabiliser = node
    parent, result, depth = origin
    place = find_place(rules, places, depth, marks, fails)
    if place[0] < 0:
        return False
    # The chosen square; and outside of the plan the usual one, which is attempted there anyway.
    there, taken = places.node_start[place[0]] + place[2], marks | fails
    chosen = _square(rules, place, taken, stabiliser, choices[there])
    inside = infoset >= 0 and plan.choices[infoset] > 0
    usual = np.int64(-1) if inside else _square(rules, place, taken, stabiliser, defaults[there])
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
            news |= _walk(rules, places, plan, choices, defaults, steps, then, again, follows)
        # Nothing new in it or after it: it is taken out again.
        if not news:
            steps.counts[0] = mark
        some |= news
    return some
