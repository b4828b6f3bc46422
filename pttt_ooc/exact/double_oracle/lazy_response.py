"""The best response to a plan and the pure rule, found without listing the game.

The search goes through the responder's own sequences, depth first.  At each infoset it has the list of the opponent's
positions that fit and have reach.  Each attempt has an upper bound, see
:mod:`pttt_ooc.exact.double_oracle.clairvoyance`; attempts are searched in the order of their bounds, and those that
cannot beat the best so far are dropped (Bosansky et al. 2014, section 4.3).  So are infosets that another order of
attempts led to, see :mod:`pttt_ooc.exact.double_oracle.transpositions`.  A symmetric opponent has a symmetric best
response, so only one of several attempts that mirror each other is searched.

A best response is one pure plan, but a mixed plan may be improved at many infosets at once.  So the attempts of the
responder's own plan are searched first, all of them, and the best actions at each of its infosets join the response.
That takes a ninth of the rounds in Phantom Tic-Tac-Toe.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.exact.double_oracle.clairvoyance import (
    CONTENT,
    NEVER,
    digest_plan,
    new_bounds,
    resize,
    row_of,
)
from pttt_ooc.exact.double_oracle.opponent_positions import attempt, follow, new_positions, position_at
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables
from pttt_ooc.exact.double_oracle.sparse_plan import SPARE, SparsePlan, allow, next_infoset, with_capacity
from pttt_ooc.exact.double_oracle.transpositions import new_transpositions, note, proven, transposition_key
from pttt_ooc.jit import bare_kernel, inner_kernel, piece

LEAST = 4e-15
"""An attempt has to be better by this much, which is more than the rounding of a sum."""


class Steps(NamedTuple):
    """The actions of a response: each comes after an earlier one and its result.

    Attributes
    ----------
    parents : int32
        The number of the action before; -1: none.
    results, squares : int8
        Whether that action was placed (1) or failed (0), and the square that is attempted now.
    counts : int64 (3,)
        Number of actions; infosets visited; whether something did not fit.
    bounds : float64 (n + 1, 2, n)
        For a search: the bounds of the attempts at the infosets on the way, by depth and by the last attempt's result.
    """

    parents: NDArray[np.int32]
    results: NDArray[np.int8]
    squares: NDArray[np.int8]
    counts: NDArray[np.int64]
    bounds: NDArray[np.float64]


@dataclass(frozen=True)
class Response:
    """A best response, or its part in a subtree.

    Attributes
    ----------
    value
        What the responder gets.
    steps
        The actions.
    visited
        Number of the responder's infosets that were visited.
    """

    value: float
    steps: Steps
    visited: int


class Subtree(NamedTuple):
    """A part of the search for one response, which depends on plans and rules only: the unit that is shared out.

    Attributes
    ----------
    player
        The responder.
    path
        The attempts that lead to the subtree's first infoset, each a square and whether it was placed.
    infoset
        That infoset in the responder's plan; -1: no action there is searched because the plan plays it.
    squares
        A mask of the squares that may be attempted there.
    need
        A value that is not above this may be too high, and its actions need not be the best.
    """

    player: int
    path: tuple[tuple[int, int], ...] = ()
    infoset: int = -1
    squares: int = -1
    need: float = NEVER


class Responder:
    """Finds best responses of one player; keeps its tables from one to the next.

    Parameters
    ----------
    rules
        The game.
    player
        The responder.
    memo_mb
        Megabytes for clairvoyant values.

    Attributes
    ----------
    payoff
        What the responder gets before their first attempt.
    """

    def __init__(self, rules: RuleTables, player: int, memo_mb: float) -> None:
        self._rules, self._player = rules, player
        self._bounds, self._known = new_bounds(rules.squares, memo_mb), new_transpositions()
        self._capacity = 1 << 16

    def limit(self, memo_mb: float) -> None:
        """Keep bounds in at most so many megabytes."""
        self._bounds = resize(self._bounds, memo_mb)

    def respond(self, plan: SparsePlan, own: SparsePlan | None = None, bounded: bool = True) -> Response:
        """The best response to a plan of the opponent, and to the pure rule outside of it.

        Parameters
        ----------
        own
            The responder's plan.  The response then also has the best actions at all infosets where this plan comes.
        bounded
            Whether the bounds are clairvoyant values; if not, each is a sure win, for tests and comparisons.
        """
        self.face(plan, plan if own is None else own, bounded)
        found = self.search(Subtree(self._player, infoset=-1 if own is None else 0))
        self.leave()
        return replace(found, value=found.value + self.payoff)

    def face(self, plan: SparsePlan, own: SparsePlan, bounded: bool = True) -> None:
        """Prepare for subtrees of one response: the opponent's plan, and the responder's."""
        self._bounds.counts[2] += 1
        self._allocate(self._capacity)
        digests = np.zeros((int(plan.counts[0]), 2), np.uint64)
        digest_plan(self._rules, plan, plan.chances.view(np.uint64), digests)
        self._own, self._opponent = own, (1 - self._player, plan, digests, self._bounds, bounded, self._known)
        start = follow(self._rules, self._opponent, self._positions, np.zeros((0, 2), np.int64))
        self.payoff = float(start[-1])

    def search(self, subtree: Subtree) -> Response:
        """The best response in a subtree, without what the responder got before."""
        path = np.array(subtree.path, np.int64).reshape(-1, 2)
        _, _, infoset, squares, need = subtree
        self._known.now[0] += 1
        while True:
            steps = self._steps
            value = search_subtree(
                self._rules, self._opponent, self._own, self._positions, steps, path, infoset, squares, need
            )
            if not steps.counts[2]:
                break
            self._allocate(4 * self._capacity)
        size = int(steps.counts[0])
        kept = steps._replace(
            parents=steps.parents[:size].copy(),
            results=steps.results[:size].copy(),
            squares=steps.squares[:size].copy(),
            counts=steps.counts.copy(),
            bounds=steps.bounds[:0],
        )
        return Response(float(value), kept, int(steps.counts[1]))

    def outlook(self, path: tuple[tuple[int, int], ...]) -> Outlook:
        """What is known about the attempts at an infoset before any is searched."""
        n = self._rules.squares
        outlook = Outlook(np.zeros(n), np.zeros(n), np.zeros((n, 2), np.bool_))
        taken = np.array(path, np.int64).reshape(-1, 2)
        while not look_out(self._rules, self._opponent, self._positions, self._steps, taken, outlook):
            self._allocate(4 * self._capacity)
        return outlook

    def leave(self) -> None:
        """Free both plans, and the space for a search, until :meth:`face`."""
        del self._own, self._opponent, self._positions, self._steps

    def _allocate(self, capacity: int) -> None:
        self._capacity = capacity
        self._positions, self._steps = new_positions(capacity), new_steps(capacity, self._rules.squares)


class Outlook(NamedTuple):
    """What is known about the attempts at an infoset before any is searched; n squares.

    Attributes
    ----------
    bounds : float64 (n,)
        At least the value of an attempt; :data:`NEVER` if it is not possible.
    payoffs : float64 (n,)
        What the responder gets where the game ends before their next attempt.
    goes_on : bool (n, 2)
        Whether an attempt that failed, or was placed, is followed by another.
    """

    bounds: NDArray[np.float64]
    payoffs: NDArray[np.float64]
    goes_on: NDArray[np.bool_]


def new_steps(capacity: int, squares: int) -> Steps:
    """Space for so many actions of a response, and for the bounds on a board of so many squares."""
    counts, bounds = np.zeros(3, np.int64), np.empty((squares + 1, 2, squares))
    return Steps(np.zeros(capacity, np.int32), np.zeros(capacity, np.int8), np.zeros(capacity, np.int8), counts, bounds)


def allow_response(rules: RuleTables, plan: SparsePlan, response: Response) -> tuple[SparsePlan, int]:
    """Allow the actions of a response in the responder's plan; returns the plan, and the number of new sequences."""
    plan = with_capacity(plan, len(response.steps.parents) + SPARE)
    before = int(plan.counts[1])
    allow_steps(rules, plan, response.steps, np.zeros(len(response.steps.parents), np.int64))
    return plan, int(plan.counts[1]) - before


@bare_kernel
def allow_steps(rules: Any, plan: Any, steps: Any, infosets: Any) -> None:
    """Allow the actions of a response, and note the infoset of each, int64 (steps,)."""
    for step in range(len(infosets)):
        parent = steps.parents[step]
        if parent >= 0:
            infosets[step] = next_infoset(rules, plan, infosets[parent], steps.squares[parent], steps.results[step])
        allow(rules, plan, infosets[step], steps.squares[step])


@bare_kernel
def search_subtree(
    rules: Any,
    opponent: Any,
    own_plan: Any,
    positions: Any,
    steps: Any,
    path: Any,
    infoset: int,
    squares: int,
    need: float,
) -> Any:
    """The best response in a subtree; see :class:`Subtree`."""
    steps.counts[:] = 0
    own, tried, stabiliser, begin, top, _ = follow(rules, opponent, positions, path)
    if top > len(positions.reach):
        steps.counts[2] = 1
        return 0.0
    depth = np.int64(len(path))
    result = path[depth - 1, 1] if depth else np.int64(0)
    row = steps.bounds[depth, result]
    bound_attempts(rules, opponent, positions, own, tried, stabiliser, begin, top, row)
    for square in range(rules.squares):
        if not squares >> square & 1:
            row[square] = NEVER
    node = (own, tried, stabiliser, np.int64(-1), result, depth, np.int64(infoset))
    return respond(rules, opponent, own_plan, positions, steps, node, (begin, top), top, need)


@bare_kernel
def look_out(rules: Any, opponent: Any, positions: Any, steps: Any, path: Any, outlook: Any) -> bool:
    """See :class:`Outlook`; returns whether there was space for all positions."""
    own, tried, stabiliser, begin, top, _ = follow(rules, opponent, positions, path)
    if top > len(positions.reach):
        return False
    bound_attempts(rules, opponent, positions, own, tried, stabiliser, begin, top, outlook.bounds)
    row = steps.bounds[0, 0]
    for square in range(rules.squares):
        if outlook.bounds[square] == NEVER:
            continue
        stable, bit = stabiliser & rules.fixing[square], np.int64(1) << square
        bound, outlook.payoffs[square] = 0.0, 0.0
        for placed in range(2):
            end, payoff = attempt(rules, opponent, positions, own, (begin, top), top, square, placed)
            if end > len(positions.reach):
                return False
            outlook.payoffs[square] += payoff
            outlook.goes_on[square, placed] = end > top
            if end > top:
                marks, fails = (own | bit, tried) if placed else (own, tried | bit)
                bound += bound_attempts(rules, opponent, positions, marks, fails, stable, top, end, row)
        outlook.bounds[square] = outlook.payoffs[square] + bound
    return True


@inner_kernel
def bound_attempts(
    rules: Any,
    opponent: Any,
    positions: Any,
    own: int,
    tried: int,
    stabiliser: int,
    begin: int,
    end: int,
    row: Any,
) -> float:
    """Set the bounds of all attempts at an infoset; returns the highest."""
    player, plan, digests, bounds, bounded, _ = opponent
    for square in range(rules.squares):
        possible = not (own | tried) >> square & 1 and rules.least[stabiliser, square] == square
        row[square] = 0.0 if possible else NEVER
    for k in range(begin, end):
        reach = positions.reach[k]
        if bounded:
            at = position_at(positions, k)
            entry = row_of(rules, player, plan, digests, bounds, at, own)
            for square in range(rules.squares):
                row[square] += reach * bounds.row_numbers[entry, CONTENT + rules.images[at[1], square]]
        else:
            for square in range(rules.squares):
                row[square] += reach
    best = NEVER
    for square in range(rules.squares):
        if row[square] < -2.0:
            row[square] = NEVER
        best = max(best, row[square])
    return best


@inner_kernel
def respond(
    rules: Any, opponent: Any, own_plan: Any, positions: Any, steps: Any, node: Any, span: Any, top: int, need: float
) -> Any:
    """The responder's best value against some positions; the actions are added to `steps`.

    Parameters
    ----------
    node
        The responder's marks, failed squares and stabiliser; the action before, its result, and the number of attempts;
        the infoset in the responder's plan, -1 where it does not come.
    span, top
        The first position and the end of the positions; the end of the stack.
    need
        A value that is not above this may be too high, and its actions need not be the best.
    """
    own, tried, stabiliser, parent, result, depth, infoset = node
    steps.counts[1] += 1
    one, two = np.uint64(0), np.uint64(0)
    digests, known = opponent[2], opponent[5]
    # Another order of attempts may have led to the same positions, and proven that they are not worth enough.
    if infoset < 0:  # what the own plan attempts has to be searched anyway
        one, two = transposition_key(digests, positions, span, own, tried, stabiliser)
        bound = proven(known, one, two, -NEVER)
        if bound <= need:
            return bound
    base, best, dropped = steps.counts[0], need, NEVER
    bounds, after_bounds = steps.bounds[depth, result], steps.bounds[depth + 1]
    planned = infoset >= 0
    # First all attempts of the responder's own plan, then the others by falling bounds, until no bound beats the best
    # value.
    while True:
        square = _planned_square(own_plan, infoset, bounds) if planned else np.int64(-1)
        if square < 0:
            if planned:  # the actions of what was planned stay
                planned, base = False, steps.counts[0]
            square = _highest(bounds)
            if bounds[square] <= best + LEAST:
                dropped = max(dropped, bounds[square])
                break
        bounds[square] = NEVER
        # On the stack follow the positions after the attempt has failed, up to `middle`, and after it was placed, up to
        # `end`.
        mark, marks, fails = steps.counts[0], own | (1 << square), tried | (1 << square)
        stable = stabiliser & rules.fixing[square]
        middle, total0 = attempt(rules, opponent, positions, own, span, top, square, np.int64(0))
        end, total1 = attempt(rules, opponent, positions, own, span, middle, square, np.int64(1))
        if end > len(positions.reach) or mark == len(steps.parents):
            steps.counts[2] = 1
            return 0.0
        # A closer bound: payoffs where the game ends, and the highest bounds one attempt later. A planned attempt is
        # never dropped by it.
        total, bound0, bound1 = total0 + total1, 0.0, 0.0
        if middle > top:
            bound0 = bound_attempts(rules, opponent, positions, own, fails, stable, top, middle, after_bounds[0])
        if end > middle:
            bound1 = bound_attempts(rules, opponent, positions, marks, tried, stable, middle, end, after_bounds[1])
        limit = NEVER if planned else best
        if total + bound0 + bound1 <= limit + LEAST:
            dropped = max(dropped, total + bound0 + bound1)
            continue
        # The attempt joins the response, for now. Each value found for one of its two parts replaces a bound; as soon
        # as the sum cannot beat the limit, the rest is not searched.
        steps.parents[mark], steps.results[mark], steps.squares[mark] = parent, result, square
        steps.counts[0] += 1
        for placed in range(2):
            ends = middle if placed else top, end if placed else middle
            if ends[0] == ends[1] or total + bound0 + bound1 <= limit + LEAST:
                continue
            after = (
                marks if placed else own,
                tried if placed else fails,
                stable,
                mark,
                np.int64(placed),
                depth + 1,
                np.int64(own_plan.children[infoset, 2 * square + placed]) if planned else np.int64(-1),
            )
            # What this part must bring so that the attempt can still beat the limit, whatever the other part brings.
            needed = limit - total - (bound0 if placed else bound1)
            value = respond(rules, opponent, own_plan, positions, steps, after, ends, end, needed)
            if placed:
                bound1 = value
            else:
                bound0 = value
        # A planned attempt keeps its actions in any case. Among the others the best keeps them, and the rest are taken
        # out.
        total += bound0 + bound1
        if planned:
            best = max(best, total)
        elif total > best + LEAST:
            best = total
            keep_only(steps, base, mark)
        else:
            dropped = max(dropped, total)
            steps.counts[0] = mark
    # The value if something beat `need`; otherwise an upper bound, from all that was dropped.
    bound = best if best > need else min(dropped, need)
    if infoset < 0 and not steps.counts[2]:  # if something did not fit, it is no bound
        note(known, one, two, bound)
    return bound


@piece
def _highest(bounds: Any) -> Any:
    """The square with the highest bound."""
    square = np.int64(0)
    for other in range(1, len(bounds)):
        if bounds[other] > bounds[square]:
            square = np.int64(other)
    return square


@piece
def _planned_square(own_plan: Any, infoset: int, bounds: Any) -> Any:
    """The square with the highest bound that the plan attempts and the search has not; -1: none."""
    square = np.int64(-1)
    for other in range(len(bounds)):
        sequence = own_plan.actions[infoset, other]
        if sequence < 0 or own_plan.chances[sequence] <= 0 or bounds[other] == NEVER:
            continue
        if square < 0 or bounds[other] > bounds[square]:
            square = np.int64(other)
    return square


@piece
def keep_only(steps: Any, base: int, mark: int) -> None:
    """Move the actions from `mark` on to `base`, in place of those of an attempt that is not the best."""
    shift, end = mark - base, steps.counts[0]
    if shift:
        for step in range(mark, end):
            parent = steps.parents[step]
            steps.parents[step - shift] = parent if parent < mark else parent - shift
            steps.results[step - shift], steps.squares[step - shift] = steps.results[step], steps.squares[step]
    steps.counts[0] = end - shift
