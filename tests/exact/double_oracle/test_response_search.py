"""A best response in parts is the whole one: its value, its actions, and what brute force finds."""

import random
from itertools import pairwise

import numpy as np
import pytest

from pttt_ooc.exact.double_oracle import oracle as oracle_module
from pttt_ooc.exact.double_oracle import response_search
from pttt_ooc.exact.double_oracle.lazy_response import Responder, allow_response
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.exact.double_oracle.response_search import ResponseSearch
from pttt_ooc.exact.double_oracle.sparse_plan import behave, first_infoset, played_part
from pttt_ooc.games.rules.catalogue import named_game
from tests.exact.double_oracle.oracles import assert_proven_by_brute_force

pytest.importorskip("highspy")

GAMES = ["mini-2x3k3-abrupt", "mini-2x3k3-classical", "mini-2x3k3-abrupt-after-1", "dark-hex-2x3-abrupt"]


def allowed(rules, player, response):
    """The actions of a response, as (infoset, square) by what the infoset knows on the way."""
    plan, _ = allow_response(rules, first_infoset(rules, player), response)
    paths = {0: ()}
    for infoset in range(int(plan.counts[0])):
        for square in range(rules.squares):
            for placed in (0, 1):
                if (after := int(plan.children[infoset, 2 * square + placed])) >= 0:
                    paths[after] = (*paths[infoset], (square, placed))
    return {
        (paths[k], square)
        for k, row in enumerate(plan.actions[: plan.counts[0]])
        for square in np.flatnonzero(row >= 0)
    }


def in_parts(oracle, player, order):
    """The response of a player, whose subtrees are searched in a random order; and their number."""
    plans = [played_part(oracle.rules, p, plan) for p, plan in enumerate(oracle.plans)]
    responder = Responder(oracle.rules, player, 1.0)
    responder.face(plans[1 - player], plans[player])
    search, count = ResponseSearch(responder, player, plans[player]), 0
    while search.ready:
        subtree = search.ready.pop(order.randrange(len(search.ready)))
        other = Responder(oracle.rules, player, 1.0)  # somewhere else, with tables of its own
        other.face(plans[1 - player], plans[player])
        search.put(subtree, other.search(subtree))
        count += 1
    return search.response, count


@pytest.mark.slow_but_one
@pytest.mark.long_but("dark-hex", "after-1", "k3-abrupt")
@pytest.mark.parametrize("name", GAMES)
def test_a_response_in_parts_is_the_whole_one(name, monkeypatch):
    monkeypatch.setattr(response_search, "LEAST_INFOSETS", 4)
    oracle, order, counts = DoubleOracle(named_game(name)), random.Random(5), []
    for each in oracle.rounds():
        for player in (0, 1):
            whole = Responder(oracle.rules, player, 1.0).respond(oracle.plans[1 - player], oracle.plans[player])
            parts, count = in_parts(oracle, player, order)
            again, _ = in_parts(oracle, player, order)
            counts.append(count)
            assert parts.value == pytest.approx(whole.value, abs=1e-14) and parts.value == again.value
            assert allowed(oracle.rules, player, parts) == allowed(oracle.rules, player, whole)
            for name_of, part in parts.steps._asdict().items():
                np.testing.assert_array_equal(part, getattr(again.steps, name_of))
        if each.number == 12:
            break
    assert max(counts) > 1


class Elsewhere:
    """Searches subtrees in a random order, each with tables of its own, as processes on other machines would."""

    def __init__(self, rules):
        self.rules, self.order, self.most = rules, random.Random(7), 0

    def run(self, plans, searches):
        for player, search in enumerate(searches):
            count = 0
            while search.ready:
                subtree = search.ready.pop(self.order.randrange(len(search.ready)))
                other = Responder(self.rules, player, 0.01)
                other._capacity = 1 << 10
                other.face(plans[1 - player], plans[player])
                search.put(subtree, other.search(subtree))
                count += 1
            self.most = max(self.most, count)


def test_rounds_find_the_same_bits_wherever_and_in_whatever_order_subtrees_are_searched(monkeypatch):
    """Subtrees of this game have positions in common: what one has proven must not be used in another."""
    monkeypatch.setattr(response_search, "LEAST_INFOSETS", 4)
    game = named_game("dark-hex-2x3-abrupt")
    one, two, elsewhere = DoubleOracle(game), DoubleOracle(game, threads=2), DoubleOracle(game)
    elsewhere._runner = runner = Elsewhere(elsewhere.rules)
    for _ in one.rounds():
        states = [one.state(), *(each.round() and each.state() for each in (two, elsewhere))]
        assert [{name: part.tobytes() for name, part in state.items()} for state in states[1:]] == [
            {name: part.tobytes() for name, part in states[0].items()}
        ] * 2
    assert runner.most > 10 and one.last.number > 20


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("least", [1, 4])
def test_rounds_find_the_same_bits_when_space_runs_out_again_and_again(name, least, monkeypatch):
    """What was found before is found again, in searches and in outlooks, and nothing of it counts twice."""
    monkeypatch.setattr(response_search, "LEAST_INFOSETS", least)
    plain, tight, order = DoubleOracle(named_game(name)), DoubleOracle(named_game(name)), random.Random(least)
    for last in plain.rounds():
        for responder in tight._responders:
            responder._capacity = order.choice([1, 2, 3, 5, 9, 17, 40])
        tight.round()
        states = [{part: numbers.tobytes() for part, numbers in each.state().items()} for each in (plain, tight)]
        assert states[0] == states[1], last.number
        if last.number == 30:
            break


@pytest.mark.slow_but_one
@pytest.mark.long_but("classical", "after-1")
@pytest.mark.parametrize("name", GAMES[1:])
def test_rounds_in_parts_prove_what_brute_force_finds(name, monkeypatch):
    """Also when the restricted game drops what is not played."""
    monkeypatch.setattr(response_search, "LEAST_INFOSETS", 4)
    monkeypatch.setattr(oracle_module, "LARGE", 10)
    monkeypatch.setattr(oracle_module, "MOSTLY_UNPLAYED", 1.2)
    oracle = DoubleOracle(named_game(name))
    for last in oracle.rounds():
        if last.number % 8 and not last.settled:
            continue
        assert_proven_by_brute_force(oracle)
    assert last.nashconv < 1e-12


@pytest.mark.parametrize("least", [1e-14, 0.02, 0.5])
def test_what_a_trimmed_plan_keeps_is_a_strategy(least):
    """Where the plan comes, its chances add up to 1, and the likeliest action stays; elsewhere there are none."""
    oracle = DoubleOracle(named_game("mini-2x3k3-abrupt"))
    for _ in range(8):
        oracle.round()
    for player, plan in enumerate(oracle.plans):
        size, reach = int(plan.counts[1]), np.ones(int(plan.counts[1]))
        for sequence in range(size):
            before = plan.before[plan.infosets[sequence]]
            weight = plan.chances[sequence] * plan.orbits[sequence]
            reach[sequence] = weight * (reach[before] if before >= 0 else 1)
        behave(plan, reach, least)
        for infoset in range(int(plan.counts[0])):
            own = plan.actions[infoset][plan.actions[infoset] >= 0]
            before = plan.before[infoset]
            comes = before < 0 or plan.chances[before] > 0
            weights = plan.chances[own] * plan.orbits[own]
            if len(own):
                assert weights.sum() == pytest.approx(1.0 if comes else 0.0, abs=1e-12)
            if len(own) and comes:
                assert weights[np.argmax(reach[own])] > 0
                assert set(reach[own][weights > 0] > least) == {True} or (weights > 0).sum() == 1
        played = played_part(oracle.rules, player, plan)
        assert played.counts[1] == (plan.chances[:size] > 0).sum() and (played.chances[: played.counts[1]] > 0).all()


@pytest.mark.slow
def test_what_is_not_played_is_dropped_and_a_saved_run_drops_the_same(monkeypatch):
    monkeypatch.setattr(oracle_module, "LARGE", 40)
    monkeypatch.setattr(oracle_module, "MOSTLY_UNPLAYED", 1.5)
    whole, sizes = DoubleOracle(named_game("mini-2x3k3-abrupt")), []
    cut = DoubleOracle(named_game("mini-2x3k3-abrupt"))
    for each in whole.rounds():
        sizes.append(sum(each.sequences))
        cut.round()
        state, cut = cut.state(), DoubleOracle(named_game("mini-2x3k3-abrupt"))
        cut.restore(state)
        assert {name: part.tobytes() for name, part in state.items()} == {
            name: part.tobytes() for name, part in whole.state().items()
        }
    assert sum(after < before for before, after in pairwise(sizes)) > 1  # the programs' pruning is one of them
    assert whole.last.nashconv < 1e-12 and whole.last.best_lower == pytest.approx(whole.last.best_upper, abs=1e-12)
