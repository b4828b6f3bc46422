"""Equilibria near the averages of regret matching: how near, how exact, and how the rounds use them."""

from dataclasses import replace

import numpy as np
import pytest

from pttt_ooc.exact.double_oracle import oracle as oracle_module
from pttt_ooc.exact.double_oracle import restricted_nearby
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle, Solver
from pttt_ooc.exact.double_oracle.restricted_histories import HistoryFinder
from pttt_ooc.exact.double_oracle.restricted_interior import ROUNDING
from pttt_ooc.exact.double_oracle.restricted_matching import Matching, action_values, gap
from pttt_ooc.exact.double_oracle.restricted_nearby import nearby_plans
from pttt_ooc.exact.double_oracle.restricted_program import RestrictedProgram
from pttt_ooc.games.rules.catalogue import named_game

pytest.importorskip("highspy")

NAME = "mini-2x3k3-abrupt"


@pytest.fixture(scope="module")
def restricted():
    """A restricted game after some rounds."""
    oracle = DoubleOracle(named_game(NAME))
    for _ in range(12):
        oracle.round()
    return HistoryFinder(oracle.rules).find_won(oracle.plans)


@pytest.fixture(scope="module")
def averages(restricted):
    return Matching().solve(*restricted, 0.0, 400)[0]


def miss(plan, reach):
    """How far a plan is from conserving its flows, infoset by infoset."""
    size = int(plan.counts[1])
    misses = []
    for infoset in np.unique(plan.infosets[:size]):
        before = plan.before[infoset]
        misses.append(reach[plan.infosets[:size] == infoset].sum() - (reach[before] if before >= 0 else 1.0))
    return np.abs(misses).max()


def test_an_equilibrium_of_the_restricted_game_is_near_the_averages(restricted, averages):
    plans, won = restricted
    begun = gap(plans, won, tuple(averages))
    found = nearby_plans(plans, won, averages, 25.0)
    assert begun > 1e-5 and abs(found.loss) <= ROUNDING and found.loss == gap(plans, won, found.reach)
    vertex = RestrictedProgram().exact_plans(plans, won)
    for player in (0, 1):
        assert miss(plans[player], found.reach[player]) < 1e-12 and found.reach[player].min() >= 0
        assert np.abs(found.reach[player] - averages[player]).max() < 30 * begun
        assert np.abs(vertex[player] - averages[player]).max() > 30 * begun
    # Each plan is optimal by itself: with a vertex of the other player there is nothing to gain.
    assert gap(plans, won, (found.reach[0], vertex[1])) < 1e-12 > gap(plans, won, (vertex[0], found.reach[1]))


@pytest.mark.parametrize("distance", [0.01, 0.3])
def test_no_reach_changes_by_more_than_the_distance(restricted, averages, monkeypatch, distance):
    monkeypatch.setattr(restricted_nearby, "_project", lambda plans, won, forms, near: near)
    begun = gap(*restricted, tuple(averages))
    found = nearby_plans(*restricted, averages, distance)
    changes = [np.abs(own - before) for own, before in zip(found.reach, averages, strict=True)]
    assert found.loss < begun and 0 < max(map(np.max, changes)) <= distance * begun * (1 + 1e-6)
    for plan, own in zip(restricted[0], found.reach, strict=True):
        assert miss(plan, own) < 1e-9


@pytest.mark.parametrize("wrong", [lambda found: found * 2, lambda found: found - 1e-3])
def test_a_projection_that_is_no_plan_is_not_taken(restricted, averages, monkeypatch, wrong):
    """Plans of twice the reach lose less than nothing, and are refused for their flows."""
    monkeypatch.setattr(restricted_nearby, "_project", lambda plans, won, forms, near: near)
    kept = nearby_plans(*restricted, averages, 0.3)
    monkeypatch.undo()
    nearest = restricted_nearby.nearest_plan
    monkeypatch.setattr(restricted_nearby, "nearest_plan", lambda *of: wrong(nearest(*of)))
    found = nearby_plans(*restricted, averages, 0.3)
    for own, same in zip(found.reach, kept.reach, strict=True):
        np.testing.assert_array_equal(own, same)


def test_exact_averages_stay_as_they_are(restricted, averages):
    exact = nearby_plans(*restricted, averages, 25.0).reach
    again = nearby_plans(*restricted, exact, 2.5)
    assert again.reach[0] is exact[0] and again.reach[1] is exact[1]


@pytest.mark.parametrize("player", [0, 1])
def test_action_values_are_those_of_a_plain_recursion(restricted, averages, player):
    plans, won = restricted
    plan, size = plans[player], int(plans[player].counts[1])
    values, bests, whole = action_values(plans, won, player, averages[1 - player])
    own, other = (won.first, won.second) if player == 0 else (won.second, won.first)
    alone = np.zeros(size + 1)
    for mine, theirs, payoff in zip(own, other, won.payoffs, strict=True):
        alone[mine] += (payoff if player == 0 else -payoff) * (averages[1 - player][theirs] if theirs >= 0 else 1.0)

    def best_at(infoset):
        return max(value_of(k) for k in np.flatnonzero(plan.infosets[:size] == infoset))

    def value_of(sequence):
        after = [k for k in range(int(plan.counts[0])) if plan.before[k] == sequence and plan.choices[k]]
        return alone[sequence] + sum(map(best_at, after))

    for sequence in range(size):
        assert values[sequence] == pytest.approx(value_of(sequence), abs=1e-14)
    assert bests[0] == pytest.approx(best_at(0), abs=1e-14) and whole == pytest.approx(best_at(0) + alone[-1])


def test_the_distance_grows_where_responses_have_nothing_new(monkeypatch):
    """Twice; then the whole face is asked.  A run that is restored knows the distance."""
    run = DoubleOracle(named_game("mini-2x3k2-abrupt"))
    last = replace(run.round(), added=0, exact=False)
    run._solver, distances = Solver.NEARBY, []
    while (after := run._next_solver(last)) is Solver.NEARBY:
        distances.append(run._distance)
    assert distances == [25.0, 250.0] and after is Solver.FACE
    other = DoubleOracle(named_game("mini-2x3k2-abrupt"))
    other.restore(run.state())
    assert other._distance == 250.0
    run._distance = 2.5
    assert run._next_solver(replace(last, exact=True)) is Solver.FACE
    assert run._next_solver(replace(last, added=1)) is Solver.NEARBY and run._distance == 2.5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pttt-2x4k3-abrupt", "dark-hex-3x3-abrupt"])
def test_whole_games_end_near_their_averages_in_fewer_rounds_than_at_vertices(name, monkeypatch):
    at_vertices = list(DoubleOracle(named_game(name)).rounds())
    monkeypatch.setattr(oracle_module, "NEARBY_FROM", 0)
    oracle = DoubleOracle(named_game(name))
    rounds = list(oracle.rounds())
    assert oracle.is_inside and rounds[-1].lower == pytest.approx(at_vertices[-1].lower, abs=1e-12)
    assert len(rounds) < len(at_vertices)
