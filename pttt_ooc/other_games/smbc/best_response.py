"""Best responses to the strategies of a whole match, exactly.

Against a fixed strategy, the match is a Markov decision problem: its states are the scores and the first player, and in
each of them the responder chooses a strategy for the tree of a round.  Only scores and their mirror image can form
a cycle, with exchanged roles.  So policy iteration on two states at a time, from the end of the
match backwards, gives the exact values (Howard 1960, Dynamic programming and Markov processes).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pttt_ooc.errors import GameError
from pttt_ooc.other_games.smbc.match import Scores, both_ways, following, levels, settle
from pttt_ooc.other_games.smbc.round import (
    Floats,
    Payoffs,
    RoundProfile,
    best_response,
    combine_strategies,
    outcomes,
    scoring,
)
from pttt_ooc.other_games.smbc.tree import RoundTree

_MOST_STEPS = 1000  # policy iteration takes few
ACCURACY = 1e-14  # policies that differ by less are equally good: rounding errors are as large

ResponseState = tuple[Scores, int]
"""Scores ``(a, b)`` of the first and second player, and whether the responder is the first (0) or second (1)."""


@dataclass(frozen=True)
class MatchResponse:
    """The best response to given strategies of a match.

    Attributes
    ----------
    values
        For each state: the responder's value, between 1 (the match is won) and -1.
    tables
        For each state: probabilities of the outcomes of its round, see
        :func:`pttt_ooc.other_games.smbc.round.outcomes`.
    steps
        The most steps of policy iteration in any pair of states.
    """

    values: dict[ResponseState, float]
    tables: dict[ResponseState, Floats]
    steps: int


def profile_values(tree: RoundTree, winning_score: int, profiles: Mapping[Scores, RoundProfile]) -> dict[Scores, float]:
    """Exact values of all scores for the first player, if both players use given strategies."""
    values: dict[Scores, float] = {}
    for level in levels(winning_score):
        for pair in level:
            chances = {scores: scoring(outcomes(tree, profiles[scores])) for scores in both_ways(pair)}
            values.update(settle(chances, winning_score, values))
    return values


def respond(tree: RoundTree, winning_score: int, profiles: Mapping[Scores, RoundProfile]) -> MatchResponse:
    """The best response to the strategies of a match, for both sides.

    Raises
    ------
    GameError
        If the match need not end, or policy iteration does not end.
    """
    found = MatchResponse({}, {}, 0)
    most = 0
    for level in levels(winning_score):
        for pair in level:
            for circle in _circles(pair):
                most = max(most, _solve(tree, winning_score, profiles, circle, found))
    return MatchResponse(found.values, found.tables, most)


def _circles(pair: Scores) -> list[list[ResponseState]]:
    """The states of scores and of their mirror image, grouped into cycles."""
    a, b = pair
    mirrored = [[((a, b), 0), ((b, a), 1)], [((a, b), 1), ((b, a), 0)]]
    return mirrored[:1] if a == b else mirrored  # at level scores, both are the same


def _solve(
    tree: RoundTree,
    winning_score: int,
    profiles: Mapping[Scores, RoundProfile],
    states: list[ResponseState],
    found: MatchResponse,
) -> int:
    """Add values and tables of some states to those found; return the number of steps."""
    tables = {state: outcomes(tree, profiles[state[0]]) for state in states}
    values = _values_of(winning_score, tables, found.values)
    for step in range(1, _MOST_STEPS):
        known = {**found.values, **values}
        better = False
        for state in states:
            scores, player = state
            response = best_response(tree, player, _payoffs(state, winning_score, known), profiles[scores])
            if response.value > values[state] + ACCURACY:
                better = True
                strategies = (response.best, profiles[scores].strategy)
                tables[state] = outcomes(
                    tree, combine_strategies(tree, *(strategies if player == 0 else strategies[::-1]))
                )
        if not better:
            found.values.update(values)
            found.tables.update(tables)
            return step
        values = _values_of(winning_score, tables, found.values)
    raise GameError("Policy iteration does not end; this is a bug.")


def _payoffs(state: ResponseState, winning_score: int, known: Mapping[ResponseState, float]) -> Payoffs:
    """Values of a round's outcomes for its first player, from the responder's known values of later states."""
    scores, player = state
    sign = 1 if player == 0 else -1
    return Payoffs(
        *(
            way.value if way.scores is None else sign * known[way.scores, 1 - player]
            for way in following(scores, winning_score)
        )
    )


def _values_of(
    winning_score: int, tables: Mapping[ResponseState, Floats], later: Mapping[ResponseState, float]
) -> dict[ResponseState, float]:
    """The responder's values of states with given outcomes of rounds: the solution of linear equations."""
    states = list(tables)
    matrix, right = np.eye(len(states)), np.zeros(len(states))
    for row, state in enumerate(states):
        scores, player = state
        for chance, way in zip(scoring(tables[state]), following(scores, winning_score), strict=True):
            if way.scores is None:
                right[row] += chance * (way.value if player == 0 else -way.value)
            elif (way.scores, 1 - player) in tables:
                matrix[row, states.index((way.scores, 1 - player))] -= chance
            else:
                right[row] += chance * later[way.scores, 1 - player]
    try:
        solved = np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        raise GameError("A match against this strategy need not end, so it has no best response.") from None
    return dict(zip(states, solved.tolist(), strict=True))
