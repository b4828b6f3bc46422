"""The lazy best response is the enumerated one, in value and as a strategy: against brute force over all histories."""

import numpy as np
import pytest

from pttt_ooc.exact.double_oracle.lazy_response import Responder, allow_response, allow_steps, new_steps
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.exact.double_oracle.sparse_plan import allow, behave, first_infoset, next_infoset, with_capacity
from pttt_ooc.games.rules.catalogue import named_game
from tests.exact.double_oracle.oracles import table
from tests.kits import naive

pytest.importorskip("highspy")

GAMES = [
    *(
        "mini-2x2k2-abrupt",
        "mini-2x3k2-abrupt",
        "mini-2x3k3-abrupt",
        "mini-2x3k3-classical",
        "mini-2x3k3-abrupt-after-1",
    ),
    *("dark-hex-2x2-abrupt", "dark-hex-2x3-abrupt", "dark-hex-2x3-classical", "pttt-abrupt-after-1-0-3-2-4-8"),
]


def uniform_plan(rules, player):
    """A plan in which every action is allowed, with equal chances."""
    plan, infoset = first_infoset(rules, player), 0
    while infoset < plan.counts[0]:
        plan = with_capacity(plan, 3 * rules.squares)
        left = ~int(plan.marks[infoset] | plan.fails[infoset]) & rules.full
        for square in range(rules.squares):
            if left >> square & 1 and rules.least[plan.stabilisers[infoset], square] == square:
                sequence = allow(rules, plan, infoset, square)
                plan.chances[sequence] = 1 / left.bit_count()
                if left.bit_count() > 1:
                    for placed in (0, 1):
                        next_infoset(rules, plan, infoset, square, placed)
        infoset += 1
    return plan


def opponents(name, kind):
    """The double oracle of a game, after rounds that bring plans of that kind."""
    oracle = DoubleOracle(named_game(name), memo_mb=4)
    if kind == "uniform":
        oracle.plans = uniform_plan(oracle.rules, 0), uniform_plan(oracle.rules, 1)
        return oracle
    while not oracle.round().settled:
        if kind == "tenth" and oracle.last.nashconv < 0.3:  # a pair in which both lose about a tenth
            break
    return oracle


@pytest.mark.long_but("mini-2x2", "mini-2x3k2", "abrupt-exact", "4-8-tenth")
@pytest.mark.slow_but_one
@pytest.mark.parametrize("kind", ["exact", "tenth", "uniform"])
@pytest.mark.parametrize("name", GAMES)
def test_a_lazy_response_is_best_in_value_and_as_a_strategy(name, kind):
    oracle = opponents(name, kind)
    game, rules = oracle.game, oracle.rules
    for player in (0, 1):
        opponent = oracle.plans[1 - player]
        rows = table(oracle, 1 - player, opponent)
        if kind == "uniform":
            for text, row in rows.items():
                legal = naive.legal_squares(game, text)
                assert row == pytest.approx([(square in legal) / len(legal) for square in range(game.squares)])
        best = naive.best_response_value(game, player, rows)
        for own in (None, oracle.plans[player]):
            found = Responder(rules, player, 4).respond(opponent, own)
            assert found.value == pytest.approx(best, abs=1e-12)
        response = Responder(rules, player, 4).respond(opponent)
        reply, size = allow_response(rules, first_infoset(rules, player), response)
        assert size == reply.counts[1] and reply.choices.max(initial=0) <= 1  # a pure strategy
        behave(reply, np.ones(size), 0.0)
        both = {player: table(oracle, player, reply), 1 - player: rows}
        assert naive.value(game, both[0], both[1]) == pytest.approx(best if player == 0 else -best, abs=1e-12)


def test_square_8_is_known_whether_kernels_are_compiled_or_interpreted():
    """As a number of 8 bits, 1 << 8 is 256 in compiled code, but 0 in numpy: marks and failures would overlap."""
    oracle, knowledge = DoubleOracle(named_game("dark-hex-3x3-abrupt")), []
    for function in {allow_steps, getattr(allow_steps, "py_func", allow_steps)}:
        steps, plan = new_steps(3, 9), with_capacity(first_infoset(oracle.rules, 0), 8)
        steps.parents[:], steps.results[:], steps.squares[:] = (-1, 0, 0), (0, 0, 1), (8, 4, 4)
        function(oracle.rules, plan, steps, np.zeros(3, np.int64))
        knowledge.append((plan.marks[:3].tolist(), plan.fails[:3].tolist()))
    assert set(map(str, knowledge)) == {str(([0, 0, 256], [0, 256, 0]))}


@pytest.mark.parametrize("player", [0, 1])
def test_an_outlook_is_the_same_when_positions_need_more_space(player):
    """What was found before space ran out does not count twice."""
    oracle = opponents("mini-2x3k3-abrupt", "uniform")
    found, tries = [], 0
    for capacity in (1 << 16, *range(1, 40)):
        responder = Responder(oracle.rules, player, 1.0)
        responder._capacity = capacity
        responder.face(oracle.plans[1 - player], oracle.plans[player])
        outlooks = [responder.outlook(path) for path in ((), ((0, 0),), ((1, 1),), ((1, 1), (3, 0)), ((2, 1), (0, 1)))]
        found.append([part.tobytes() for outlook in outlooks for part in outlook])
        tries += responder._capacity > capacity
    assert tries > 5 and found.count(found[0]) == len(found)
