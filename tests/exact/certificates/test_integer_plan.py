"""Plans with integer weights and their best responses: against brute force, with and without bounds."""

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pttt_ooc.errors import GameError, StrategyError
from pttt_ooc.exact.certificates import integer_response as integer_response_module
from pttt_ooc.exact.certificates import limbs
from pttt_ooc.exact.certificates.behaviours import DENOMINATOR, StrategyBehaviour, rounded_plan, shares
from pttt_ooc.exact.certificates.certificate import Certificate, guarantees, read, write
from pttt_ooc.exact.certificates.integer_plan import integer_plan
from pttt_ooc.exact.certificates.integer_response import integer_response
from pttt_ooc.exact.double_oracle.rule_tables import rule_tables
from pttt_ooc.games.rules.catalogue import GAMES, named_game
from pttt_ooc.games.structure.strategy import uniform_strategy
from tests.kits import naive
from tests.kits.helpers import as_strategy, full_index, random_table
from tests.kits.verify_program import PROOF, proven_words, verify

SMALL = [n for n, game in GAMES.items() if n.startswith(("mini", "dark-hex-2", "dark-hex-3x2")) and not any(game.setup)]
ONE_OF_EACH = ["mini-2x3k3-abrupt", "mini-2x3k3-classical", "dark-hex-2x3-abrupt", "dark-hex-3x2-classical"]


def rows_of(game, player, plan):
    """The strategy by text, for the brute force; uniform where the plan does not come."""
    rows = naive.uniform(game, player)
    for infoset, text in enumerate(plan.texts):
        row, begin = [0.0] * game.squares, plan.starts[infoset]
        for action in range(begin, begin + plan.sizes[infoset]):
            row[plan.squares[action]] = float(Fraction(plan.weights[action], plan.arriving[infoset]))
        rows[text] = row
    return rows


def plans_of(name, seed, zero_probability):
    game, draw = named_game(name), random.Random(seed)
    tables = [random_table(game, player, draw, zero_probability) for player in (0, 1)]
    strategies = [as_strategy(full_index(name), player, tables[player]) for player in (0, 1)]
    return game, tables, tuple(rounded_plan(strategy) for strategy in strategies)


@pytest.mark.long_but("2x2", "2x3k2", "3x2k2", "dark-hex-2x3", "3x2-classical")
@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", SMALL)
def test_committed_plans_guarantee_by_brute_force_what_they_claim(name):
    certificate = read(PROOF / f"{name}.txt.gz")
    game, value = certificate.game, float(certificate.lower)
    assert game.name == name and certificate.exact
    for player in (0, 1):
        rows = rows_of(game, 1 - player, certificate.plans[1 - player])
        assert naive.best_response_value(game, player, rows) == pytest.approx((-value, value)[player == 0], abs=1e-12)


@pytest.mark.slow
@pytest.mark.long_but("0.7", "dark-hex-2x3")
@pytest.mark.parametrize("zero_probability", [0.0, 0.7])
@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_random_plans_guarantee_what_brute_force_and_the_program_say(name, zero_probability, tmp_path):
    game, tables, plans = plans_of(name, 7, zero_probability)
    found = guarantees(game, plans)
    assert float(found.upper) == pytest.approx(naive.best_response_value(game, 0, tables[1]), abs=1e-12)
    assert float(found.lower) == pytest.approx(-naive.best_response_value(game, 1, tables[0]), abs=1e-12)
    path = tmp_path / "certificate.txt.gz"
    write(Certificate(game, found.lower, found.upper, plans), path)
    proven = f"proven: {proven_words(found.lower, found.upper)}"
    assert verify(path)[-1] == proven
    if zero_probability or game.turn_rule == "abrupt":
        assert verify(path, "--every-attempt")[-1] == proven
    again = read(path)
    for plan, other in zip(plans, again.plans, strict=True):
        assert vars(plan) == vars(other)


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", ["dark-hex-2x3-abrupt", "mini-2x3k3-classical", "mini-2x3k3-abrupt"])
def test_bounds_change_no_value_and_spare_visits(name):
    game, _, plans = plans_of(name, 3, 0.5)
    for player in (0, 1):
        bounded, whole = (integer_response(rule_tables(game), player, plans[1 - player], b) for b in (True, False))
        assert bounded.value == whole.value
        assert bounded.visited < whole.visited


@pytest.mark.parametrize(
    ("name", "most"),
    [("mini-2x3k3-abrupt", 200), ("dark-hex-4x3-classical", 3_000)],  # 898 and 44,136 if each attempt is searched whole
)
def test_a_response_searches_only_what_can_still_win(name, most):
    """And nothing twice that two orders of attempts lead to: on the second board that would be 4,778."""
    certificate = read(PROOF / f"{name}.txt.gz")
    rules, value = rule_tables(certificate.game), certificate.lower
    found = [integer_response(rules, player, certificate.plans[1 - player]) for player in (0, 1)]
    assert [Fraction(found[p].value, certificate.plans[1 - p].denominator) for p in (0, 1)] == [value, -value]
    assert sum(each.visited for each in found) < most


@pytest.mark.slow
def test_the_infosets_of_a_plan_are_those_that_the_rules_allow():
    """The tree of the uniform plan has every infoset of the game; the others end no history that its player knows."""
    for name in SMALL:
        game = named_game(name)
        for player in (0, 1):
            plan = rounded_plan(uniform_strategy(full_index(name), player, np.float64))
            assert set(naive.infosets(game, player)) <= set(plan.texts)
            assert len(set(plan.texts)) == plan.infosets
            for text in set(plan.texts) - naive.nodes(game, player):
                known = sum(1 << square for square, placed in naive.attempts(text) if not placed)
                assert not game.wins(1 - player, known)


@pytest.mark.slow
def test_a_response_that_does_not_fit_is_found_with_more_space(monkeypatch):
    game, _, plans = plans_of("mini-2x3k3-abrupt", 5, 0.2)
    expected = integer_response(rule_tables(game), 0, plans[1])
    monkeypatch.setattr(integer_response_module, "CAPACITY", 16)
    found = integer_response(rule_tables(game), 0, plans[1])
    assert (found.value, found.visited) == (expected.value, expected.visited)
    np.testing.assert_array_equal(found.squares, expected.squares)


def test_uniform_strategies_are_not_rounded(tmp_path):
    """The course's figures, which other people's programs gave, on the board where they are short."""
    plans = tuple(rounded_plan(uniform_strategy(full_index("mini-2x3k2-abrupt"), p, np.float64)) for p in (0, 1))
    found = guarantees(named_game("mini-2x3k2-abrupt"), plans)
    assert (found.lower, found.upper) == (Fraction(1, 5), Fraction(13, 15))


def test_a_game_with_a_setup_has_no_certificate():
    name = "mini-2x3k3-abrupt-after-1"
    with pytest.raises(GameError, match="empty boards"):
        rounded_plan(uniform_strategy(full_index(name), 0, np.float64))


@pytest.mark.slow
def test_a_plan_that_reaches_too_much_is_refused_before_it_is_written():
    strategy = uniform_strategy(full_index("mini-2x3k3-abrupt"), 1, np.float64)
    size = rounded_plan(strategy).infosets
    assert rounded_plan(strategy, size).infosets == size
    with pytest.raises(StrategyError, match=rf"more than {size - 1:,} infosets.*pttt certify --game mini-2x3k3-abrupt"):
        rounded_plan(strategy, size - 1)
    with pytest.raises(StrategyError, match="more than 10 infosets"):
        integer_plan(named_game("mini-2x3k3-abrupt"), 1, StrategyBehaviour(strategy), 10)


@given(st.integers(1, DENOMINATOR), st.lists(st.floats(0, 1), min_size=1, max_size=10).filter(lambda p: sum(p) > 1e-3))
def test_shares_add_up_and_are_off_by_less_than_one(weight, probabilities):
    parts, total = shares(weight, probabilities), sum(map(Fraction, probabilities))
    assert sum(parts) == weight
    for part, probability in zip(parts, probabilities, strict=True):
        assert abs(part - weight * Fraction(probability) / total) < 1
        assert part == 0 or probability > 0


@given(st.lists(st.integers(0, 2**200), min_size=2, max_size=20), st.integers(0, 2**20))
def test_limbs_are_integers(numbers, times):
    size = limbs.limbs_needed(sum(numbers))
    rows, total = limbs.to_limbs(numbers, size), np.zeros(size, np.int64)
    for k, row in enumerate(rows):
        (limbs.subtract if k % 2 else limbs.add)(total, row)
    limbs.make_proper(total)
    expected = sum(numbers[::2]) - sum(numbers[1::2])
    assert limbs.from_limbs(total) == expected
    assert all(0 <= limb < 2**32 for limb in total[:-1])
    for one in (numbers[0], numbers[1]):
        assert limbs.less(total, limbs.to_limbs([one], size)[0]) == (expected < one)
        assert limbs.less(limbs.to_limbs([one], size)[0], total) == (one < expected)


def test_weights_that_are_all_zero_mean_uniform_play():
    """As everywhere; also behind an infoset that is mixed."""
    game = named_game("mini-2x2k2-abrupt")
    for player in (0, 1):
        uniform = naive.uniform(game, player)
        rows = {text: [1.0, 3.0, 0.0, 0.0] if text == "|" else [0.0] * 4 for text in uniform}
        zeros, filled = (
            rounded_plan(as_strategy(full_index(game.name), player, table))
            for table in (rows, uniform | {"|": [0.25, 0.75, 0.0, 0.0]})
        )
        assert vars(zeros) == vars(filled)
        written = rows_of(game, player, zeros)
        assert all(written[text] == pytest.approx(row) for text, row in uniform.items() if text != "|")
