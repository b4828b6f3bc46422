"""The match: backward values, best responses, results on disk, commands."""

import json
import shutil
import signal
import subprocess
import sys
from dataclasses import astuple

import numpy as np
import pytest

from pttt_ooc.errors import StoreError
from pttt_ooc.other_games.smbc import solve as solving
from pttt_ooc.other_games.smbc.best_response import profile_values, respond
from pttt_ooc.other_games.smbc.findings import best_responses, expected_visits
from pttt_ooc.other_games.smbc.match import all_scores, following, levels, payoffs, settle
from pttt_ooc.other_games.smbc.round import best_response, combine_strategies, profile_of, scoring
from pttt_ooc.other_games.smbc.rules import Rules
from pttt_ooc.other_games.smbc.settings import SolveSettings
from pttt_ooc.other_games.smbc.tree import build
from tests.other_games.smbc.coarse_match import COARSE, run


def test_scores_come_after_those_that_follow_them():
    scores = all_scores(5)
    assert len(scores) == len(set(scores)) == 25
    known = set()
    for level in levels(5):
        here = {way for a, b in level for way in ((a, b), (b, a))}
        for way in here:
            after = {f.scores for f in following(way, 5)} - {None, way, way[::-1]}
            assert after <= known
        known |= here


def test_transitions_of_scores():
    assert [f.scores for f in following((1, 2), 5)] == [(2, 1), (2, 2), (3, 1), (3, 2)]
    assert [(f.value, f.scores) for f in following((4, 4), 5)] == [(0, (4, 4)), (1, None), (-1, None), (0, (4, 4))]
    assert [(f.value, f.scores) for f in following((4, 2), 5)] == [(0, (2, 4)), (1, None), (0, (3, 4)), (1, None)]


def test_values_of_scores_solve_their_equations():
    chances = {(1, 0): np.array([0.1, 0.2, 0.3, 0.4]), (0, 1): np.array([0.4, 0.3, 0.2, 0.1])}
    found = settle(chances, 2, {(1, 1): 0.5})
    for scores, values in chances.items():
        assert abs(values @ astuple(payoffs(scores, 2, {(1, 1): 0.5, **found})) - found[scores]) < 1e-15


def test_rounds_are_solved_and_the_match_has_the_known_value(coarse):
    solution = solving.load(coarse)
    rounds = solution.manifest["rounds"]
    assert set(rounds) == {"0-0", "0-1", "1-0", "1-1"}
    assert all(0 <= facts["exploitability"] <= 0.02 for facts in rounds.values())
    assert abs(rounds["1-1"]["value"] + 1 / 13) < 0.005
    values = profile_values(solution.tree, 2, solution.profiles)
    assert all(abs(values[tuple(map(int, name.split("-")))] - facts["value"]) < 1e-12 for name, facts in rounds.items())


def test_a_best_response_to_the_match_solves_its_equation(coarse):
    """Bellman's: in each round the best response for later values has exactly the state's value."""
    solution = solving.load(coarse)
    response = respond(solution.tree, 2, solution.profiles)
    for (scores, player), value in response.values.items():
        sign = 1 - 2 * player
        follow = {
            way.scores: -sign * response.values[way.scores, 1 - player] for way in following(scores, 2) if way.scores
        }
        best = best_response(solution.tree, player, payoffs(scores, 2, follow), solution.profiles[scores])
        assert abs(best.value - value) < 1e-12


@pytest.mark.slow
def test_simple_value_iteration_finds_the_same(coarse):
    solution = solving.load(coarse)
    values = {(scores, player): 0.0 for scores in solution.profiles for player in (0, 1)}
    for _ in range(60):
        for scores, player in values:
            sign = 1 - 2 * player
            follow = {way.scores: -sign * values[way.scores, 1 - player] for way in following(scores, 2) if way.scores}
            worth = payoffs(scores, 2, follow)
            values[scores, player] = best_response(solution.tree, player, worth, solution.profiles[scores]).value
    found = respond(solution.tree, 2, solution.profiles).values
    assert max(abs(values[state] - found[state]) for state in found) < 1e-9


def test_losses_add_up_to_the_exploitability(coarse):
    found = best_responses(solving.load(coarse))
    assert found["exploitability"] > 0
    assert abs(sum(row["loss"] for row in found["losses"]) - found["exploitability"]) < 1e-12
    assert found["exploitability"] == found["best_response_first"] + found["best_response_second"]
    assert min(row["loss"] for row in found["losses"]) > -0.02 * found["exploitability"]  # they hardly cancel
    assert found["worst_goal"] in ("win", "tie", "lose") and found["worst_scores"] in found["rounds"]


def test_losses_name_the_exploited_player():
    """The second player plays at random, the first is a best response to that: only the second can gain."""
    tree = build(Rules())
    random = profile_of(tree, np.zeros((tree.nodes, 3)))
    first = best_response(tree, 0, payoffs((0, 0), 1, {(0, 0): 0.0}), random).best
    profiles = {(0, 0): combine_strategies(tree, first, random.strategy)}
    losses = best_responses(solving.MatchSolution(tree, SolveSettings(winning_score=1), profiles, {}))["losses"]
    of_first, of_second = (sum(row["loss"] for row in losses if row["exploited"] == player) for player in (0, 1))
    assert of_first > 0.5 and abs(of_second) < 0.1


@pytest.mark.slow
def test_visits_are_those_of_simulated_matches():
    tree = build(Rules())
    profiles = {scores: profile_of(tree, np.zeros((tree.nodes, 3))) for scores in all_scores(2)}
    response = respond(tree, 2, profiles)
    visits = expected_visits(2, response, ((0, 0), 0))
    random, counts, matches = np.random.default_rng(1), dict.fromkeys(visits, 0), 4000
    for _ in range(matches):
        state = ((0, 0), 0)
        while state[0] is not None:
            counts[state] += 1
            way = random.choice(4, p=scoring(response.tables[state]))
            state = (following(state[0], 2)[way].scores, 1 - state[1])
    assert all(abs(counts[state] / matches - visits[state]) < 0.1 for state in visits)


@pytest.mark.slow
def test_an_interrupted_solve_ends_with_the_same_bits(coarse, tmp_path, monkeypatch):
    monkeypatch.setattr(solving, "COMMIT_SECONDS", 0)
    checks = []

    def stop(scores, row):
        checks.append(row)
        if len(checks) in (3, 9):
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            solving.solve(SolveSettings(**COARSE), tmp_path, 1, stop)
        assert not (tmp_path / solving.MANIFEST).exists()
    solving.solve(SolveSettings(**COARSE), tmp_path, 1)
    facts = [json.loads((place / solving.MANIFEST).read_text()) for place in (coarse, tmp_path)]
    assert facts[0]["products"] == facts[1]["products"] and facts[0]["rounds"] == facts[1]["rounds"]


KILLED = """
import os, signal, sys
from pathlib import Path
from pttt_ooc.other_games.smbc import solve as solving
from pttt_ooc.other_games.smbc.settings import SolveSettings
solving.COMMIT_SECONDS = 0
checks = []
def die(scores, row):
    checks.append(row)
    if len(checks) == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
solving.solve(SolveSettings(winning_score=2, maximum_subgame_exploitability=0.02), Path(sys.argv[1]), 2, die)
"""


@pytest.mark.long
def test_a_killed_solve_ends_with_the_same_bits(coarse, tmp_path):
    for checks in (5,):
        done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), str(checks)], check=False)
        assert done.returncode == -signal.SIGKILL and not (tmp_path / solving.MANIFEST).exists()
    begun = []
    solving.solve(SolveSettings(**COARSE), tmp_path, 1, lambda scores, row: begun.append(row["iteration"]))
    assert begun[0] > SolveSettings().check_exploitability_every  # it went on
    facts = [json.loads((place / solving.MANIFEST).read_text()) for place in (coarse, tmp_path)]
    assert facts[0]["products"] == facts[1]["products"] and facts[0]["rounds"] == facts[1]["rounds"]


def test_a_damaged_solution_is_refused(coarse, tmp_path):
    with pytest.raises(StoreError, match="There is no solved match"):
        solving.load(tmp_path)
    copy = tmp_path / "copy"
    shutil.copytree(coarse, copy)
    with open(copy / solving.LOG, "a") as file:
        file.write("\n")
    with pytest.raises(StoreError, match="is damaged"):
        solving.load(copy)


@pytest.mark.slow
def test_the_commands(tmp_path, capsys):
    out = str(tmp_path / "match")
    options = ["--winning-score", "1", "--maximum-subgame-exploitability", "0.05", "--output", out]
    told = run(capsys, "solve", *options)
    assert told.code == 0 and "The second player wins 53." in told.out
    found = json.loads(run(capsys, "best-response", out, "--json").out)
    keys = {"value", "second_player_wins", "best_response_first", "best_response_second", "exploitability", "rounds"}
    assert keys <= set(found) and abs(found["second_player_wins"] - (1 - found["value"]) / 2) < 1e-15
    assert "NashConv, the sum of what both gain" in run(capsys, "best-response", out).out
    both = run(capsys, "solve", "--algorithm", "cfr", "--discount", "--output", out)
    assert both.code == 1 and "exclude each other" in both.err
    assert "There is no solved match" in run(capsys, "best-response", str(tmp_path)).err
