"""What the best responses to a solved match show: exploitability, and where most of it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from pttt_ooc.smbc.match import Scores, following, payoffs
from pttt_ooc.smbc.response import MatchResponse, State, profile_values, respond
from pttt_ooc.smbc.round import PAIRS, best_response, outcomes, scoring
from pttt_ooc.smbc.rules import GOALS
from pttt_ooc.smbc.solve import Solution, name_of


def best_responses(solution: Solution) -> dict[str, Any]:
    """Values and best responses of a match and of each of its rounds, as JSON values.

    The losses of the whole match are told by score, role and goal of the player who is exploited: how often the score
    comes up against the best response, times what the player then loses in this round.  Their sum is what the best
    responses gain together, exactly (Kakade and Langford 2002, lemma 6.1).
    """
    n, tree = solution.settings.winning_score, solution.tree
    values = profile_values(tree, n, solution.profiles)
    response = respond(tree, n, solution.profiles)
    rounds = {}
    for scores, profile in solution.profiles.items():
        worth = payoffs(scores, n, values)
        first, second = (best_response(tree, player, worth, profile).value for player in (0, 1))
        rounds[name_of(scores)] = {
            "value": values[scores],
            "best_response_first": first,
            "best_response_second": second,
            "exploitability": first + second,
        }
    first, second = (response.values[(0, 0), player] for player in (0, 1))
    losses = _losses(solution, values, response)
    return {
        "value": values[0, 0],
        "second_player_wins": (1 - values[0, 0]) / 2,
        "best_response_first": first,
        "best_response_second": second,
        "exploitability": first + second,
        "rounds": rounds,
        "losses": losses,
        "worst_goal": _worst(losses, "goal"),
        "worst_scores": _worst(losses, "scores"),
    }


def _losses(solution: Solution, values: dict[Scores, float], response: MatchResponse) -> list[dict[str, Any]]:
    """What the exploited player loses by scores, role and goal, the most first."""
    n = solution.settings.winning_score
    found: dict[tuple[str, int, str], float] = {}
    for responder in (0, 1):
        for (scores, player), visits in expected_visits(n, response, ((0, 0), responder)).items():
            worth = payoffs(scores, n, values).table() / PAIRS
            usual = outcomes(solution.tree, solution.profiles[scores])
            gain = (response.tables[scores, player] - usual) * worth * (1 if player == 0 else -1)
            for goal, loss in zip(GOALS, gain.sum(axis=(0, 2) if player == 0 else (1, 2)), strict=True):
                key = (name_of(scores), 1 - player, goal)
                found[key] = found.get(key, 0.0) + visits * float(loss)
    most_first = sorted(found.items(), key=lambda item: -item[1])
    rows = [{"scores": s, "exploited": e, "goal": g, "loss": loss} for (s, e, g), loss in most_first]
    return rows


def _worst(losses: list[dict[str, Any]], key: str) -> str:
    sums: dict[str, float] = {}
    for row in losses:
        sums[row[key]] = sums.get(row[key], 0.0) + row["loss"]
    return max(sums, key=lambda name: sums[name])


def expected_visits(winning_score: int, response: MatchResponse, start: State) -> dict[State, float]:
    """How often each state comes up in a match between the best response and the strategies that it responds to."""
    states = list(response.tables)
    where = {state: row for row, state in enumerate(states)}
    matrix, right = np.eye(len(states)), np.zeros(len(states))
    right[where[start]] = 1
    for (scores, player), table in response.tables.items():
        for chance, way in zip(scoring(table), following(scores, winning_score), strict=True):
            if way.scores is not None:
                matrix[where[way.scores, 1 - player], where[scores, player]] -= chance
    visits = np.linalg.solve(matrix, right)
    return dict(zip(states, visits.tolist(), strict=True))
