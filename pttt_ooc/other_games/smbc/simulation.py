"""Simulated matches of a solution against itself, with random moves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pttt_ooc.other_games.smbc import kernels
from pttt_ooc.other_games.smbc.best_response import profile_values
from pttt_ooc.other_games.smbc.match import Scores
from pttt_ooc.other_games.smbc.solve import MatchSolution, name_of


@dataclass(frozen=True)
class Simulated:
    """Results of simulated matches in which some scores occurred.

    Attributes
    ----------
    matches
        The number of matches with the scores.
    won
        How many of them were won by the player who moved first at the first occurrence of the scores.
    rounds
        The number of rounds at the scores.
    expected
        The exact probability of such a win.
    """

    matches: int
    won: int
    rounds: int
    expected: float

    @property
    def standard_errors(self) -> float:
        """The error of the share of won matches, in standard errors."""
        error = math.sqrt(self.expected * (1 - self.expected) / self.matches)
        return (self.won / self.matches - self.expected) / error


def simulate(solution: MatchSolution, matches: int, seed: int) -> dict[Scores, Simulated]:
    """Play matches from 0-0; results for all scores that occurred, in the order of the solution."""
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


def simulation_as_json(results: dict[Scores, Simulated], seed: int) -> dict[str, Any]:
    """The results as JSON values."""
    return {
        "matches": results[0, 0].matches,
        "seed": seed,
        "rounds_in_a_match": sum(each.rounds for each in results.values()) / results[0, 0].matches,
        "scores": {
            name_of(scores): {
                "matches": each.matches,
                "won": each.won / each.matches,
                "expected": each.expected,
                "standard_errors": each.standard_errors,
            }
            for scores, each in results.items()
        },
    }
