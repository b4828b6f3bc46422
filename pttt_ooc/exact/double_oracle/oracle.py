"""The lazy double oracle: rounds of a restricted game and two best responses, with a proven interval after each.

McMahan, Gordon, Blum 2003 for matrix games; Bosansky, Kiekintveld, Lisy, Pechoucek 2014 for sequences.  Plans and the
pure rule are complete strategies, so the values of the best responses to them enclose the value of the game from the
first round on.

While the interval is wide, regret matching solves the restricted game.  Then linear programs take over.  A small
restricted game is pruned before: what the averages do not use is left out, best responses bring back what is missing,
and programs end at vertices.  A large one is solved near the averages, where best responses find least.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from pttt_ooc.cfr.solving.highs_solver import UnsolvedError
from pttt_ooc.errors import PtttError
from pttt_ooc.exact.double_oracle.lazy_response import Responder, Response, allow_response
from pttt_ooc.exact.double_oracle.memory_budget import RunMemory
from pttt_ooc.exact.double_oracle.response_search import ResponseSearch, SubtreeRunner, ThreadRunner, load_kernels
from pttt_ooc.exact.double_oracle.restricted_histories import HistoryFinder, Plans, WonHistories
from pttt_ooc.exact.double_oracle.restricted_interior import inside_plans
from pttt_ooc.exact.double_oracle.restricted_matching import Floats, Matching
from pttt_ooc.exact.double_oracle.restricted_nearby import nearby_plans
from pttt_ooc.exact.double_oracle.restricted_program import TOLERANCE, CheckedProgram, Program, RestrictedProgram
from pttt_ooc.exact.double_oracle.rule_tables import rule_tables
from pttt_ooc.exact.double_oracle.sparse_plan import (
    PLAYED,
    SparsePlan,
    behave,
    first_infoset,
    play_part,
    played_part,
    prune_plan,
    trim_plan,
)
from pttt_ooc.exact.double_oracle.state_arrays import Arrays, fields_of, pack_fields, unpack_fields
from pttt_ooc.games.rules.game import Game
from pttt_ooc.types import Interval

PROGRAMS_FROM = 1e-3
"""The width of the interval from which linear programs take over from regret matching."""

DEAR, DEAR_FROM, DEAR_ROUNDS = 40_000, 2e-5, 24
"""A program for more than `DEAR` sequences takes long.  It takes over from the width `DEAR_FROM`, or if the interval
has not been halved in `DEAR_ROUNDS` rounds below :data:`PROGRAMS_FROM`."""

NEARBY_FROM = 100_000
"""A restricted game with more sequences is solved near the averages of regret matching."""

EXACT = 1e-12
"""A gap of this size is only rounding."""

TRIMMED = 1e-3
"""Share of the interval's width: actions of regret matching whose reach is smaller are left out."""

LARGE, MOSTLY_UNPLAYED, GROWN = 20_000, 3, 1.3
"""A restricted game with more than `LARGE` sequences, and `MOSTLY_UNPLAYED` times those that are played, drops the
others; after that, the limit is `GROWN` times the size that it had."""

_PART = 0.3  # of the interval: the gap that matching may leave
_MOST, _MOST_DEAR, _MOST_LARGE = 200, 600, 4000  # its iterations; fewer take longer where programs take minutes
_MOST_NEARBY = 1000  # before programs for plans near their averages
_DISTANCE, _FURTHER, _FURTHEST = 2.5, 10, 250  # of these plans, in units of the averages' gap
_LEAST = 1e-14  # reach that counts as none
_LEAST_CHANCE, _LEAST_CHANCE_DEAR = 1e-3, 1e-4  # of an action that survives pruning; averages of dear games are finer


class Solver(StrEnum):
    """What solves the restricted game.

    A small game goes on from `MATCHING` to `VERTICES`.  A large one goes on to `NEARBY`, further and further away from
    the averages, and from there to the next one whenever responses have nothing new and gain something.  Where an
    interior point method fails, `VERTICES` follow.
    """

    MATCHING = "regret matching"
    NEARBY = "interior point method near the averages, then projected"
    FACE = "interior point method, then projected"
    WHOLE_FACE = "the same without presolve"
    VERTICES = "simplex method"


@dataclass(frozen=True)
class Round:
    """What is known after a round.

    Attributes
    ----------
    number
        From 1.
    lower, upper
        What the plans of players 0 and 1 guarantee: the value of the game for player 0 is between them.
    best_lower, best_upper
        The largest lower and the smallest upper end of all rounds.
    sequences, support
        Numbers of both players' sequences in the restricted game, and of those with reach.
    histories
        Number of won histories of the restricted game.
    visited
        Numbers of infosets that the best responses visited.
    added
        Number of new sequences.
    exact
        Whether the plans are an equilibrium of the restricted game, exact to rounding.
    program_seconds, response_seconds
        Seconds of this round, for the restricted game and for best responses.
    """

    number: int
    lower: float
    upper: float
    best_lower: float
    best_upper: float
    sequences: tuple[int, int]
    support: tuple[int, int]
    histories: int
    visited: tuple[int, int]
    added: int
    exact: bool
    program_seconds: float
    response_seconds: float

    @property
    def nashconv(self) -> float:
        """What both players together can gain against these plans; rounding does not make it negative."""
        return max(self.upper - self.lower, 0.0)

    @property
    def interval(self) -> Interval:
        """Where the value is, as all rounds prove; at an equilibrium, rounding may exchange the best ends."""
        return min(self.best_lower, self.best_upper), max(self.best_lower, self.best_upper)

    @property
    def settled(self) -> bool:
        """Whether the best responses to an equilibrium of the restricted game had nothing new."""
        return self.exact and not self.added

    def is_equilibrium(self, gap: float = EXACT) -> bool:
        """Whether the rounds can end: nothing is new, or both players together gain at most `gap`."""
        return self.settled or self.nashconv <= gap


class DoubleOracle:
    """The rounds of one game.

    Parameters
    ----------
    game
        The rules; nothing is listed.
    memo_mb
        Megabytes for the bounds of both players' best responses, at most.
    threads
        With 2 or more, both best responses are found at the same time; the result is the same, bit by bit.
    memory_mb
        Megabytes for the whole process; bounds get what the rest leaves.
    runner
        Searches the subtrees of best responses elsewhere; None: here.

    Raises
    ------
    MemoryBudgetError
        If the first round does not fit.

    Examples
    --------
    >>> from pttt_ooc.games.rules.catalogue import named_game
    >>> oracle = DoubleOracle(named_game("mini-2x3k2-abrupt"))
    >>> while not (last := oracle.round()).settled:
    ...     pass
    >>> round(last.lower, 6), last.nashconv < 1e-12
    (0.764706, True)
    """

    def __init__(
        self,
        game: Game,
        memo_mb: float = 96,
        threads: int = 1,
        memory_mb: float = math.inf,
        runner: SubtreeRunner | None = None,
    ) -> None:
        self.game, self.rules = game, rule_tables(game)
        self.plans: Plans = first_infoset(self.rules, 0), first_infoset(self.rules, 1)
        self._memory, self._memo_mb = RunMemory(game.name, self.rules, memory_mb), memo_mb
        memo_mb = min(memo_mb, self._memory.for_bounds(self.plans, 0, False))
        self._histories, self._matching = HistoryFinder(self.rules), Matching()
        self._program = RestrictedProgram()
        self._responders = [Responder(self.rules, p, memo_mb / 2) for p in (0, 1)]
        load_kernels(self.rules)
        self._runner = runner or ThreadRunner(self._responders, threads)
        self._large = LARGE
        self._solver, self._best = Solver.MATCHING, self.plans
        self._distance = _DISTANCE
        self._halved = 2 * PROGRAMS_FROM, 0  # the width when it was last halved, and the round
        self.last: Round | None = None

    def round(self, gap: float = EXACT) -> Round:
        """Solve the restricted game, respond to its plans, and allow the responses' actions.

        Parameters
        ----------
        gap
            Where the best plans of all rounds, each of a round of its own, lose no more than this together, they become
            the plans of this round.

        Raises
        ------
        PtttError
            If a linear program cannot be solved, or if best responses gain without a new action.
        MemoryBudgetError
            If the round does not fit.  It may then be half done: go on from a :meth:`state` before it.
        """
        begin, before = time.perf_counter(), self.last
        # The restricted game, and the players' behaviour, without what has hardly any reach.
        self.plans, won = self._histories.find_won(self.plans)
        width, earlier = before.nashconv if before else 2.0, self._solver
        if before:
            self._solver = self._next_solver(before)
        if self._solver is Solver.VERTICES and earlier is Solver.MATCHING:
            self._limit_bounds(won, False)
            won = self._prune(won, width)
        self._limit_bounds(won, self._solver is not Solver.MATCHING)
        reach, least, exact = self._solve(won, width)
        for plan, own in zip(self.plans, reach, strict=True):
            behave(plan, own, least)
        middle = time.perf_counter()
        sequences = int(self.plans[0].counts[1]), int(self.plans[1].counts[1])
        if self._solver is Solver.MATCHING:
            self._drop_unplayed()
        # Best responses in the whole game, whose actions are allowed from now on.
        played = played_part(self.rules, 0, self.plans[0]), played_part(self.rules, 1, self.plans[1])
        first, second = self._responses(played)
        grown, added = zip(
            *(allow_response(self.rules, self.plans[p], response) for p, response in enumerate((first, second))),
            strict=True,
        )
        self.plans = grown[0], grown[1]
        # What the responses get bounds the value from both sides; the best ends of all rounds stay.
        lower, upper = -second.value, first.value
        if before is None or lower > before.best_lower:
            self._best = played[0], self._best[1]
        if before is None or upper < before.best_upper:
            self._best = self._best[0], played[1]
        self.last = Round(
            number=before.number + 1 if before else 1,
            lower=lower,
            upper=upper,
            best_lower=max(lower, before.best_lower) if before else lower,
            best_upper=min(upper, before.best_upper) if before else upper,
            sequences=sequences,
            support=(int((reach[0] > _LEAST).sum()), int((reach[1] > _LEAST).sum())),
            histories=len(won.payoffs),
            visited=(first.visited, second.visited),
            added=sum(added),
            exact=exact,
            program_seconds=middle - begin,
            response_seconds=time.perf_counter() - middle,
        )
        # The last halving of the gap decides how long a large game waits for programs.
        if self.last.nashconv <= self._halved[0] / 2:
            self._halved = self.last.nashconv, self.last.number
        self._join_best(gap)
        # A gain without a new action cannot be more than rounding.
        if self.last.settled and self.last.nashconv > TOLERANCE:
            raise PtttError(
                f"Game {self.game.name}: best responses gain {self.last.nashconv:.1e} over an equilibrium of the "
                "restricted game, but have no new action. That is a mistake of this program; please report it."
            )
        return self.last

    def rounds(self, gap: float = EXACT) -> Iterator[Round]:
        """Play rounds until there is an equilibrium up to `gap`; none if there is one. Errors as :meth:`round`."""
        while not (self.last and self.last.is_equilibrium(gap)):
            yield self.round(gap)

    def _next_solver(self, before: Round) -> Solver:
        """What solves the next restricted game."""
        if self._solver is Solver.MATCHING:
            size = sum(before.sequences)
            dear = size > DEAR and before.number - self._halved[1] < DEAR_ROUNDS
            width = before.best_upper - before.best_lower  # plans of one round may be far worse than the best ones
            if before.added and (width > DEAR_FROM if dear else before.nashconv > PROGRAMS_FROM):
                return Solver.MATCHING
            return Solver.NEARBY if size > NEARBY_FROM else Solver.VERTICES
        if before.added or self._solver is Solver.VERTICES:
            return self._solver
        if self._solver is Solver.NEARBY and not before.exact and self._distance < _FURTHEST:
            self._distance *= _FURTHER  # no equilibrium of the restricted game is as near
            return self._solver
        solvers = list(Solver)
        return solvers[solvers.index(self._solver) + 1]

    def _solve(self, won: WonHistories, width: float) -> tuple[Sequence[Floats], float, bool]:
        """Solve the restricted game: both plans, the reach up to which they are trimmed, and whether they are exact."""
        if self._solver is Solver.MATCHING:
            large = sum(int(plan.counts[1]) for plan in self.plans) > NEARBY_FROM
            most = _MOST if width > PROGRAMS_FROM else _MOST_LARGE if large else _MOST_DEAR
            reach, _ = self._matching.solve(self.plans, won, _PART * width, most)
            return reach, max(_LEAST, TRIMMED * width), False
        if self._solver is Solver.VERTICES:
            return self._program.exact_plans(self.plans, won), _LEAST, True
        try:
            if self._solver is Solver.NEARBY:
                averages, _ = self._matching.solve(self.plans, won, 0.0, _MOST_NEARBY)
                inside = nearby_plans(self.plans, won, averages, self._distance)
            else:
                inside = inside_plans(self.plans, won, self._solver is Solver.FACE)
        except UnsolvedError:
            self._solver = Solver.VERTICES
            return self._solve(won, width)
        return inside.reach, _LEAST, inside.loss <= EXACT

    def _join_best(self, gap: float) -> None:
        """End with the best plans of all rounds if they lose at most `gap`, each of a round of its own.

        Where an exact solution is a vertex, a few more rounds lead to one that is an equilibrium by itself.
        """
        last = self.last
        assert last
        vertex = self._solver is Solver.VERTICES and gap <= EXACT
        if vertex or last.is_equilibrium(gap) or last.best_upper - last.best_lower > gap:
            return
        first, second = (play_part(self.rules, plan, part) for plan, part in zip(self.plans, self._best, strict=True))
        self.plans, support = (first, second), (int((first.chances > 0).sum()), int((second.chances > 0).sum()))
        self.last = replace(last, lower=last.best_lower, upper=last.best_upper, support=support)

    def _limit_bounds(self, won: WonHistories, exact: bool) -> None:
        """Limit tables of bounds to leave the memory that the restricted game takes."""
        megabytes = min(self._memo_mb, self._memory.for_bounds(self.plans, len(won.payoffs), exact, self._best))
        for responder in self._responders:
            responder.limit(megabytes / 2)

    def end(self) -> None:
        """Free the bounds of best responses; no round can follow."""
        self._responders.clear()

    def _responses(self, played: Plans) -> tuple[Response, Response]:
        """Both players' best responses to what the plans play."""
        for player, responder in enumerate(self._responders):
            responder.face(played[1 - player], played[player])
        first, second = (ResponseSearch(self._responders[p], p, played[p]) for p in (0, 1))
        self._runner.run(played, (first, second))
        for responder in self._responders:
            responder.leave()
        assert first.response and second.response
        return first.response, second.response

    def state(self) -> Arrays:
        """All that the next rounds depend on, in arrays by name."""
        arrays = pack_fields("histories", self._histories.state()) | pack_fields("matching", self._matching.state())
        arrays |= pack_fields(
            "sizes", {"large": self._large, "distance": self._distance, "halved": self._halved, "solver": self._solver}
        )
        for player, plan in enumerate(self.plans):
            arrays |= pack_fields(f"plans/{player}", trim_plan(plan)._asdict())
            arrays |= pack_fields(f"best/{player}", trim_plan(self._best[player])._asdict())
        if self.last:
            timeless = replace(self.last, program_seconds=0.0, response_seconds=0.0)  # equal runs have equal states
            arrays |= pack_fields("last", fields_of(timeless))
        if checked := self._program.last:
            arrays |= pack_fields("program", fields_of(checked.program))
            first, second = checked.reach
            arrays |= pack_fields("basis", {"columns": checked.columns, "rows": checked.rows, "0": first, "1": second})
        return arrays

    def restore(self, arrays: Arrays) -> None:
        """Go on from a state of the same game, with the same bits."""
        self._histories.restore(unpack_fields("histories", arrays))
        self._matching.restore(unpack_fields("matching", arrays))
        sizes = unpack_fields("sizes", arrays)
        self._large, self._distance, (width, number) = sizes["large"], sizes["distance"], sizes["halved"]
        self._halved, self._solver = (width, number), Solver(sizes["solver"])
        self.plans, self._best = (
            (SparsePlan(**unpack_fields(f"{name}/0", arrays)), SparsePlan(**unpack_fields(f"{name}/1", arrays)))
            for name in ("plans", "best")
        )
        kept = unpack_fields("last", arrays)
        last: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in kept.items()}
        self.last = Round(**last) if last else None
        if basis := unpack_fields("basis", arrays):
            program = Program(**unpack_fields("program", arrays))
            reach = basis["0"], basis["1"]
            self._program.last = CheckedProgram(program, basis["columns"], basis["rows"], reach)

    @property
    def checked_program(self) -> CheckedProgram | None:
        """The last linear program, its basis and its plans; None before the first."""
        return self._program.last

    @property
    def is_inside(self) -> bool:
        """Whether the last plans are inside of the optimal face of the restricted game, and no vertex."""
        return self._solver in (Solver.NEARBY, Solver.FACE, Solver.WHOLE_FACE)

    def _drop_unplayed(self) -> None:
        """Leave out what plans do not play, if that is most of a large restricted game; responses may bring it back.

        The game has to be larger each time, so this ends.
        """
        size = sum(int(plan.counts[1]) for plan in self.plans)
        played = sum(int((plan.chances[: plan.counts[1]] > 0).sum()) for plan in self.plans)
        if size <= max(self._large, MOSTLY_UNPLAYED * played):
            return
        self._large = int(GROWN * size)
        self._keep_likely(PLAYED)

    def _prune(self, won: WonHistories, width: float) -> WonHistories:
        """Leave out what the averages of regret matching do not use; returns the won histories that are left."""
        reach, _ = self._matching.solve(self.plans, won, _PART * width, 2 * _MOST)
        for plan, own in zip(self.plans, reach, strict=True):
            behave(plan, own, _LEAST)
        dear = sum(int(plan.counts[1]) for plan in self.plans) > DEAR
        self._keep_likely(_LEAST_CHANCE_DEAR if dear else _LEAST_CHANCE)
        self.plans, won = self._histories.find_won(self.plans)
        return won

    def _keep_likely(self, least: float) -> None:
        """Leave out of the restricted game the actions that the plans play with a chance below `least`."""
        smaller = []
        for player, plan in enumerate(self.plans):
            kept, sequences = prune_plan(self.rules, player, plan, least)
            if self._solver in (Solver.MATCHING, Solver.VERTICES):  # pruned before the first vertex
                self._matching.keep(player, sequences)
            smaller.append(trim_plan(kept))
        self._histories.forget()
        self.plans = smaller[0], smaller[1]
