"""Statistics: the numbers of the report, plain sums, and simulations whose answer is known."""

import math

import numpy as np
import pytest

from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.matches.statistics import ELO, Rate, Sequential, pairs_of, rate_of, ratings


def plain_p(score, games):
    """The two-tailed p-value, summed with whole numbers."""
    far = abs(2 * score - games)
    return sum(math.comb(games, k) for k in range(games + 1) if abs(2 * k - games) >= far) / 2**games


def test_the_binomial_test_is_the_plain_sum():
    for score in ((60, 0, 40), (40, 0, 60), (50, 0, 50), (30, 41, 29), (33, 40, 27), (7, 1, 0), (0, 0, 9)):
        rate = Rate(*score)
        assert rate.p == pytest.approx(plain_p(rate.score, rate.games), rel=1e-9)


def test_p_values_below_the_smallest_double_have_logarithms():
    for wins, games in ((9635, 10_000), (9999, 10_000), (1000, 1000)):
        tail = sum(math.comb(games, k) for k in range(wins, games + 1))
        exact = math.log10(2 * tail) - games * math.log10(2)
        assert Rate(wins, 0, games - wins).log10_p == pytest.approx(exact, rel=1e-9)
    assert Rate(9999, 0, 1).p == 0


def test_the_p_values_of_the_report():
    """Each of its bounds holds, with the convention that a draw is half a win for both."""
    for part, games, bound in ((0.9635, 10_000, -320), (0.994, 1000, -280), (0.798, 1000, -80), (0.695, 100, -4)):
        wins = round(part * games)
        draws = 1 if wins != part * games else 0
        rate = Rate(wins - draws, draws, games - wins)
        assert rate.log10_p < bound
    assert 0.01 < Rate(168, 1, 131).p < 0.05


def test_the_chi_square_of_the_report():
    assert Rate(496, 0, 504).chi_square == pytest.approx((0.098, 0.7542), abs=1e-4)
    assert Rate(502, 1, 497).chi_square == pytest.approx((0.032, 0.858), abs=1e-3)
    assert Rate(10, 0, 0).chi_square[1] < 0.001


def test_wilsons_interval():
    low, high = Rate(81, 0, 182).interval  # Newcombe 1998, table I
    assert (low, high) == pytest.approx((0.2553, 0.3662), abs=1e-4)


def test_ratings_find_the_strengths_that_games_were_drawn_from():
    draw, strengths = np.random.default_rng(5), np.array([300.0, 0.0, -50.0, -250.0])
    inside = []
    for _ in range(40):
        scores = np.zeros((4, 4))
        for a in range(4):
            for b in range(a):
                scores[a, b] = draw.binomial(200, 1 / (1 + math.exp((strengths[b] - strengths[a]) / ELO)))
                scores[b, a] = 200 - scores[a, b]
        found = ratings(scores)
        inside += list(abs(found.points - strengths) <= found.errors)
    assert 0.9 <= np.mean(inside) < 1


def test_ratings_of_one_who_wins_all_are_finite_and_strangers_are_refused():
    scores = np.array([[0, 10.0], [0, 0]])
    assert np.ptp(ratings(scores).points) == pytest.approx(400 * math.log10(21))
    assert np.isfinite(ratings(scores).errors).all()
    with pytest.raises(ArenaError, match="connect"):
        ratings(np.zeros((2, 2)))


@pytest.mark.slow
def test_the_sequential_test_is_wrong_as_rarely_as_it_says():
    draw, test = np.random.default_rng(6), Sequential(0.5, 0.6)
    for mean, right in ((0.5, "low"), (0.6, "high")):
        wrong, taken = 0, []
        for _ in range(80):
            counts = [0] * 5
            while (verdict := test.verdict(counts)) is None:
                counts[draw.binomial(4, mean)] += 1
            wrong += verdict != right
            taken.append(sum(counts))
        assert wrong <= 80 * 0.14
        assert 10 < np.mean(taken) < 200


def test_pairs_are_games_with_swapped_sides():
    games = [{"number": number, "winner": winner} for number, winner in enumerate((0, 0, 1, 2, 1, 1, 0))]
    assert pairs_of(games) == [1, 1, 0, 0, 1]
    assert rate_of(games) == Rate(3, 1, 3)
