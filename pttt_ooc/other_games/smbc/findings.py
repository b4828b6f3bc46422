"""Analysis of a solved match by best responses: exploitability, and where it is greatest."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from pttt_ooc.errors import ConfigError
from pttt_ooc.other_games.smbc.best_response import MatchResponse, ResponseState, profile_values, respond
from pttt_ooc.other_games.smbc.goals import Equilibria, Range, by_goals, equilibria
from pttt_ooc.other_games.smbc.match import Scores, all_scores, following, payoffs
from pttt_ooc.other_games.smbc.round import PAIRS, Payoffs, RoundProfile, best_response, fresh, outcomes, scoring
from pttt_ooc.other_games.smbc.rules import GOALS
from pttt_ooc.other_games.smbc.settings import SolveSettings
from pttt_ooc.other_games.smbc.solve import MatchSolution, name_of

TOLD = 1e-7
"""Narrower ranges are shown as one number: linear programs are not more accurate."""


def best_responses(solution: MatchSolution) -> dict[str, Any]:
    """Values and best responses of a match and of each of its rounds, as JSON values.

    The losses of the whole match are listed by scores, role of the exploited player, and goal of the responder: how
    often the scores occur against the best response, times the loss in this round to a responder with this goal. Their
    sum is exactly what both best responses gain (Kakade and Langford 2002, lemma 6.1). Losses by the exploited player's
    goal would have both signs, as the responder does not know it.
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


def score_numbers(text: str | None, winning_score: int) -> Scores | None:
    """Scores from text, ``A-B``.

    Raises
    ------
    ConfigError
        If the match has no round with these scores.
    """
    if text is None:
        return None
    known = {name_of(scores): scores for scores in all_scores(winning_score)}
    if text not in known:
        raise ConfigError(
            f"There is no round at scores {text!r}; write them as A-B, each from 0 to {winning_score - 1}."
        )
    return known[text]


def goals_of_round(solution: MatchSolution, scores: Scores | None, all_equilibria: bool) -> dict[str, Any]:
    """Values of a round by the goals of both players, as JSON values.

    Parameters
    ----------
    scores
        The scores of the round; None: a round as a game of its own, which is solved now.
    all_equilibria
        Whether to find ranges in all equilibria of the round.
    """
    tree = solution.tree
    if scores is None:
        worth = Payoffs()
        solver = fresh(tree, SolveSettings(algorithm="hs-pcfr+", fill_board=solution.settings.fill_board), worth)
        solver.run(400)
        profile = solver.average()
    else:
        worth = payoffs(scores, solution.settings.winning_score, profile_values(tree, *_match_of(solution)))
        profile = solution.profiles[scores]
    table = by_goals(tree, profile, worth)
    found: dict[str, Any] = {
        "scores": name_of(scores) if scores else None,
        "goals": list(GOALS),
        "value": float(table.mean()),
        "entries": table.tolist(),
        "rows": table.mean(axis=1).tolist(),
        "columns": table.mean(axis=0).tolist(),
    }
    if all_equilibria:
        ranges = equilibria(tree, worth)
        found["equilibria"] = asdict(ranges)
        found["sentences"] = _sentences(ranges)
    return found


def _match_of(solution: MatchSolution) -> tuple[int, dict[Scores, RoundProfile]]:
    return solution.settings.winning_score, solution.profiles


def format_signed(number: float) -> str:
    """A number with its sign and seven decimals; zero is positive."""
    return f"{round(number, 7) + 0.0:+.7f}"


def _sentences(ranges: Equilibria) -> list[str]:
    """Sentences about all equilibria."""

    def sentence(what: str, interval: Range) -> str:
        if interval.most - interval.least < TOLD:
            return f"{what} the round is worth {format_signed((interval.least + interval.most) / 2)}."
        return f"{what} the round is worth from {format_signed(interval.least)} to {format_signed(interval.most)}."

    lines = [sentence(f"If the first player is to {goal},", row) for goal, row in zip(GOALS, ranges.rows, strict=True)]
    lines += [
        sentence(f"If the second player is to {goal},", column)
        for goal, column in zip(GOALS, ranges.columns, strict=True)
    ]
    for goal, row in zip(GOALS, ranges.entries, strict=True):
        for other, entry in zip(GOALS, row, strict=True):
            lines.append(sentence(f"If the first is to {goal} and the second is to {other},", entry))
    return lines


def _losses(solution: MatchSolution, values: dict[Scores, float], response: MatchResponse) -> list[dict[str, Any]]:
    """Losses by scores, role of the exploited player and goal of the responder, the greatest first."""
    n = solution.settings.winning_score
    found: dict[tuple[str, int, str], float] = {}
    for responder in (0, 1):
        for (scores, player), visits in expected_visits(n, response, ((0, 0), responder)).items():
            worth = payoffs(scores, n, values).table() / PAIRS
            usual = outcomes(solution.tree, solution.profiles[scores])
            gain = (response.tables[scores, player] - usual) * worth * (1 if player == 0 else -1)
            for goal, loss in zip(GOALS, gain.sum(axis=(1, 2) if player == 0 else (0, 2)), strict=True):
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


def expected_visits(winning_score: int, response: MatchResponse, start: ResponseState) -> dict[ResponseState, float]:
    """The expected number of visits of each state, in a match of the best response against the strategies."""
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
