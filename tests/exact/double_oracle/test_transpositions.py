"""Infosets that are recognised again: fewer are visited, and no value changes, as brute force confirms."""

import numpy as np
import pytest

from pttt_ooc.exact.double_oracle import lazy_response
from pttt_ooc.exact.double_oracle.lazy_response import Responder
from pttt_ooc.exact.double_oracle.opponent_positions import new_positions
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.exact.double_oracle.sparse_plan import behave, played_part
from pttt_ooc.exact.double_oracle.transpositions import new_transpositions, transposition_key
from pttt_ooc.games.rules.catalogue import named_game
from tests.exact.double_oracle.oracles import table
from tests.exact.double_oracle.test_lazy_response import uniform_plan
from tests.kits import naive


def random_plan(rules, player, seed):
    """A plan in which every action is allowed, with chances by lot, some of them 0."""
    plan, generator = uniform_plan(rules, player), np.random.default_rng(seed)
    reach = np.zeros(int(plan.counts[1]))
    for infoset in range(int(plan.counts[0])):
        sequences = [int(k) for k in plan.actions[infoset] if k >= 0]
        chances = generator.dirichlet(np.full(len(sequences), 0.7))
        before = reach[plan.before[infoset]] if infoset else 1.0
        reach[sequences] = before * np.where(chances < 0.1, 0.0, chances)
    behave(plan, reach, 1e-14)
    return plan


@pytest.mark.slow_but_one
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["dark-hex-2x3-classical", "mini-2x3k3-classical", "dark-hex-2x3-abrupt"])
def test_against_chances_by_lot_values_are_those_of_brute_force(name, seed):
    oracle = DoubleOracle(named_game(name), memo_mb=4)
    for player in (0, 1):
        opponent = random_plan(oracle.rules, 1 - player, seed)
        best = naive.best_response_value(oracle.game, player, table(oracle, 1 - player, opponent))
        for bounded in (True, False):  # without bounds, more is visited again
            assert Responder(oracle.rules, player, 4).respond(opponent, bounded=bounded).value == pytest.approx(best)


@pytest.mark.parametrize("name, player", [("dark-hex-3x3-classical", 1), ("pttt-classical", 0)])
def test_less_is_visited_where_failures_cost_nothing(name, player, monkeypatch):
    oracle = DoubleOracle(named_game(name), memo_mb=4)
    for _ in range(4):
        oracle.round()
    opponent, found = played_part(oracle.rules, 1 - player, oracle.plans[1 - player]), {}
    for entries in (1 << 16, 1):
        monkeypatch.setattr(lazy_response, "new_transpositions", lambda entries=entries: new_transpositions(entries))
        found[entries] = Responder(oracle.rules, player, 4).respond(opponent, bounded=False)
    assert found[1 << 16].value == found[1].value
    assert np.array_equal(found[1 << 16].steps.squares, found[1].steps.squares)
    assert found[1 << 16].visited < 0.6 * found[1].visited


@pytest.mark.parametrize(("name", "player"), [("dark-hex-2x3-classical", 1), ("mini-2x3k3-classical", 0)])
def test_a_search_that_had_too_little_room_leaves_no_bound(name, player):
    oracle = DoubleOracle(named_game(name), memo_mb=4)
    opponent, found = random_plan(oracle.rules, 1 - player, 0), []
    for capacity in (1 << 16, 3):
        responder = Responder(oracle.rules, player, 4)
        responder._capacity = capacity
        found.append(responder.respond(opponent, bounded=False))
    assert found[0].value == found[1].value
    assert np.array_equal(found[0].steps.squares, found[1].steps.squares)


def key(**changes):
    """The key of an infoset with three positions of the opponent, of which the second one may be changed."""
    positions, digests = new_positions(4), np.arange(8, dtype=np.uint64).reshape(4, 2) + np.uint64(5)
    for k in range(3):
        positions.infosets[k], positions.marks[k], positions.fails[k] = k - 1, 1 << k, 64 << k
        positions.orientations[k], positions.stabilisers[k], positions.reach[k] = k, 1 + k, 0.1 * (k + 1)
    known = {"own": 8, "tried": 16, "stabiliser": 3} | {name: changes.pop(name) for name in KNOWN & changes.keys()}
    order = changes.pop("order", (0, 1, 2))
    for name, value in changes.items():
        getattr(positions, name)[1] = value
    for column in positions:
        column[:3] = column[list(order)]
    with np.errstate(over="ignore"):
        return transposition_key(digests, positions, (0, 3), **known)


KNOWN = {"own", "tried", "stabiliser"}
CHANGES = [
    *({"own": 9}, {"tried": 17}, {"stabiliser": 1}, {"infosets": 1}, {"infosets": -1}, {"orientations": 2}),
    *({"marks": 3}, {"fails": 3}, {"stabilisers": 4}, {"reach": 0.25}),
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_both_words_of_a_key_tell_what_the_future_depends_on(change):
    assert all(one != other for one, other in zip(key(), key(**change), strict=True))


def test_the_order_of_positions_does_not_matter():
    assert key() == key(order=(2, 0, 1))
