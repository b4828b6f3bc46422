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
from pttt_ooc.exact.double_oracle.lazy_response import keep_only
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables
from pttt_ooc.jit import bare_kernel, piece

CAPACITY = 1 << 16
"""Entries of the first search's arrays; if a search does not fit, the next has four times as many."""
_ZERO = 0  # the row of the memo that has the number 0


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
        1 + infoset, responder's marks and failed squares, 16 bits for each of the two; 0: an empty slot.
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
    bounds : int64 (n + 2, n, limbs)
        The bounds of the attempts.
    open : bool (n + 2, n)
        Whether an attempt is still to be searched.
    totals, best : int64 (n + 2, limbs)
        The value of an attempt, and of the best one.
    seen : int64 (2 n + 2, limbs)
        Sums of the recursion of a bound.
    """

    counts: NDArray[np.int64]
    positions: NDArray[np.int32]
    parents: NDArray[np.int32]
    results: NDArray[np.int8]
    squares: NDArray[np.int8]
    bounds: Limbs
    open: NDArray[np.bool_]
    totals: Limbs
    best: Limbs
    seen: Limbs


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
        _respond_from_start(rules, responder, tree, memo, search, bounded)
        if not search.counts[2] and not memo.counts[1]:
            break
        capacity *= 4
    size = int(search.counts[0])
    return IntegerResponse(
        value=from_limbs(search.totals[-1]),
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
        bounds=np.zeros((depths, squares, limbs), np.int64),
        open=np.zeros((depths, squares), np.bool_),
        totals=np.zeros((depths, limbs), np.int64),
        best=np.zeros((depths, limbs), np.int64),
        seen=np.zeros((2 * depths, limbs), np.int64),
    )


@piece
def _slot(keys: Any, key: Any) -> Any:
    """The slot of a key, or the empty one that it may take."""
    mixed = key * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    slot, last = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(len(keys) - 1)), len(keys) - 1
    while keys[slot] != 0 and keys[slot] != key:
        slot = (slot + 1) & last
    return slot


@bare_kernel
def _clairvoyant_row(
    rules: Any, responder: int, tree: Any, memo: Any, search: Any, at: Any, responds: int, depth: int
) -> Any:
    """What the responder gets if they see the opponent's infosets from here on.

    This is one function, because numba cannot cache two that call each other.

    Parameters
    ----------
    at
        The opponent's infoset, and the responder's marks and failed squares.
    responds
        1 if the responder is to move, 0 if the opponent is; then the value is kept.

    Returns
    -------
    row
        The row of the memo's values; if negative, -1 minus the row of a weight.
    """
    infoset, own, tried = at
    if memo.counts[1]:
        return np.int64(_ZERO)  # what is found now is not used
    marks = tree.marks[infoset]
    # The responder moves and sees the board: a winning square, if there is one, gains all the weight that comes here.
    if responds:
        best = np.int64(-1)
        for square in range(rules.squares):
            attempt = np.int64(1) << square
            if (own | tried | marks) & attempt == 0 and rules.wins[responder, own | attempt]:
                return -1 - tree.arriving[infoset]
        # Otherwise the best of all attempts. One on a mark of the opponent only passes the turn; one that fills the
        # board is a draw.
        for square in range(rules.squares):
            attempt = np.int64(1) << square
            if (own | tried) & attempt or (marks & attempt and rules.classical):
                continue  # where a failure keeps the turn, it tells only what the responder sees anyway
            if (own | marks | attempt) == rules.full and marks & attempt == 0:
                row = np.int64(_ZERO)
            else:
                then = (infoset, own, tried | attempt) if marks & attempt else (infoset, own | attempt, tried)
                row = _clairvoyant_row(rules, responder, tree, memo, search, then, 1 - responds, depth)
            if best < 0 or less(memo.values[best], memo.values[row]):
                best = row
        return best
    # The opponent moves: this position may be known.
    key = (np.uint64(infoset + 1) << np.uint64(32)) | (np.uint64(own) << np.uint64(16)) | np.uint64(tried)
    slot = _slot(memo.keys, key)
    if memo.keys[slot] != 0:
        return np.int64(memo.rows[slot])
    # Otherwise the sum over the actions of the plan, whose weights are in the infosets that they lead to. A win of the
    # opponent costs its weight; a full board adds nothing.
    total = search.seen[depth]
    total[:] = 0
    for action in range(tree.starts[infoset], tree.starts[infoset + 1]):
        bit = tree.bits[action]
        placed = np.int64(0) if own & bit else np.int64(1)
        if placed and rules.wins[1 - responder, marks | bit]:
            subtract(total, tree.weights[action])
        elif placed == 0 or (marks | bit | own) != rules.full:
            turn = placed if rules.classical else np.int64(1)
            then = (tree.after[action, placed], own, tried)
            row = _clairvoyant_row(rules, responder, tree, memo, search, then, turn, depth + 1)
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


@bare_kernel
def _bound_attempt(
    rules: Any, responder: int, tree: Any, memo: Any, search: Any, at: Any, square: int, depth: int
) -> None:
    """What an attempt would bring if the responder saw the opponent's infosets from here on."""
    own, tried, begin, end = at
    attempt, total = np.int64(1) << square, search.bounds[depth, square]
    total[:] = 0
    for k in range(begin, end):
        infoset = np.int64(search.positions[k])
        marks = tree.marks[infoset]
        again = np.int64(1) if marks & attempt and rules.classical else np.int64(0)
        if marks & attempt:
            row = _clairvoyant_row(
                rules, responder, tree, memo, search, (infoset, own, tried | attempt), again, np.int64(0)
            )
        elif rules.wins[responder, own | attempt]:
            row = -1 - tree.arriving[infoset]
        elif (own | attempt | marks) == rules.full:
            row = np.int64(_ZERO)
        else:
            row = _clairvoyant_row(
                rules, responder, tree, memo, search, (infoset, own | attempt, tried), again, np.int64(0)
            )
        add(total, memo.values[row] if row >= 0 else tree.weights[-1 - row])
    make_proper(total)


@bare_kernel
def _opponent_moves(
    rules: Any, responder: int, tree: Any, search: Any, infoset: int, own: int, top: int, total: Any
) -> Any:
    """Push what follows the opponent's turn at an infoset; returns the end of the stack, and payoffs in `total`."""
    marks = tree.marks[infoset]
    for action in range(tree.starts[infoset], tree.starts[infoset + 1]):
        bit = tree.bits[action]
        placed = np.int64(0) if own & bit else np.int64(1)
        after = tree.after[action, placed]
        if placed and rules.wins[1 - responder, marks | bit]:
            subtract(total, tree.weights[action])
        elif placed == 0 and rules.classical:
            top = _opponent_moves(rules, responder, tree, search, after, own, top, total)
        elif placed == 0 or (marks | bit | own) != rules.full:
            if top < len(search.positions):
                search.positions[top] = after
            top += 1
    return top


@piece
def _attempt(rules: Any, responder: int, tree: Any, search: Any, at: Any, square: int, placed: int, total: Any) -> Any:
    """Push the infosets after an attempt with one of its results; returns the end of the stack."""
    own, _, begin, end = at
    attempt, top = np.int64(1) << square, end
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
            top = _opponent_moves(rules, responder, tree, search, infoset, after, top, total)
        else:
            if top < len(search.positions):
                search.positions[top] = infoset
            top += 1
    return top


@bare_kernel
def _respond_from_start(rules: Any, responder: int, tree: Any, memo: Any, search: Any, bounded: bool) -> None:
    """The best response from the beginning of the game; its value is the last of `search.totals`."""
    search.counts[:] = 0
    value, top = search.totals[-1], np.int64(1)
    value[:] = 0
    search.positions[0] = 0
    begin = np.int64(0)
    if responder == 1:
        begin, top = top, _opponent_moves(rules, responder, tree, search, begin, begin, top, value)
    at = (np.int64(0), np.int64(0), begin, top)
    _respond(rules, responder, tree, memo, search, at, np.int64(-1), np.int64(0), np.int64(0), bounded)
    add(value, search.best[0])
    make_proper(value)


@bare_kernel
def _respond(
    rules: Any,
    responder: int,
    tree: Any,
    memo: Any,
    search: Any,
    at: Any,
    parent: int,
    result: int,
    depth: int,
    bounded: bool,
) -> None:
    """The best response at an infoset; its value is ``search.best[depth]``, its actions are added to the search.

    Parameters
    ----------
    at
        The responder's marks and failed squares; where the positions of the opponent begin and end on the stack.
    parent, result
        The responder's action before, and its result.
    """
    own, tried, begin, end = at
    base, best, total = search.counts[0], search.best[depth], search.totals[depth]
    # If space runs out, everything is searched again with more, and nothing found until then is used.
    if end > len(search.positions) or memo.counts[1]:
        search.counts[2] = 1
        return
    search.counts[1] += 1
    # Squares that were not attempted, with what each would bring at best.
    left = 0
    for square in range(rules.squares):
        search.open[depth, square] = ((own | tried) >> square & 1) == 0
        left += search.open[depth, square]
        if bounded and search.open[depth, square]:
            _bound_attempt(rules, responder, tree, memo, search, at, square, depth)
    found = False
    # Highest bound first: as soon as the largest is not above the best value, no other attempt can be better.
    for _ in range(left):
        square = _largest(search.open[depth], search.bounds[depth], bounded)
        if bounded and found and not less(best, search.bounds[depth, square]):
            break
        search.open[depth, square] = False
        # The attempt joins the response, for now.
        mark = search.counts[0]
        if mark == len(search.parents):
            search.counts[2] = 1
            return
        search.parents[mark], search.results[mark], search.squares[mark] = parent, result, square
        search.counts[0] += 1
        # Its value: payoffs where the game ends, and the best responses after it has failed and after it was placed.
        total[:] = 0
        for placed in range(2):
            top = _attempt(rules, responder, tree, search, at, square, placed, total)
            if top > end:
                bit = np.int64(1) << square
                then = (own | bit, tried, end, top) if placed else (own, tried | bit, end, top)
                _respond(rules, responder, tree, memo, search, then, mark, np.int64(placed), depth + 1, bounded)
                add(total, search.best[depth + 1])
        if search.counts[2]:
            return
        # The best attempt so far replaces the one before, with all its actions; any other is taken out again.
        make_proper(total)
        if not found or less(best, total):
            copy(total, best)
            found = True
            keep_only(search, base, mark)
        else:
            search.counts[0] = mark


@piece
def _largest(opened: Any, bounds: Any, bounded: bool) -> Any:
    """The open attempt with the largest bound; the first one, if there are no bounds."""
    found = np.int64(-1)
    for square in range(len(opened)):
        if opened[square] and (found < 0 or (bounded and less(bounds[found], bounds[square]))):
            found = np.int64(square)
    return found
