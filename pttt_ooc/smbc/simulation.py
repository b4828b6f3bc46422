"""Matches between two players of a solution, played move by move with a random generator."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pttt_ooc.smbc import kernels
from pttt_ooc.smbc.best_response import profile_values
from pttt_ooc.smbc.match import Scores
from pttt_ooc.smbc.solve import MatchSolution, name_of


@dataclass(frozen=True)
class Simulated:
    """What simulated matches show of the matches in which some scores came up.

    Attributes
    ----------
    matches
        In which the scores came up.
    won
        How many of them the player won who moved first when the scores came up first.
    rounds
        That were played at the scores.
    expected
        The exact probability of such a win.
    """

    matches: int
    won: int
    rounds: int
    expected: float

    @property
    def standard_errors(self) -> float:
        """By how many standard errors the share of won matches is off."""
        error = math.sqrt(self.expected * (1 - self.expected) / self.matches)
        return (self.won / self.matches - self.expected) / error


def simulate(solution: MatchSolution, matches: int, seed: int) -> dict[Scores, Simulated]:
    """Play matches from 0-0; for all scores that came up, in the order of the solution."""
    n, tree = solution.settings.winning_score, solution.tree
    strategies = np.empty((n, n, tree.nodes, 3))
    for scores, profile in solution.profiles.items():
        strategies[scores] = profile.strategy
    found, visited = np.empty((3, n, n), np.int64), np.empty((n, n), np.int64)
    kernels.simulate(tree.shape, strategies, n, matches, seed, visited, found)
    values = profile_values(tree, n, solution.profiles)
    simulated = {}
    for scores in solution.profiles:
        came_up, won, rounds = (int(count) for count in found[(slice(None), *scores)])
        if came_up:
            simulated[scores] = Simulated(came_up, won, rounds, (1 + values[scores]) / 2)
    return simulated


def as_json(found: dict[Scores, Simulated], seed: int) -> dict[str, Any]:
    """What was found, as JSON values."""
    return {
        "matches": found[0, 0].matches,
        "seed": seed,
        "rounds_in_a_match": sum(each.rounds for each in found.values()) / found[0, 0].matches,
        "scores": {
            name_of(scores): {
                "matches": each.matches,
                "won": each.won / each.matches,
                "expected": each.expected,
                "standard_errors": each.standard_errors,
            }
            for scores, each in found.items()
        },
    }
