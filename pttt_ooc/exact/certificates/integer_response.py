"""The best response to an integer plan, in integers: nothing is rounded, and no symmetry is used.

The search is that of :mod:`pttt_ooc.exact.double_oracle.lazy_response`, with bounds of the same kind.  But here a plan
is the tree of all infosets that it leads to, and a position is one of them, whose weight is known.  So payoffs are sums
of weights: integers over the plan's denominator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.exact.certificates.integer_plan import IntegerPlan
from pttt_ooc.exact.certificates.known_infosets import Known, find_known, keep_known, new_known
from pttt_ooc.exact.certificates.limbs import (
    Limbs,
    add,
    copy,
    from_limbs,
    less,
    limbs_needed,
    make_proper,
    subtract,
    to_limbs,
)
from pttt_ooc.exact.double_oracle.clairvoyance import mix
from pttt_ooc.exact.double_oracle.lazy_response import keep_only
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables
from pttt_ooc.jit import bare_kernel, inner_kernel, piece

CAPACITY = 1 << 16
"""Entries of the first search's arrays; if a search does not fit, the next has four times as many."""
_ZERO = 0  # the row of the memo that has the number 0

_NEED, _VALUE, _TOTAL, _WHOLE, _PARTS = range(5)
"""The rows of a search's numbers at one depth.

An attempt must bring more than `_NEED`.  `_VALUE` is the most that one brings; if it is not above what was needed at
first, it may be too high, and its actions not the best.  Of the attempt that is searched: payoffs where the game ends;
its value or a bound of it; and from `_PARTS` on the same after it has failed and after it was placed.
"""
_NUMBERS = _PARTS + 2
_LOWEST, _HIGHEST = 0, 1


class Tree(NamedTuple):
    """An integer plan as arrays.

    Attributes
    ----------
    marks : int64 (infosets,)
        The player's marks.
    starts : int64 (infosets + 1,)
        Where the actions of an infoset begin.
    bits : int64 (actions,)
        The square of an action.
    after : int64 (actions, 2)
        The infoset after an action has failed, and after it was placed; -1: none.
    arriving : int64 (infosets,)
        The row of the weight that comes to an infoset.
    weights : int64 (actions + 1, limbs)
        The weights of the actions, and the denominator.
    """

    marks: NDArray[np.int64]
    starts: NDArray[np.int64]
    bits: NDArray[np.int64]
    after: NDArray[np.int64]
    arriving: NDArray[np.int64]
    weights: Limbs


class Memo(NamedTuple):
    """What the responder gets if they see the opponent's infoset, the opponent to move.

    Attributes
    ----------
    counts : int64 (2,)
        Number of rows that are used, and whether one more would not fit.
    keys : uint64 (slots,)
        1 + infoset, and 16 bits for the responder's marks; 0: an empty slot.
    rows : int32 (slots,)
        The row of the value.
    values : int64 (rows, limbs)
        The values, in proper form; the first is 0.
    """

    counts: NDArray[np.int64]
    keys: NDArray[np.uint64]
    rows: NDArray[np.int32]
    values: Limbs


class Search(NamedTuple):
    """The arrays of a search; depth d is the number of attempts on the way, or in the recursion of a bound.

    Attributes
    ----------
    counts : int64 (3,)
        Number of actions of the response; infosets visited; whether something did not fit.
    positions : int32
        A stack of the opponent's infosets.
    parents, results, squares : int32, int8, int8
        The actions of the response: the action before, its result, and the square that is attempted.
    bounds : int64 (n + 2, 2, n, limbs)
        The bounds of the attempts, by depth and by the last attempt's result.
    open : bool (n + 2, 2, n)
        Whether an attempt is still to be searched.
    numbers : int64 (n + 2, 6, limbs)
        What a search reckons with at each depth, see :data:`_NEED`.
    limits : int64 (2, limbs)
        Less and more than any value.
    seen : int64 (2 n + 2, limbs)
        Sums of the recursion of a bound.
    known
        What was found so far.
    """

    counts: NDArray[np.int64]
    positions: NDArray[np.int32]
    parents: NDArray[np.int32]
    results: NDArray[np.int8]
    squares: NDArray[np.int8]
    bounds: Limbs
    open: NDArray[np.bool_]
    numbers: Limbs
    limits: Limbs
    seen: Limbs
    known: Known


class Task(NamedTuple):
    """What all functions of a search take: who responds to which plan, and the arrays; without bounds, for tests."""

    rules: RuleTables
    responder: int
    tree: Tree
    memo: Memo
    search: Search
    bounded: bool


@dataclass(frozen=True, eq=False)
class IntegerResponse:
    """A best response.

    Attributes
    ----------
    value
        What the responder gets, times the plan's denominator.
    parents, results, squares : int32, int8, int8 (actions,)
        Its actions: each comes after an earlier one (-1: none) that failed (0) or was placed (1).
    visited
        Number of the responder's infosets that were visited.
    """

    value: int
    parents: NDArray[np.int32]
    results: NDArray[np.int8]
    squares: NDArray[np.int8]
    visited: int


def integer_response(rules: RuleTables, responder: int, plan: IntegerPlan, bounded: bool = True) -> IntegerResponse:
    """The best response to a plan of the other player.

    Parameters
    ----------
    bounded
        Whether bounds drop attempts; if not, all are searched, for tests.
    """
    tree, capacity = _tree(plan), CAPACITY
    while True:
        memo, search = (
            _memo(capacity, tree.weights.shape[1]),
            _search_arrays(capacity, rules.squares, tree.weights.shape[1]),
        )
        _respond_from_start(Task(rules, responder, tree, memo, search, bounded))
        if not search.counts[2] and not memo.counts[1]:
            break
        capacity *= 4
    size = int(search.counts[0])
    return IntegerResponse(
        value=from_limbs(search.numbers[-1, _TOTAL]),
        parents=search.parents[:size].copy(),
        results=search.results[:size].copy(),
        squares=search.squares[:size].copy(),
        visited=int(search.counts[1]),
    )


def _tree(plan: IntegerPlan) -> Tree:
    weights = to_limbs([*plan.weights, plan.denominator], limbs_needed(plan.denominator))
    after, actions = np.array([plan.failed, plan.placed], np.int64).T, len(plan.squares)
    arriving = np.full(plan.infosets, actions)
    for result in (0, 1):
        leads = np.flatnonzero(after[:, result] >= 0)
        arriving[after[leads, result]] = leads
    bits = 1 << np.array(plan.squares, np.int64)
    starts = np.array([*plan.starts, actions], np.int64)
    return Tree(np.array(plan.marks, np.int64), starts, bits, np.ascontiguousarray(after), arriving, weights)


def _memo(capacity: int, limbs: int) -> Memo:
    keys, rows = np.zeros(2 * capacity, np.uint64), np.zeros(2 * capacity, np.int32)
    return Memo(np.array([1, 0]), keys, rows, np.zeros((capacity, limbs), np.int64))


def _search_arrays(capacity: int, squares: int, limbs: int) -> Search:
    depths = squares + 2
    return Search(
        counts=np.zeros(3, np.int64),
        positions=np.zeros(capacity, np.int32),
        parents=np.zeros(capacity, np.int32),
        results=np.zeros(capacity, np.int8),
        squares=np.zeros(capacity, np.int8),
        bounds=np.zeros((depths, 2, squares, limbs), np.int64),
        open=np.zeros((depths, 2, squares), np.bool_),
        numbers=np.zeros((depths, _NUMBERS, limbs), np.int64),
        limits=np.zeros((2, limbs), np.int64),
        seen=np.zeros((2 * depths, limbs), np.int64),
        known=new_known(capacity, limbs),
    )


@piece
def _slot(keys: Any, key: Any) -> Any:
    """The slot of a key, or the empty one that it may take."""
    slot, last = np.int64(mix(key) & np.uint64(len(keys) - 1)), len(keys) - 1
    while keys[slot] != 0 and keys[slot] != key:
        slot = (slot + 1) & last
    return slot


@inner_kernel
def _clairvoyant_row(task: Any, at: Any, responds: int, depth: int) -> Any:
    """What the responder gets if they see the opponent's infosets from here on.

    This is one function, because numba cannot cache two that call each other.  The squares on which the responder
    failed do not matter: who sees the board attempts a mark of the opponent only to wait, and here may do so again.

    Parameters
    ----------
    at
        The opponent's infoset, and the responder's marks.
    responds
        1 if the responder is to move, 0 if the opponent is; then the value is kept.

    Returns
    -------
    row
        The row of the memo's values; if negative, -1 minus the row of a weight.
    """
    rules, responder, tree, memo = task.rules, task.responder, task.tree, task.memo
    infoset, own = at
    if memo.counts[1]:
        return np.int64(_ZERO)  # what is found now is not used
    marks = tree.marks[infoset]
    # The responder moves and sees the board: a winning square, if there is one, gains all the weight that comes here.
    if responds:
        best = np.int64(-1)
        for square in range(rules.squares):
            attempt = np.int64(1) << square
            if (own | marks) & attempt == 0 and rules.wins[responder, own | attempt]:
                return -1 - tree.arriving[infoset]
        # Otherwise the best of all free squares and of waiting (-1), which only passes the turn; an attempt that fills
        # the board is a draw.
        waits = marks != 0 and not rules.classical  # where a failure keeps the turn, it tells only what they see anyway
        for square in range(-1 if waits else 0, rules.squares):
            after = own | (np.int64(1) << square) if square >= 0 else own
            if square >= 0 and (own | marks) >> square & 1:
                continue
            if (after | marks) == rules.full:
                row = np.int64(_ZERO)
            else:
                row = _clairvoyant_row(task, (infoset, after), 1 - responds, depth)
            if best < 0 or less(memo.values[best], memo.values[row]):
                best = row
        return best
    # The opponent moves: this position may be known.
    key = (np.uint64(infoset + 1) << np.uint64(16)) | np.uint64(own)
    slot = _slot(memo.keys, key)
    if memo.keys[slot] != 0:
        return np.int64(memo.rows[slot])
    # Otherwise the sum over the actions of the plan, whose weights are in the infosets that they lead to. A win of the
    # opponent costs its weight; a full board adds nothing.
    total = task.search.seen[depth]
    total[:] = 0
    for action in range(tree.starts[infoset], tree.starts[infoset + 1]):
        bit = tree.bits[action]
        placed = np.int64(0) if own & bit else np.int64(1)
        if placed and rules.wins[1 - responder, marks | bit]:
            subtract(total, tree.weights[action])
        elif placed == 0 or (marks | bit | own) != rules.full:
            turn = placed if rules.classical else np.int64(1)
            then = (tree.after[action, placed], own)
            row = _clairvoyant_row(task, then, turn, depth + 1)
            add(total, memo.values[row] if row >= 0 else tree.weights[-1 - row])
    # Keep the sum. The slot is looked up again, since the recursion has filled others.
    make_proper(total)
    row, slot = np.int64(memo.counts[0]), _slot(memo.keys, key)
    if row == len(memo.values):
        memo.counts[1] = 1
        return np.int64(_ZERO)
    memo.counts[0] += 1
    memo.keys[slot], memo.rows[slot] = key, row
    copy(total, memo.values[row])
    return row


@inner_kernel
def _bound_attempts(task: Any, at: Any, depth: int, result: int, highest: Any) -> None:
    """What each attempt would bring if the responder saw the opponent's infosets from here on, and the most of it."""
    rules, responder, tree, memo, search = task.rules, task.responder, task.tree, task.memo, task.search
    own, tried, begin, end = at
    bounds, opened = search.bounds[depth, result], search.open[depth, result]
    for square in range(rules.squares):
        attempt, total = np.int64(1) << square, bounds[square]
        opened[square] = ((own | tried) & attempt) == 0
        if not opened[square]:
            continue
        total[:] = 0
        if not task.bounded:
            copy(search.limits[_HIGHEST], total)
            continue
        for k in range(begin, end):
            infoset = np.int64(search.positions[k])
            marks = tree.marks[infoset]
            again = np.int64(1) if marks & attempt and rules.classical else np.int64(0)
            if marks & attempt:
                row = _clairvoyant_row(task, (infoset, own), again, np.int64(0))
            elif rules.wins[responder, own | attempt]:
                row = -1 - tree.arriving[infoset]
            elif (own | attempt | marks) == rules.full:
                row = np.int64(_ZERO)
            else:
                there = (infoset, own | attempt)
                row = _clairvoyant_row(task, there, again, np.int64(0))
            add(total, memo.values[row] if row >= 0 else tree.weights[-1 - row])
        make_proper(total)
    copy(bounds[_largest(opened, bounds)], highest)


@inner_kernel
def _opponent_moves(task: Any, infoset: int, own: int, top: int, total: Any) -> Any:
    """Push what follows the opponent's turn at an infoset; returns the end of the stack, and payoffs in `total`."""
    rules, responder, tree, search = task.rules, task.responder, task.tree, task.search
    marks = tree.marks[infoset]
    for action in range(tree.starts[infoset], tree.starts[infoset + 1]):
        bit = tree.bits[action]
        placed = np.int64(0) if own & bit else np.int64(1)
        after = tree.after[action, placed]
        if placed and rules.wins[1 - responder, marks | bit]:
            subtract(total, tree.weights[action])
        elif placed == 0 and rules.classical:
            top = _opponent_moves(task, after, own, top, total)
        elif placed == 0 or (marks | bit | own) != rules.full:
            if top < len(search.positions):
                search.positions[top] = after
            top += 1
    return top


@piece
def _attempt(task: Any, at: Any, top: int, square: int, placed: int, total: Any) -> Any:
    """Push the infosets after an attempt with one of its results; returns the end of the stack."""
    rules, responder, tree, search = task.rules, task.responder, task.tree, task.search
    own, _, begin, end = at
    attempt = np.int64(1) << square
    for k in range(begin, end):
        infoset = np.int64(search.positions[k])
        marks = tree.marks[infoset]
        if (marks & attempt == 0) != (placed == 1):
            continue
        if placed and rules.wins[responder, own | attempt]:
            add(total, tree.weights[tree.arriving[infoset]])
        elif placed and (own | attempt | marks) == rules.full:
            continue
        elif placed or not rules.classical:
            after = own | attempt if placed else own
            top = _opponent_moves(task, infoset, after, top, total)
        else:
            if top < len(search.positions):
                search.positions[top] = infoset
            top += 1
    return top


@bare_kernel
def _respond_from_start(task: Any) -> None:
    """The best response from the beginning of the game; its value is the last total of the search."""
    tree, search = task.tree, task.search
    search.counts[:] = 0
    # No payoff is above the denominator, nor is any difference of two above twice as much.
    search.limits[:] = 0
    for _ in range(4):
        subtract(search.limits[_LOWEST], tree.weights[-1])
        add(search.limits[_HIGHEST], tree.weights[-1])
    make_proper(search.limits[_LOWEST])
    make_proper(search.limits[_HIGHEST])
    value, first, top = search.numbers[-1, _TOTAL], search.numbers[0], np.int64(1)
    value[:] = 0
    search.positions[0] = 0
    begin = np.int64(0)
    if task.responder == 1:
        begin, top = top, _opponent_moves(task, begin, begin, top, value)
    if top > len(search.positions):
        search.counts[2] = 1
        return
    at = (np.int64(0), np.int64(0), begin, top)
    _bound_attempts(task, at, np.int64(0), np.int64(0), first[_WHOLE])
    copy(search.limits[_LOWEST], first[_NEED])
    _respond(task, at, top, np.int64(-1), np.int64(0), np.int64(0))
    add(value, first[_VALUE])
    make_proper(value)


@inner_kernel
def _respond(task: Any, at: Any, top: int, parent: int, result: int, depth: int) -> None:
    """The best response at an infoset, whose bounds are known; its actions are added to the search.

    Parameters
    ----------
    at, top
        The responder's marks and failed squares; where the positions of the opponent begin and end on the stack, and
        where the stack ends.
    parent, result
        The responder's action before, and its result.
    """
    search, (own, tried, _, _) = task.search, at
    numbers, base = search.numbers[depth], search.counts[0]
    need, most, total, whole = numbers[_NEED], numbers[_VALUE], numbers[_TOTAL], numbers[_WHOLE]
    bounds, opened = search.bounds[depth, result], search.open[depth, result]
    # Another order of attempts may have led here, and shown that there is no more to get than is needed.
    if task.bounded:
        _, entry = find_known(search.known, search.positions, at)
        if entry >= 0 and not less(need, search.known.bounds[entry]):
            copy(search.known.bounds[entry], most)
            return
    search.counts[1] += 1
    copy(search.limits[_LOWEST], most)
    while True:
        # Highest bound first: as soon as it is not above what is needed, no other attempt can be better.
        square = _largest(opened, bounds)
        if square < 0 or not less(need, bounds[square]):
            if square >= 0 and less(most, bounds[square]):
                copy(bounds[square], most)
            break
        opened[square] = False
        # On the stack follow the positions after the attempt has failed, up to `middle`, and after it was placed, up to
        # `last`. If space runs out, everything is searched again with more, and nothing found until then is used.
        bit, mark = np.int64(1) << square, search.counts[0]
        total[:] = 0
        middle = _attempt(task, at, top, square, np.int64(0), total)
        last = _attempt(task, at, middle, square, np.int64(1), total)
        if last > len(search.positions) or mark == len(search.parents) or task.memo.counts[1]:
            search.counts[2] = 1
            return
        # A closer bound: payoffs where the game ends, and the highest bounds one attempt later.
        failed, placed = (own, tried | bit, top, middle), (own | bit, tried, middle, last)
        numbers[_PARTS], numbers[_PARTS + 1] = 0, 0
        if middle > top:
            _bound_attempts(task, failed, depth + 1, np.int64(0), numbers[_PARTS])
        if last > middle:
            _bound_attempts(task, placed, depth + 1, np.int64(1), numbers[_PARTS + 1])
        # The attempt joins the response, for now.
        search.parents[mark], search.results[mark], search.squares[mark] = parent, result, square
        search.counts[0] += 1
        # Each value found for one of its two parts replaces a bound; as soon as the sum is not above what is needed,
        # the rest is not searched.
        _add_up(numbers)
        for outcome in range(2):
            then = placed if outcome else failed
            if then[2] == then[3] or not less(need, whole):
                continue
            # What this part must bring more than, whatever the other part brings.
            needed = search.numbers[depth + 1, _NEED]
            copy(need, needed)
            subtract(needed, total)
            subtract(needed, numbers[_PARTS + 1 - outcome])
            make_proper(needed)
            _respond(task, then, last, mark, np.int64(outcome), depth + 1)
            if search.counts[2]:
                return
            copy(search.numbers[depth + 1, _VALUE], numbers[_PARTS + outcome])
            _add_up(numbers)
        # The best attempt so far replaces the one before, with all its actions; any other is taken out again.
        if less(need, whole):
            copy(whole, need)
            keep_only(search, base, mark)
        else:
            search.counts[0] = mark
        if less(most, whole):
            copy(whole, most)
    if task.bounded:
        keep_known(search.known, search.positions, at, most)


@piece
def _add_up(numbers: Any) -> None:
    """The value of an attempt, or a bound of it: payoffs where the game ends, and its two parts."""
    copy(numbers[_TOTAL], numbers[_WHOLE])
    add(numbers[_WHOLE], numbers[_PARTS])
    add(numbers[_WHOLE], numbers[_PARTS + 1])
    make_proper(numbers[_WHOLE])


@piece
def _largest(opened: Any, bounds: Any) -> Any:
    """The open attempt with the largest bound, or of several the first; -1: none is open."""
    found = np.int64(-1)
    for square in range(len(opened)):
        if opened[square] and (found < 0 or less(bounds[found], bounds[square])):
            found = np.int64(square)
    return found
