"""Findings of a solution: goals in all equilibria, roundings, bonuses, simulated matches; and linear goals."""

import itertools
import json
import math

import numpy as np
import pytest

from pttt_ooc.other_games.smbc import goals, kernels, simulation, study
from pttt_ooc.other_games.smbc import solve as solving
from pttt_ooc.other_games.smbc.best_response import respond
from pttt_ooc.other_games.smbc.findings import expected_visits, format_signed
from pttt_ooc.other_games.smbc.goals import Range
from pttt_ooc.other_games.smbc.match import all_scores
from pttt_ooc.other_games.smbc.report import values_figure
from pttt_ooc.other_games.smbc.round import Payoffs, best_response, fresh, outcomes, profile_of
from pttt_ooc.other_games.smbc.rules import Rules
from pttt_ooc.other_games.smbc.settings import SolveSettings
from pttt_ooc.other_games.smbc.tree import RoundTree, build
from tests.other_games.smbc.coarse_match import run

WORTH = Payoffs(0.1, 0.9, -0.6, 0.2)


@pytest.fixture(scope="module")
def merged():
    return build(Rules())


def after(tree, history):
    """The subtree after an even number of moves, as a round of its own."""
    node = 0
    for square in history:
        node = next(child for child in tree.children(node) if tree.square[child] == square)
    old, parent, first, counts = [node], [0], [], [1]
    start = 0
    while start < len(old):
        made = len(old)
        for place in range(start, made):
            first.append(len(old))
            old += tree.children(old[place])
            parent += [place] * (len(old) - len(parent))
        counts.append(len(old) - made)
        start = made
    plies = np.cumsum([0, *counts[:-1]])
    shape = kernels.Shape(
        np.array(parent, np.uint64), np.array([*first, len(old)], np.uint64), tree.shape.outcome[old], plies
    )
    return RoundTree(tree.rules, shape, np.array([-1, *tree.square[old[1:]]], np.int8))


@pytest.fixture(scope="module")
def small(merged):
    return after(merged, (0, 4))


def converged(tree, worth, algorithm="hs-pcfr+", **more):
    solver = fresh(tree, SolveSettings(algorithm=algorithm, **more), worth)
    solver.run(600)
    profile = solver.average()
    gap = sum(best_response(tree, player, worth, profile).value for player in (0, 1))
    return profile, (outcomes(tree, profile) * worth.table()).sum() / 9, gap


@pytest.mark.slow
@pytest.mark.filterwarnings("error")  # scipy ignores an option that it does not accept, with a warning
def test_linear_programs_find_the_value_of_both_players(small):
    assert 1000 < small.nodes < 4000
    profile, value, gap = converged(small, WORTH)
    assert gap < 1e-6
    first, second = (goals.solve(goals.program(small, player, WORTH))[0] for player in (0, 1))
    assert abs(first + second) < 1e-9
    assert abs(first - value) <= gap


def test_the_plan_of_a_linear_program_is_optimal(small):
    """Played as a strategy, it keeps the best response at the value."""
    for player in (0, 1):
        given = goals.program(small, player, WORTH)
        value, found = goals.solve(given)
        response = best_response(small, 1 - player, WORTH, played(small, given, found))
        assert abs(response.value + value) < 1e-8
        assert np.abs(given.by_goal @ found + response.values[0]).max() < 1e-8


@pytest.mark.slow
def test_every_equilibrium_is_in_the_ranges(small):
    ranges = goals.equilibria(small, Payoffs())
    for more in ({}, {"algorithm": "dcfr"}, {"small_move_epsilon": 0.1, "small_move_epsilon_decay": 0.2}):
        profile, value, gap = converged(small, Payoffs(), **more)
        assert gap < 3e-4
        assert abs(value - ranges.value) <= gap
        table = goals.by_goals(small, profile, Payoffs())
        margin = 9 * gap
        for found, known in zip(table.mean(axis=1), ranges.rows, strict=True):
            assert known.least - margin <= found <= known.most + margin
        for found, known in zip(table.mean(axis=0), ranges.columns, strict=True):
            assert known.least - margin <= found <= known.most + margin
        for row, known_row in zip(table, ranges.entries, strict=True):
            for found, known in zip(row, known_row, strict=True):
                assert known.least - 3 * margin <= found <= known.most + 3 * margin
    for rows in (ranges.rows, ranges.columns):
        assert sum(row.least for row in rows) / 3 <= ranges.value + 1e-8
        assert sum(row.most for row in rows) / 3 >= ranges.value - 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("chosen", [(1,), pytest.param((0, 2), marks=pytest.mark.full)])
def test_the_ends_of_a_range_are_equilibria(small, chosen):
    """The plan at the end of a range is optimal, and its best response has the range's value."""
    widths = []
    for player, goal in itertools.product((0, 1), chosen):
        given = goals.program(small, player, Payoffs())
        value, _ = goals.solve(given)
        found = goals.goal_range(given, value, goal)
        for sign, end in ((1, found.most), (-1, found.least)):
            amount, variables = goals.extreme(given, given.by_goal[goal], value, sign)
            assert abs(amount - end) < 1e-12
            response = best_response(small, 1 - player, Payoffs(), played(small, given, variables))
            assert abs(response.value + value) < 1e-7 and abs(response.values[0, goal] + end) < 1e-7
        widths.append(found.most - found.least)
    assert min(widths) > -1e-7 and max(widths) > 1e-3  # the range is not of one equilibrium only


def played(tree, given, variables):
    """The profile in which a program's player follows a plan."""
    sums = np.zeros((tree.nodes, 3))
    sums[tree.moved_by(given.player)] = np.maximum(variables[: given.plan_size], 0).reshape(-1, 3)
    return profile_of(tree, sums)


def test_entries_follow_from_rows_and_columns():
    table = np.array([[0.4, -0.4, 0], [-0.1, 0, -0.9], [0, 0.7, -0.7]])
    exact = [[Range(mean, mean) for mean in table.mean(axis=axis)] for axis in (1, 0)]
    found = goals.entry_ranges(Payoffs(), *exact)
    for (row, column), entry in np.ndenumerate(table):
        assert found[row][column].least - 1e-7 <= entry <= found[row][column].most + 1e-7
    for row, column in ((0, 2), (1, 1), (2, 0)):  # both score, or neither does
        assert found[row][column] == Range(0, 0)
    assert found[1][0].most - found[1][0].least > 0.1
    assert abs(found[1][0].least + found[1][2].most + 1) < 1e-6  # the row's mean is -1/3


def test_numbers_have_signs_and_zero_has_one():
    assert [format_signed(number) for number in (-1e-9, -0.25, 2 / 3)] == ["+0.0000000", "-0.2500000", "+0.6666667"]


@pytest.mark.long
def test_a_round_has_the_value_that_an_independent_linear_program_found(merged):
    """In sequence form, from a plain recursion over histories that shared no code with the wing.

    With the usual payoffs it found -1/9, as the quick tests do.
    """
    _, value, gap = converged(merged, WORTH)
    assert abs(value - 13 / 180) < 1e-7 and gap < 1e-4
    assert abs(goals.solve(goals.program(merged, 0, WORTH))[0] - 13 / 180) < 1e-7


@pytest.mark.slow
def test_roundings_are_pure_and_lose(coarse, merged):
    solution = solving.load(coarse)
    profile = solution.profiles[0, 0]
    pure = study.most_likely(merged, profile)
    for node in range(0, merged.nodes, 97):
        children = list(merged.children(node))
        for goal in range(3) if children else ():
            expected = children[int(np.argmax(profile.strategy[children, goal]))]
            assert [pure.strategy[child, goal] for child in children] == [child == expected for child in children]
    found = study.roundings(solution, 2, 0)
    assert found["solution"] < 0.06 < found["best"] <= found["most_likely"] + 1e-12
    values = respond(merged, solution.settings.winning_score, solution.profiles).values
    assert found["solution"] == values[(0, 0), 0] + values[(0, 0), 1] and values[(0, 0), 0] != values[(0, 0), 1]
    assert all(gaps["best"] <= gaps["most_likely"] for gaps in found["rounds"].values())


def test_drawn_strategies_have_the_probabilities_of_the_solution(small):
    random = np.random.default_rng(5)
    profile = profile_of(small, random.random((small.nodes, 3)))
    children = list(small.children(0))
    total = sum(study.draw_pure(small, profile, random).strategy[children] for _ in range(400)) / 400
    assert np.abs(total - profile.strategy[children]).max() < 0.1
    assert np.abs(total.sum(axis=0) - 1).max() < 1e-12


def test_mixing_counts_reached_infosets(small):
    uniform = profile_of(small, np.zeros((small.nodes, 3)))
    reached, mixed = study.mixing(small, uniform)
    expected = more = 0
    for node in range(small.nodes):
        children = small.children(node)
        history = small.history(node)
        chances, walked = {0: 1.0, 1: 1.0}, 0
        for ply, square in enumerate(history):
            ways = small.children(walked)
            chances[ply % 2] /= len(ways)
            walked = next(child for child in ways if small.square[child] == square)
        if children and min(chances.values()) > study.RARE:
            expected += 3  # goals
            more += 3 * (len(children) > 1)
    assert (reached, mixed) == (expected, more) and more > 0


def test_a_bonus_for_small_moves_is_reported(small):
    rows = study.small_moves(small, WORTH, SolveSettings(algorithm="dcfr"), 200)
    gaps = {(row["epsilon"], row["decay"]): row["exploitability"] for row in rows}
    assert gaps[0.1, 0] > 10 * gaps[0, 0]
    assert gaps[0.1, 0.01] < gaps[0.1, 0]


@pytest.mark.slow
@pytest.mark.parametrize("matches", [100_000, pytest.param(1_000_000, marks=pytest.mark.full)])
def test_simulated_matches_agree_with_the_exact_values(matches):
    """Matches to 5 between random players, so that each score comes up often."""
    tree = build(Rules())
    random = np.random.default_rng(2)
    profiles = {s: profile_of(tree, random.random((tree.nodes, 3)) ** 4) for s in all_scores(5)}
    solution = solving.MatchSolution(tree, SolveSettings(), profiles, {})
    found = simulation.simulate(solution, matches, 1)
    assert len(found) == 25 and found[0, 0].matches == matches
    assert all(abs(each.standard_errors) < 3 for each in found.values())
    # a score comes up as often as the Markov chain of scores predicts
    from pttt_ooc.other_games.smbc.best_response import MatchResponse

    response = respond(tree, 5, profiles)
    tables = {(scores, player): outcomes(tree, profiles[scores]) for scores, player in response.tables}
    visits = expected_visits(5, MatchResponse({}, tables, 0), ((0, 0), 0))
    for scores, each in found.items():
        expected = visits[scores, 0] + visits.get((scores, 1), 0)
        assert abs(each.rounds / matches - expected) < 5 * math.sqrt(3 * expected / matches)


@pytest.mark.slow
def test_the_commands(coarse, capsys):
    told = run(capsys, "simulate", str(coarse), "--matches", "20000", "--json")
    found = json.loads(told.out)
    assert found["matches"] == 20000 and set(found["scores"]) == {"0-0", "0-1", "1-0", "1-1"}
    assert abs(found["scores"]["0-0"]["won"] - found["scores"]["0-0"]["expected"]) < 0.015
    assert "20000 matches" in run(capsys, "simulate", str(coarse), "--matches", "20000").out
    table = json.loads(run(capsys, "goals", str(coarse), "--json").out)
    assert abs(table["value"] + 1 / 9) < 1e-9 and abs(table["rows"][1] + 1 / 3) < 1e-6
    assert table["entries"][1][1] == table["entries"][0][2] == table["entries"][2][0] == 0
    scores = run(capsys, "goals", str(coarse), "--scores", "1-0").out
    value = solving.load(coarse).manifest["rounds"]["1-0"]["value"]
    assert f"{value:+.9f}" in scores
    wrong = run(capsys, "goals", str(coarse), "--scores", "2-0")
    assert wrong.code == 1 and "There is no round at scores '2-0'" in wrong.err
    told = run(capsys, "study", str(coarse), "--iterations", "20", "--draws", "1").out
    assert "with the most likely move everywhere" in told and "0.001" in told
    begins = {len(line) - len(line.split()[-1]) for line in told.splitlines()[:3]}
    assert len(begins) == 1, "numbers are in a column"


def test_the_picture_of_values_is_darker_where_they_are_larger():
    axes = values_figure({"0-0": 0.25, "1-0": -0.5}, 2).axes[0]
    filled = {patch.get_xy(): patch for patch in axes.patches if patch.get_fill()}
    assert {at: patch.get_alpha() for at, patch in filled.items()} == {(0, 0): 0.2, (0, 1): 0.4}
    assert {patch.get_bbox().bounds for patch in axes.patches if not patch.get_fill()} == {(0, 0, 1, 1), (0, 1, 1, 1)}
    assert filled[0, 0].get_facecolor()[:3] != filled[0, 1].get_facecolor()[:3]
