"""Equilibria from inside of the optimal face: exact after the projection, in whole runs, and where the method fails."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from pttt_ooc.cfr.solving.highs_solver import UnsolvedError
from pttt_ooc.exact.certificates.equilibrium import proven_interval
from pttt_ooc.exact.double_oracle import oracle as oracle_module
from pttt_ooc.exact.double_oracle import restricted_interior
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle, Solver
from pttt_ooc.exact.double_oracle.restricted_histories import HistoryFinder
from pttt_ooc.exact.double_oracle.restricted_interior import NOISE, ROUNDING, InsidePlans, face_of, inside_plans
from pttt_ooc.exact.double_oracle.restricted_matching import gap
from pttt_ooc.exact.double_oracle.restricted_program import RestrictedProgram
from pttt_ooc.exact.double_oracle.saved_state import SavedState
from pttt_ooc.games.rules.catalogue import named_game
from tests.exact.double_oracle.oracles import assert_proven_by_brute_force

pytest.importorskip("highspy")

NAME = "mini-2x3k3-abrupt"


@pytest.fixture
def large(monkeypatch):
    """Every restricted game counts as large."""
    monkeypatch.setattr(oracle_module, "NEARBY_FROM", 0)


@pytest.fixture(scope="module")
def restricted():
    """A restricted game after some rounds."""
    oracle = DoubleOracle(named_game(NAME))
    for _ in range(12):
        oracle.round()
    return HistoryFinder(oracle.rules).find_won(oracle.plans)


@pytest.mark.parametrize("presolve", [True, False])
def test_plans_from_inside_are_exact_and_play_all_that_a_vertex_plays(restricted, presolve):
    found = inside_plans(*restricted, presolve)
    vertex = RestrictedProgram().exact_plans(*restricted)
    assert found.loss == gap(*restricted, found.reach) and abs(found.loss) <= ROUNDING
    for mixed, pure in zip(found.reach, (vertex[0], found.reach[1]), strict=True):
        assert gap(*restricted, (mixed, found.reach[1]) if mixed is found.reach[0] else found.reach) <= ROUNDING
        assert presolve or ((mixed > 0) | (pure < NOISE)).all()
    assert presolve or sum((own > 0).sum() for own in found.reach) > sum((own > NOISE).sum() for own in vertex)


@pytest.fixture
def add_noise(monkeypatch):
    """What makes all that HiGHS finds wrong by a share of itself."""
    solve_inside, chance = restricted_interior.solve_inside, np.random.default_rng(4)

    def add(size):
        def noisy(*arguments):
            found = solve_inside(*arguments)
            noise = [1 + size * chance.standard_normal(len(part)) for part in (found.values, found.multipliers)]
            return replace(found, values=found.values * noise[0], multipliers=found.multipliers * noise[1])

        monkeypatch.setattr(restricted_interior, "solve_inside", noisy)

    return add


def rough_plans(restricted):
    """The plans before any projection."""
    reach = face_of(*restricted)[2].clean_reach
    return InsidePlans(reach, gap(*restricted, reach))


@pytest.mark.parametrize("size", [1e-7, 1e-6])
def test_the_projection_takes_away_what_a_tolerance_leaves(restricted, add_noise, size):
    add_noise(size)
    rough, exact = rough_plans(restricted), inside_plans(*restricted)
    assert rough.loss > size / 100 and abs(exact.loss) <= ROUNDING
    for before, after in zip(rough.reach, exact.reach, strict=True):
        np.testing.assert_allclose(after, before, rtol=1e3 * size)  # the nearest ones, each in units of itself


def test_a_projection_that_makes_reach_negative_is_not_taken(restricted, monkeypatch):
    rough = rough_plans(restricted)
    monkeypatch.setattr(restricted_interior, "ROUNDING", -1.0)
    monkeypatch.setattr(restricted_interior, "_project", lambda *of: (rough.reach[0] - 1e-9, rough.reach[1]))
    kept = inside_plans(*restricted)
    np.testing.assert_array_equal(kept.reach[0], rough.reach[0])


@pytest.mark.parametrize("player", [0, 1])
def test_one_plan_is_projected_where_the_other_cannot_be(restricted, add_noise, monkeypatch, player):
    add_noise(1e-6)
    project = restricted_interior._project

    def half(*of):
        plans = list(project(*of))
        plans[1 - player] = plans[1 - player] - 1e-9
        return tuple(plans)

    monkeypatch.setattr(restricted_interior, "_project", half)
    found = inside_plans(*restricted)
    assert found.loss > ROUNDING and min(map(np.min, found.reach)) >= 0
    alone = [
        found.reach[k] if k == player else exact for k, exact in enumerate(RestrictedProgram().exact_plans(*restricted))
    ]
    assert gap(*restricted, tuple(alone)) <= 1e-12


def test_reach_that_the_projection_makes_negative_is_left_out():
    """The equations a + b = 1 and c + d = v, v = 0: noise in c and d adds up to 0 only where one is negative."""
    matrix = sparse.csr_array([[1.0, 1, 0, 0, 0], [0, 0, 1, 1, -1], [0, 0, 0, 0, 1]])
    start, is_reach = np.array([0.25, 0.75, 3e-8, 1e-8, 0]), np.arange(5) < 4
    nearest = restricted_interior._nearest(
        matrix, np.array([1.0, 0, 0]), start, np.where(is_reach, start, restricted_interior._FREE)
    )
    assert nearest.min() < -1e-9
    found = restricted_interior.nearest_plan(matrix, np.array([1.0, 0, 0]), start, is_reach, is_reach)
    np.testing.assert_allclose(found, [0.25, 0.75, 0, 0, 0], rtol=1e-15, atol=1e-24)
    assert found.min() >= 0


@pytest.mark.slow
def test_a_large_game_is_solved_from_inside_in_fewer_rounds(large, monkeypatch, tmp_path):
    """The same value as at vertices, the same bits from saved rounds and with two threads."""

    def ended(**options):
        oracle = DoubleOracle(named_game(NAME), **options)
        rounds = list(oracle.rounds())
        assert rounds[-1].nashconv <= oracle_module.EXACT
        return oracle, rounds

    inside, rounds = ended()
    assert inside.is_inside and rounds[-1].lower == pytest.approx(17 / 72, abs=1e-12)
    assert_proven_by_brute_force(inside)
    monkeypatch.setattr(oracle_module, "NEARBY_FROM", 1e9)
    assert len(ended()[1]) > len(rounds)
    monkeypatch.setattr(oracle_module, "NEARBY_FROM", 0)
    threaded, _ = ended(threads=2)
    while True:
        resumed = DoubleOracle(named_game(NAME))
        with SavedState(tmp_path, resumed) as saved:
            resumed.round()
            saved.save()
        if resumed.last.is_equilibrium():
            break
    for other in (threaded, resumed):
        assert (other.last.lower, other.last.upper, other.last.number) == (
            rounds[-1].lower,
            rounds[-1].upper,
            len(rounds),
        )
        for plan, same in zip(inside.plans, other.plans, strict=True):
            np.testing.assert_array_equal(plan.chances[: plan.counts[1]], same.chances[: same.counts[1]])


def test_what_a_large_game_does_not_play_is_dropped(large, monkeypatch):
    oracle = DoubleOracle(named_game(NAME))
    for _ in range(12):
        oracle.round()
    monkeypatch.setattr(oracle_module, "MOSTLY_UNPLAYED", 1)
    oracle._large, oracle._solver = 0, Solver.MATCHING
    monkeypatch.setattr(oracle_module, "PROGRAMS_FROM", 0.0)
    first, second = oracle.round(), oracle.round()
    assert sum(second.sequences) < sum(first.sequences), "regrets are not kept, and not missed"
    assert list(oracle.rounds())[-1].lower == pytest.approx(17 / 72, abs=1e-12)


def test_rounds_end_when_the_best_plans_of_all_rounds_leave_a_gap():
    """Earlier than any pair of one round, and what is proven is what the plans guarantee."""
    alone = [each.nashconv for each in DoubleOracle(named_game(NAME)).rounds(0.0)]
    oracle = DoubleOracle(named_game(NAME))
    last = list(oracle.rounds(0.2))[-1]
    assert last.number < 1 + next(k for k, width in enumerate(alone) if width <= 0.2)
    assert last.nashconv <= 0.2 < alone[last.number - 1] and last.interval == (last.lower, last.upper)
    certificate = proven_interval(oracle.game, oracle.plans)
    assert float(certificate.lower) == pytest.approx(last.lower) and float(certificate.upper) == pytest.approx(
        last.upper
    )


def test_the_best_plans_of_two_rounds_are_an_equilibrium(large):
    oracle = DoubleOracle(named_game(NAME))
    last = list(oracle.rounds())[-1]
    sizes = [plan.counts.tolist() for plan in oracle.plans]
    for plan in oracle.plans:  # as if this round's pair were another one
        plan.chances[:] = 0
    oracle.last = replace(last, lower=last.lower - 0.1, upper=last.upper + 0.1, added=1)
    oracle._join_best(oracle_module.EXACT)
    assert oracle.last == replace(last, added=1) and [plan.counts.tolist() for plan in oracle.plans] == sizes
    assert_proven_by_brute_force(oracle)
    oracle.last = replace(last, lower=last.lower - 0.1, best_lower=last.lower - 0.1, added=1)
    oracle._join_best(oracle_module.EXACT)
    assert oracle.last.lower < last.lower, "the best interval is wide"


@pytest.mark.parametrize("failure", ["error", "noise"])
def test_where_interior_points_do_not_end_vertices_follow(large, monkeypatch, failure):
    asked, inside = [], oracle_module.inside_plans

    def leave(plans, won, averages, distance):
        asked.append(distance)
        return InsidePlans((averages[0] + 1e-3, averages[1] + 1e-3), 1e-3)

    def fail(plans, won, presolve):
        asked.append(presolve)
        if failure == "error":
            raise UnsolvedError("no")
        found = inside(plans, won, presolve)
        even = [np.full(len(own), 1e-3) for own in found.reach]
        return found._replace(reach=(found.reach[0] + even[0], found.reach[1] + even[1]), loss=1e-3)

    monkeypatch.setattr(oracle_module, "nearby_plans", leave)
    monkeypatch.setattr(oracle_module, "inside_plans", fail)
    oracle = DoubleOracle(named_game(NAME))
    last = list(oracle.rounds())[-1]
    assert oracle._solver is Solver.VERTICES and last.settled and last.lower == pytest.approx(17 / 72, abs=1e-12)
    ways = [2.5, 25.0, 250.0, True, False]
    assert list(dict.fromkeys(asked)) == (ways[:4] if failure == "error" else ways)
