"""Tests of claims: their sizes by simulation, plain sums beside them, and the corrections."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from pttt_ooc.other_games.arena.experiments.significance import Mean, Units, holm
from pttt_ooc.other_games.arena.matches.statistics import Rate

RUNS = 2000
TOLERANCE = 3 * math.sqrt(0.05 * 0.95 / RUNS)  # three standard errors of a size of 5%


def single(wins, draws, losses):
    return Units.of({"wins": wins, "draws": draws, "losses": losses})


def paired(*pairs):
    """From the numbers of pairs with 0, 1/2, 1, 3/2 and 2 points; the pairs with 1 point are drawn twice."""
    points = sum(score * count for score, count in enumerate(pairs))
    draws = pairs[1] + 2 * pairs[2] + pairs[3]
    wins = (points - draws) // 2
    return Units.of({"wins": wins, "draws": draws, "losses": 2 * sum(pairs) - wins - draws, "pairs": list(pairs)})


def plain_p(counts):
    """Over all signs of the distances from one half."""
    half = len(counts) // 2
    distances = [abs(n - half) for n, count in enumerate(counts) for _ in range(count) if n != half]
    seen = abs(sum((n - half) * count for n, count in enumerate(counts)))
    sums = [
        abs(sum(sign * d for sign, d in zip(signs, distances, strict=True)))
        for signs in itertools.product((-1, 1), repeat=len(distances))
    ]
    return sum(total >= seen for total in sums) / len(sums)


@pytest.mark.parametrize("counts", [(3, 4, 5), (0, 2, 7), (4, 0, 4), (1, 2, 9, 4, 3), (0, 5, 0, 2, 1), (6, 0, 3, 0, 1)])
def test_the_exact_test_is_the_sum_over_all_signs(counts):
    units = paired(*counts) if len(counts) == 5 else single(*counts[::-1])
    assert units.counts == counts
    assert 10**units.log10_p == pytest.approx(plain_p(counts), rel=1e-9)


def test_p_values_below_the_smallest_double_have_logarithms():
    assert single(3000, 0, 10).log10_p < -800 and paired(0, 0, 5, 3, 3000).log10_p < -800
    assert single(3000, 0, 10).log10_p == pytest.approx(Rate(3000, 0, 10).log10_p)  # without draws it is binomial


CHANCES = {
    "no draws": (0.5, 0.0, 0.5),
    "draws": (0.35, 0.3, 0.35),
    "pairs": (0.1, 0.15, 0.5, 0.15, 0.1),
    "pairs that depend": (0.02, 0.08, 0.8, 0.08, 0.02),
}


def drawn(chances, number, seed):
    return np.random.default_rng(seed).multinomial(number, chances, RUNS)


def part(rows, holds):
    """The part of the rows for which something holds; it is asked once for rows that are alike."""
    alike, counts = np.unique(rows, axis=0, return_counts=True)
    return np.dot([bool(holds(row)) for row in alike], counts) / len(rows)


def units_of(row):
    return paired(*map(int, row)) if len(row) == 5 else single(*(int(n) for n in row[::-1]))


@pytest.mark.slow_but_one
@pytest.mark.parametrize("number", [100, 400])
@pytest.mark.parametrize("kind", CHANCES)
def test_equally_strong_agents_are_told_apart_in_at_most_five_of_a_hundred_matches(kind, number):
    found = part(drawn(CHANCES[kind], number, 1), lambda row: units_of(row).log10_p < math.log10(0.05))
    assert 0.02 < found < 0.05 + TOLERANCE


def test_the_reports_chi_square_tells_equally_strong_agents_apart_too_often():
    """Each game is counted in two samples as if they were independent."""
    sizes = []
    for kind in ("no draws", "draws"):
        rows = drawn(CHANCES[kind], 400, 2)
        sizes.append(part(rows, lambda row: Rate(*map(int, row[::-1])).chi_square[1] < 0.05))
    assert sizes[0] > 0.11 and sizes[1] > 0.06


@pytest.mark.slow_but_one
@pytest.mark.parametrize("kind", CHANCES)
def test_an_effect_that_could_have_been_found_is_found_in_four_of_five(kind):
    chances, number = np.array(CHANCES[kind]), 400
    typical = units_of(np.round(chances * number))
    scores = typical.scores
    tilt = typical.detectable / float(np.dot(chances, (scores - 0.5) ** 2))
    shifted = chances * (1 + tilt * (scores - 0.5))
    assert np.dot(shifted, scores) == pytest.approx(0.5 + typical.detectable)
    found = part(drawn(shifted, number, 3), lambda row: units_of(row).log10_p < math.log10(0.05))
    assert 0.72 < found < 0.85


@pytest.mark.slow_but_one
@pytest.mark.parametrize("kind", CHANCES)
def test_agents_that_differ_by_the_margin_are_called_equal_in_at_most_five_of_a_hundred(kind):
    chances, number, margin = np.array(CHANCES[kind]), 3600, 0.03
    scores = np.linspace(0, 1, len(chances))
    tilt = margin / float(np.dot(chances, (scores - 0.5) ** 2))
    differ, alike = drawn(chances * (1 + tilt * (scores - 0.5)), number, 4), drawn(chances, number, 5)[:200]
    found = [part(rows, lambda row: units_of(row).equivalence_p(margin) < 0.05) for rows in (differ, alike)]
    assert 0.025 < found[0] < 0.05 + TOLERANCE and found[1] > 0.9


@pytest.mark.parametrize("mirrored", [False, True])
def test_one_sided_tests_have_their_size(mirrored):
    chances = (0.32, 0.26, 0.42)  # a score of 55%
    rows = drawn(chances[::-1] if mirrored else chances, 1600, 6)
    found = part(rows, lambda row: (units_of(row).above_p(0.45) if mirrored else units_of(row).below_p(0.55)) < 0.05)
    assert 0.035 < found < 0.05 + TOLERANCE


@pytest.mark.parametrize(
    ("chances", "ours", "theirs"),
    [((0.2, 0.0, 0.8), 2000, 1000), ((0.15, 0.2, 0.65), 400, 100), ((0.5, 0.0, 0.5), 400, 100)],
)
def test_two_matches_of_the_same_agents_differ_in_at_most_five_of_a_hundred(chances, ours, theirs):
    halves = drawn(chances, theirs, 8) @ np.array([0, 1, 2])
    rows = np.column_stack([drawn(chances, ours, 7), halves])
    found = part(rows, lambda row: units_of(row[:3]).differs_p(row[3] / 2 / theirs, theirs) < 0.05)
    assert 0.03 < found < 0.05 + 2 * TOLERANCE


def test_two_rates_differ_if_they_are_far_apart():
    assert single(50, 0, 50).differs_p(0.5, 500) == pytest.approx(1)
    assert single(90, 0, 10).differs_p(0.5, 500) < 1e-6
    assert single(10, 0, 0).differs_p(1.0, 20) == 1
    z = (0.6 - 0.45) / math.sqrt(0.525 * 0.475 * (1 / 100 * (1 + 1 / 100) + 1 / 100))
    assert single(60, 0, 40).differs_p(0.45, 100) == pytest.approx(2 * stats.norm.sf(z), rel=0.02)


@pytest.mark.parametrize("chances", [(0.05, 0.1, 0.85), (0.3, 0.4, 0.3), (0.05, 0.1, 0.4, 0.2, 0.25)])
def test_intervals_hold_the_true_rate_in_ninety_five_of_a_hundred(chances):
    true = np.dot(chances, np.linspace(0, 1, len(chances)))
    inside = part(drawn(chances, 200, 9), lambda row: np.searchsorted(units_of(row).interval, true) == 1)
    assert 0.94 < inside < 0.975


def test_pairs_that_are_all_alike_leave_a_little_doubt():
    units = paired(0, 0, 200, 0, 0)
    low, high = units.interval
    assert units.rate == 0.5 and 0.48 < low < 0.5 < high < 0.52 and units.log10_p == 0
    assert units.equivalence_p(0.05) < 1e-6 and units.equivalence_p(0.004) > 0.05
    assert single(100, 0, 0).interval == pytest.approx((0.963, 1), abs=1e-3)


def test_pairs_count_only_if_all_games_are_in_them():
    facts = {"wins": 3, "draws": 1, "losses": 3, "pairs": [1, 1, 0, 0, 1]}
    assert Units.of(facts).counts == (3, 1, 3)
    assert Units.of(facts | {"losses": 2}).counts == (1, 1, 0, 0, 1) and Units.of(facts | {"losses": 2}).games == 2


def test_holms_correction_is_that_of_statsmodels():
    p = np.array([0.001, 0.04, 0.03, 0.2, 1e-9, 0.03, 0.9])
    expected = multipletests(p, method="holm")[1]
    assert 10 ** np.array(holm(list(np.log10(p)))) == pytest.approx(expected)
    assert holm([]) == [] and holm([-2500.0, -3.0]) == pytest.approx([-2500 + math.log10(2), -3])


def test_the_training_is_the_unit():
    """Student's interval by hand, and one more training that lies in its interval as often as it says."""
    mean = Mean((54.4, 54.7, 57.1, 56.1, 58.4, 56.3))
    assert (mean.mean, mean.deviation) == pytest.approx((56.17, 1.50), abs=0.01)
    half = 2.5706 * mean.deviation / math.sqrt(6)
    assert mean.interval == pytest.approx((mean.mean - half, mean.mean + half), abs=1e-3)
    draw = np.random.default_rng(10)
    rows = draw.normal(0, 1, (RUNS // 2, 6))
    inside = [low <= row[5] <= high for row in rows for low, high in [Mean(tuple(row[:5])).prediction]]
    assert 0.935 < np.mean(inside) < 0.965
    rejected = np.mean([Mean(tuple(row[:5])).differs_p(row[5]) < 0.05 for row in rows])
    assert rejected == pytest.approx(1 - np.mean(inside), abs=1e-9)
    assert math.isnan(Mean((1.0,)).deviation)
