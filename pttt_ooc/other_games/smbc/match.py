"""The match: transitions between scores, and rounds solved backwards from the last scores.

Scores ``(a, b)`` are those of the round's first and second player.  In the next round they are exchanged.  The value of
scores is for the player who moves first: 1 for a won match, -1 for a lost one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.other_games.smbc.round import Payoffs, RoundProfile, Solver, best_response, outcomes, scoring
from pttt_ooc.other_games.smbc.settings import SolveSettings

Scores = tuple[int, int]
Row = dict[str, Any]


def levels(winning_score: int) -> Iterator[list[Scores]]:
    """All scores ``(a, b)`` with ``a >= b``, grouped by their sum, from the end of the match backwards.

    ``(a, b)`` and ``(b, a)`` are solved together, as each can follow the other.  Any other result increases the sum.
    """
    last = winning_score - 1
    for total in range(2 * last, -1, -1):
        yield [(a, total - a) for a in range(min(last, total), -1, -1) if a >= total - a]


def both_ways(scores: Scores) -> list[Scores]:
    """Scores and their mirror image; level scores only once."""
    a, b = scores
    return [(a, b)] if a == b else [(a, b), (b, a)]


def all_scores(winning_score: int) -> list[Scores]:
    """The scores of all rounds, from the end of the match backwards."""
    return [way for level in levels(winning_score) for pair in level for way in both_ways(pair)]


@dataclass(frozen=True)
class Following:
    """The transition after a round.

    Attributes
    ----------
    value
        The value for the round's first player, if the match is over; else 0.
    scores
        The scores of the next round, in which the other player moves first; None if the match is over.
    """

    value: float
    scores: Scores | None


def following(scores: Scores, winning_score: int) -> tuple[Following, Following, Following, Following]:
    """The transitions if neither, only the first, only the second, or both players score."""
    a, b = scores

    def after(mine: int, other: int) -> Following:
        if mine < winning_score and other < winning_score:
            return Following(0, (other, mine))
        if mine >= winning_score and other >= winning_score:
            return Following(0, (b, a))  # the round does not count
        return Following(1 if mine > other else -1, None)

    return after(a, b), after(a + 1, b), after(a, b + 1), after(a + 1, b + 1)


def payoffs(scores: Scores, winning_score: int, values: Mapping[Scores, float]) -> Payoffs:
    """The values of a round's outcomes, from the values of the next rounds."""
    ways = following(scores, winning_score)
    return Payoffs(*(way.value if way.scores is None else -values[way.scores] for way in ways))


def settle(
    chances: Mapping[Scores, NDArray[np.float64]], winning_score: int, values: Mapping[Scores, float]
) -> dict[Scores, float]:
    """Exact values of scores and their mirror image, for given outcomes of both rounds.

    Parameters
    ----------
    chances
        For each of the scores: probabilities that neither, only the first, only the second or both score.
    values
        The values of all later rounds.

    Returns
    -------
    The solution of the linear equations ``V(s) = sum of p * value``, in which ``V(s')`` of the mirror image can occur.
    """
    unknown = list(chances)
    matrix, right = np.eye(len(unknown)), np.zeros(len(unknown))
    for row, scores in enumerate(unknown):
        for chance, way in zip(chances[scores], following(scores, winning_score), strict=True):
            if way.scores is None:
                right[row] += chance * way.value
            elif way.scores in chances:
                matrix[row, unknown.index(way.scores)] += chance  # the next round's value has the opposite sign
            else:
                right[row] -= chance * values[way.scores]
    return dict(zip(unknown, np.linalg.solve(matrix, right).tolist(), strict=True))


@dataclass(frozen=True)
class Look:
    """The results of a check of a pair of rounds.

    Attributes
    ----------
    values
        Exact values of the scores with the average strategies.
    responses
        For each of the scores: the values of the first and of the second player's best response.
    profiles
        The average strategies.
    """

    values: dict[Scores, float]
    responses: dict[Scores, tuple[float, float]]
    profiles: dict[Scores, RoundProfile]

    def exploitability(self, scores: Scores) -> float:
        """What the two best responses to a round gain together."""
        return sum(self.responses[scores])

    @property
    def worst(self) -> float:
        """The larger exploitability."""
        return max(map(self.exploitability, self.responses))


REHEARSALS = (1e-2, 1e-4)
"""Exploitabilities at which the rounds restart, with the values found so far.

Regrets from iterations with wrong values of the outcomes fade slowly where the opponent has little reach.
"""

RESTS = 0.05
"""A round makes no iterations while its exploitability is below this fraction of the target."""


class PairSolver:
    """Solves the rounds of scores and of their mirror image together, as their values depend on each other.

    The values of the outcomes are those of the average strategies with the smallest exploitability so far.

    Parameters
    ----------
    solvers
        The solver of each of the scores.
    values
        The values of all later rounds.
    rows
        The results of earlier checks.
    """

    def __init__(
        self, settings: SolveSettings, solvers: Mapping[Scores, Solver], values: Mapping[Scores, float], rows: list[Row]
    ) -> None:
        self.settings, self.solvers, self.rows = settings, solvers, rows
        self.later = dict(values)
        self._set_payoffs()

    @property
    def iteration(self) -> int:
        """The iterations since the last restart, of the round that made more."""
        return max(solver.iteration for solver in self.solvers.values())

    @property
    def is_done(self) -> bool:
        """Whether the last check ended the solve."""
        if not self.rows:
            return False
        last = self.rows[-1]
        solved: bool = max(last["exploitabilities"]) <= self.settings.maximum_subgame_exploitability
        return solved or bool(last["iteration"] >= self.settings.max_iterations)

    def steps(self, workers: Executor) -> Iterator[Row]:
        """Iterate and check in turn until the rounds are solved; a row for each check."""
        while not self.is_done:
            if self.rows and self.rows[-1]["ends_rehearsal"] and self.iteration:
                for solver in self.solvers.values():
                    solver.restart()
            count = min(self.settings.check_exploitability_every, self.settings.max_iterations - self.iteration)
            for done in [workers.submit(solver.run, count) for solver in self._awake()]:
                done.result()
            self.rows.append(self._row(self.look()))
            self._set_payoffs()
            yield self.rows[-1]

    def _awake(self) -> list[Solver]:
        """The solvers that continue: at least one."""
        if not self.iteration:
            return list(self.solvers.values())
        enough = RESTS * self.settings.maximum_subgame_exploitability
        exploitabilities = zip(self.solvers.values(), self.rows[-1]["exploitabilities"], strict=True)
        return [solver for solver, exploitability in exploitabilities if exploitability > enough]

    def _row(self, looked: Look) -> Row:
        before: Row = self.rows[-1] if self.rows else {"rehearsal": 0, "known_at": math.inf, "ends_rehearsal": False}
        rehearsal: int = before["rehearsal"] + before["ends_rehearsal"]
        targets = [gap for gap in REHEARSALS if gap > self.settings.maximum_subgame_exploitability]
        better = looked.worst <= before["known_at"]
        return {
            "rehearsal": rehearsal,
            "iteration": self.iteration,
            "iterations": [solver.iteration for solver in self.solvers.values()],
            "values": list(looked.values.values()),
            "exploitabilities": [looked.exploitability(scores) for scores in self.solvers],
            "known": list(looked.values.values()) if better else before["known"],
            "known_at": looked.worst if better else before["known_at"],
            "ends_rehearsal": rehearsal < len(targets) and looked.worst <= targets[rehearsal],
        }

    def look(self) -> Look:
        """Exact values of the average strategies, and best responses to them, with these values for later rounds."""
        n = self.settings.winning_score
        profiles = {scores: solver.average() for scores, solver in self.solvers.items()}
        chances = {scores: scoring(outcomes(self.solvers[scores].tree, profiles[scores])) for scores in self.solvers}
        found = settle(chances, n, self.later)
        responses = {}
        for scores, solver in self.solvers.items():
            worth = payoffs(scores, n, {**self.later, **found})
            first, second = (best_response(solver.tree, i, worth, profiles[scores]).value for i in (0, 1))
            responses[scores] = (first, second)
        return Look(found, responses, profiles)

    def _set_payoffs(self) -> None:
        known = self.rows[-1]["known"] if self.rows else [0.0] * len(self.solvers)
        values = {**self.later, **dict(zip(self.solvers, known, strict=True))}
        for scores, solver in self.solvers.items():
            solver.payoffs = payoffs(scores, self.settings.winning_score, values)
