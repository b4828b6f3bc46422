"""Studies of a solution: losses of pure strategies, and bonuses for small moves on one round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.other_games.smbc.best_response import profile_values, respond
from pttt_ooc.other_games.smbc.match import Scores, payoffs
from pttt_ooc.other_games.smbc.round import Floats, Payoffs, RoundProfile, best_response, fresh, profile_of
from pttt_ooc.other_games.smbc.settings import SolveSettings
from pttt_ooc.other_games.smbc.solve import MatchSolution, name_of
from pttt_ooc.other_games.smbc.tree import RoundTree

SMALL_MOVES = ((0.0, 0.0), (1e-3, 0.0), (1e-2, 0.0), (1e-1, 0.0), (1e-2, 1e-2), (1e-1, 1e-2))
"""Bonuses for moves further up and left, and the fraction that each iteration removes."""

PURE = 1e-6
"""A round has pure optimal strategies, within the accuracy of a solution, if a rounding loses less."""

RARE = 1e-3
"""Less likely moves and infosets do not count as mixing."""


def studies(solution: MatchSolution, iterations: int, draws: int, seed: int) -> dict[str, Any]:
    """All studies, as JSON values; bonuses are tested on one round as a game of its own, with discounted CFR."""
    discounted = SolveSettings(algorithm="dcfr", fill_board=solution.settings.fill_board)
    return {
        "rounding": roundings(solution, draws, seed),
        "small_moves": small_moves(solution.tree, Payoffs(), discounted, iterations),
    }


def exploitability(tree: RoundTree, worth: Payoffs, profile: RoundProfile) -> float:
    """What the two best responses to a round gain together."""
    return sum(best_response(tree, player, worth, profile).value for player in (0, 1))


def small_moves(tree: RoundTree, worth: Payoffs, settings: SolveSettings, iterations: int) -> list[dict[str, Any]]:
    """Effects of bonuses for small moves on a round: exploitability, and the number of mixed infosets."""
    found = []
    for epsilon, decay in SMALL_MOVES:
        chosen = settings.model_copy(update={"small_move_epsilon": epsilon, "small_move_epsilon_decay": decay})
        solver = fresh(tree, chosen, worth)
        solver.run(iterations)
        profile = solver.average()
        reached, mixed = mixing(tree, profile)
        gap = exploitability(tree, worth, profile)
        found.append({"epsilon": epsilon, "decay": decay, "exploitability": gap, "reached": reached, "mixed": mixed})
    return found


def mixing(tree: RoundTree, profile: RoundProfile) -> tuple[int, int]:
    """The number of reached infosets, and of those with more than one likely move.

    An infoset is reached if both players' moves make it likely enough; see `RARE`.
    """
    parent = tree.shape.parent.astype(np.int64)
    ply = tree.plies
    child = np.arange(1, tree.nodes)
    node = parent[child]
    own = np.where((ply[node] >= 2)[:, None], profile.reach[parent[node]], 1.0)
    others = np.where(ply[node] >= 1, profile.reach[node].sum(axis=1) / 3, 1.0)
    reached = (own > RARE) & (others > RARE)[:, None]
    moves = np.zeros((tree.nodes, 3), np.int64)
    np.add.at(moves, node, profile.strategy[child] > RARE)
    infosets = np.zeros((tree.nodes, 3), bool)
    infosets[node] = reached
    return int(infosets.sum()), int((infosets & (moves > 1)).sum())


def most_likely(tree: RoundTree, profile: RoundProfile) -> RoundProfile:
    """Pure strategies that always make the most likely move; of several, the first."""
    return _pure(tree, profile.strategy)


def draw_pure(tree: RoundTree, profile: RoundProfile, generator: np.random.Generator) -> RoundProfile:
    """Pure strategies with moves drawn by their probabilities."""
    with np.errstate(divide="ignore"):
        gumbel = np.log(profile.strategy) + generator.gumbel(size=profile.strategy.shape)
    return _pure(tree, gumbel)


def _pure(tree: RoundTree, scores: NDArray[np.float64]) -> RoundProfile:
    """The profile that always makes the move with the highest score."""
    first = tree.shape.first_child.astype(np.int64)
    deciding = np.flatnonzero(np.diff(first) > 0)
    starts = first[deciding]
    best = np.maximum.reduceat(scores, starts, axis=0)  # the children of one node follow those of the node before
    sizes = np.diff(first)[deciding]
    places = np.where(scores[1:] == np.repeat(best, sizes, axis=0), np.arange(1, tree.nodes)[:, None], tree.nodes)
    chosen = np.minimum.reduceat(places, starts - 1, axis=0)
    sums: Floats = np.zeros((tree.nodes, 3))
    sums[chosen, np.arange(3)] = 1
    return profile_of(tree, sums)


def roundings(solution: MatchSolution, draws: int, seed: int) -> dict[str, Any]:
    """The solution's exploitability in the whole match after rounding to pure strategies.

    Two roundings: the most likely move everywhere; and for each round the least exploitable one of the most likely
    moves and some drawn strategies.
    """
    n, tree, generator = solution.settings.winning_score, solution.tree, np.random.default_rng(seed)
    values = profile_values(tree, n, solution.profiles)
    likely, best = {}, {}
    rounds = {}
    for scores, profile in solution.profiles.items():
        worth = payoffs(scores, n, values)
        likely[scores] = most_likely(tree, profile)
        candidates = [likely[scores], *(draw_pure(tree, profile, generator) for _ in range(draws))]
        gaps = [exploitability(tree, worth, candidate) for candidate in candidates]
        best[scores] = candidates[int(np.argmin(gaps))]
        rounds[name_of(scores)] = {"most_likely": gaps[0], "best": min(gaps)}
    return {
        "draws": draws,
        "seed": seed,
        "solution": _match_exploitability(solution, solution.profiles),
        "most_likely": _match_exploitability(solution, likely),
        "best": _match_exploitability(solution, best),
        "rounds": rounds,
        "pure_rounds": sorted(name for name, gaps in rounds.items() if gaps["best"] < PURE),
    }


def _match_exploitability(solution: MatchSolution, profiles: Mapping[Scores, RoundProfile]) -> float:
    found = respond(solution.tree, solution.settings.winning_score, profiles)
    return found.values[(0, 0), 0] + found.values[(0, 0), 1]
