"""One best response as subtrees, which may be searched anywhere and in any order: the same response, bit by bit.

At the infosets of the responder's own plan, what the plan attempts is searched without a limit.  So a subtree there
depends on plans and rules only.  The other attempts at such an infoset have to beat the best of these: they
become subtrees when the best is known, with this limit.

Which infosets are divided depends on the sizes of plans alone, not on the number of threads or workers.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.exact.double_oracle.clairvoyance import NEVER
from pttt_ooc.exact.double_oracle.lazy_response import LEAST, Outlook, Responder, Response, Steps, Subtree
from pttt_ooc.exact.double_oracle.restricted_histories import Plans
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables
from pttt_ooc.exact.double_oracle.sparse_plan import SparsePlan, first_infoset
from pttt_ooc.jit import bare_kernel

LEAST_INFOSETS = 256
"""An infoset is divided if the responder's plan comes to more infosets than this from there on."""

PARTS = 64
"""From a divided infoset on, the plan also comes to more than one in so many of all its infosets."""


class SubtreeRunner(Protocol):
    """Searches the subtrees of both players' responses, by threads or by processes on other machines."""

    def run(self, plans: Plans, searches: tuple[ResponseSearch, ResponseSearch]) -> None:
        """Search subtrees until both responses are known."""


@dataclass
class _Division:
    """An infoset of the responder's plan that is divided into subtrees.

    Attributes
    ----------
    path
        The attempts that lead there.
    above
        The divided infoset before; None: this is the first.
    outlook
        The outlook of all attempts.
    planned
        The squares that the plan attempts, in the order in which their actions are noted.
    branches
        What is known after each of these attempts and results.
    others
        What is known of other attempts.
    missing
        Number of results that are awaited.
    """

    path: tuple[tuple[int, int], ...]
    above: _Division | None
    outlook: Outlook
    planned: list[int]
    branches: dict[tuple[int, int], Response] = field(default_factory=dict)
    others: dict[int, Response] | None = None
    missing: int = 0

    def total(self, square: int) -> float:
        """The value of an attempt of the plan."""
        after = sum(self.branches[square, placed].value for placed in (0, 1) if (square, placed) in self.branches)
        return float(self.outlook.payoffs[square]) + after

    @property
    def result(self) -> int:
        """Whether the last attempt was placed."""
        return self.path[-1][1] if self.path else 0


class ResponseSearch:
    """The search for one best response.

    Parameters
    ----------
    responder
        It faces both plans, see :meth:`Responder.face`.
    player, own
        The responder and their plan.

    Attributes
    ----------
    ready
        Subtrees that can be searched now; whoever takes one away gives what is found to :meth:`put`.
    response
        None until all subtrees are known.
    """

    def __init__(self, responder: Responder, player: int, own: SparsePlan) -> None:
        self._responder, self._player, self._own = responder, player, own
        self._sizes = np.zeros(int(own.counts[0]), np.int64)
        count_planned(own, self._sizes)
        self._least = max(LEAST_INFOSETS, int(self._sizes[0]) // PARTS)
        self._awaited: dict[Subtree, tuple[_Division, int, int] | None] = {}
        self.ready: list[Subtree] = []
        self.response: Response | None = None
        if self._sizes[0] > self._least:
            self._divide((), 0, None)
        else:
            self._await(Subtree(player, infoset=0), None)

    def put(self, subtree: Subtree, found: Response) -> None:
        """Take what was found in a subtree."""
        place = self._awaited.pop(subtree)
        if place is None:
            self._end(found)
            return
        division, square, placed = place
        self._arrive(division, square, placed, found)

    def _await(self, subtree: Subtree, place: tuple[_Division, int, int] | None) -> None:
        self._awaited[subtree] = place
        self.ready.append(subtree)

    def _divide(self, path: tuple[tuple[int, int], ...], infoset: int, above: _Division | None) -> None:
        outlook, own = self._responder.outlook(path), self._own
        allowed = [square for square in range(len(outlook.bounds)) if own.actions[infoset, square] >= 0]
        planned = [
            square
            for square in allowed
            if own.chances[own.actions[infoset, square]] > 0 and outlook.bounds[square] > NEVER
        ]
        division = _Division(path, above, outlook, sorted(planned, key=lambda square: -outlook.bounds[square]))
        branches = [
            (square, placed) for square in division.planned for placed in (0, 1) if outlook.goes_on[square, placed]
        ]
        division.missing = len(branches)
        for square, placed in branches:
            after = int(own.children[infoset, 2 * square + placed])
            longer = (*path, (square, placed))
            if after >= 0 and self._sizes[after] > self._least:
                self._divide(longer, after, division)
            else:
                self._await(Subtree(self._player, longer, after), (division, square, placed))
        if not branches:
            self._go_on(division)

    def _arrive(self, division: _Division, square: int, placed: int, found: Response) -> None:
        """Note what was found after an attempt of the plan, or for another attempt: `placed` is then -1."""
        if placed < 0:
            assert division.others is not None
            division.others[square] = found
        else:
            division.branches[square, placed] = found
        division.missing -= 1
        if not division.missing:
            self._go_on(division)

    def _go_on(self, division: _Division) -> None:
        """Go on once the attempts of the plan are known, or all attempts."""
        best = max((division.total(square) for square in division.planned), default=NEVER)
        if division.others is None:
            division.others = {}
            bounds = division.outlook.bounds
            others = [int(k) for k in np.flatnonzero(bounds > best + LEAST) if k not in division.planned]
            division.missing = len(others)
            for other in others:
                self._await(Subtree(self._player, division.path, -1, 1 << other, best), (division, other, -1))
            if others:
                return
        whole = _join_division(division, best)
        if division.above is None:
            self._end(whole)
        else:
            self._arrive(division.above, *division.path[-1], whole)

    def _end(self, found: Response) -> None:
        self.response = replace(found, value=found.value + self._responder.payoff)


def _join_division(division: _Division, best: float) -> Response:
    """The response from a divided infoset on."""
    parts: list[tuple[NDArray[Any], ...]] = []
    size, visited, others = 0, 1, division.others or {}
    for square in division.planned:
        mark = size
        parts.append((np.array([-1], np.int32), np.array([division.result], np.int8), np.array([square], np.int8)))
        size += 1
        for placed in (0, 1):
            if after := division.branches.get((square, placed)):
                parts.append(_shift_steps(after.steps, mark, size))
                size += len(after.steps.parents)
                visited += after.visited
    winner = None
    for square in sorted(others, key=lambda other: (-division.outlook.bounds[other], other)):
        visited += others[square].visited - 1  # the infoset is counted already
        if others[square].value > best + LEAST:
            best, winner = others[square].value, others[square]
    if winner:
        parts.append(_shift_steps(winner.steps, -1, size))
    parents, results, squares = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    counts = np.array([len(parents), visited, 0])
    return Response(
        best, Steps(parents, results, squares, counts, np.empty((0, 2, len(division.outlook.bounds)))), visited
    )


def _shift_steps(steps: Steps, parent: int, by: int) -> tuple[NDArray[Any], ...]:
    """Actions that come after others; the first ones after `parent`."""
    parents = np.where(steps.parents < 0, parent, steps.parents + by).astype(np.int32)
    return parents, steps.results, steps.squares


@bare_kernel
def count_planned(plan: Any, sizes: Any) -> None:
    """Count the infosets to which a plan comes, from each of them on: int64 (infosets,)."""
    for infoset in range(plan.counts[0]):
        before = plan.before[infoset]
        if plan.choices[infoset] and (before < 0 or (plan.chances[before] > 0 and sizes[plan.infosets[before]])):
            sizes[infoset] = 1
    for infoset in range(plan.counts[0] - 1, 0, -1):
        if sizes[infoset]:
            sizes[plan.infosets[plan.before[infoset]]] += sizes[infoset]


class ThreadRunner:
    """Searches subtrees in this process, each player's on a thread of their own if there are two.

    Parameters
    ----------
    responders
        Both players' responders.
    threads
        With 2 or more, both players' subtrees are searched at the same time.
    """

    def __init__(self, responders: list[Responder], threads: int) -> None:
        self._responders, self._pool = responders, ThreadPoolExecutor(2) if threads > 1 else None

    def run(self, plans: Plans, searches: tuple[ResponseSearch, ResponseSearch]) -> None:
        """Search subtrees until both responses are known."""
        for _ in (self._pool.map if self._pool else map)(self._finish, searches, self._responders):
            pass

    def _finish(self, search: ResponseSearch, responder: Responder) -> None:
        while search.ready:
            subtree = search.ready.pop()
            search.put(subtree, responder.search(subtree))


def load_kernels(rules: RuleTables) -> None:
    """Compile all kernels of a search, or load them: a process takes more memory for that than for a small game."""
    plan = first_infoset(rules, 0), first_infoset(rules, 1)
    responder = Responder(rules, 0, 0.001)
    responder.face(plan[1], plan[0])
    responder.outlook(())
    responder.search(Subtree(0, infoset=0, need=1.0))
    count_planned(plan[0], np.zeros(1, np.int64))
