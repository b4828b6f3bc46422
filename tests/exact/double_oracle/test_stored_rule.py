"""Best responses to a plan with a stored strategy elsewhere: against brute force over all histories."""

from random import Random

import numpy as np
import pytest

from pttt_ooc.errors import ConfigError, MemoryBudgetError
from pttt_ooc.exact.double_oracle.complete_strategy import CompleteStrategy
from pttt_ooc.exact.double_oracle.lazy_response import Responder, allow_response
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.exact.double_oracle.sparse_plan import behave, first_infoset
from pttt_ooc.exact.double_oracle.stored_rule import complete_plan
from pttt_ooc.games.rules.catalogue import named_game
from tests.kits import naive
from tests.kits.helpers import as_strategy, random_table, small_engine

pytest.importorskip("highspy")

GAMES = [
    *("mini-2x3k3-abrupt-after-1", "dark-hex-2x3-abrupt", "mini-2x3k3-classical"),
    *("mini-2x2k2-abrupt", "mini-2x3k2-abrupt", "dark-hex-2x3-classical", "pttt-abrupt-after-1-0-3-2-4-8"),
]
PARTIAL = GAMES[:3]  # after a round, both players have plans that end before the game


def plans_of(name, rounds):
    """The double oracle of a game after a number of rounds."""
    oracle = DoubleOracle(named_game(name), memo_mb=4)
    for _ in range(rounds):
        oracle.round()
    return oracle


def rows_of(oracle, player, plan, stored):
    """What the plan does where it allows something, else the stored strategy, by text; and the texts of the latter."""
    complete, skipped = CompleteStrategy(oracle.rules, player, plan), len(oracle.game.setup[player])
    rows, elsewhere = {}, set()
    for text in naive.infosets(oracle.game, player):
        attempts = tuple(naive.attempts(text)[skipped:])
        if complete.allowed_squares(attempts) is None:
            rows[text], _ = stored[text], elsewhere.add(text)
        else:
            rows[text] = complete.probabilities(attempts).tolist()
    return rows, elsewhere


@pytest.mark.slow
@pytest.mark.long_but("mini-2x2", "mini-2x3k2", "after", "dark-hex-2x3-abrupt-0")
@pytest.mark.parametrize("rounds", [1, 0])
@pytest.mark.parametrize("name", GAMES)
def test_a_best_response_to_a_plan_and_a_stored_strategy(name, rounds):
    oracle, rng = plans_of(name, rounds), Random(7)
    game, rules, index = oracle.game, oracle.rules, small_engine(name, "full").index
    for player in (0, 1):
        other = 1 - player
        stored = random_table(game, other, rng, 0.6, symmetric=True)
        rows, elsewhere = rows_of(oracle, other, oracle.plans[other], stored)
        before = oracle.plans[other].counts.copy()
        plan = complete_plan(rules, oracle.plans[other], as_strategy(index, other, stored))
        assert (oracle.plans[other].counts == before).all()

        # The plan is complete: what it does is what both do, wherever the player's own actions lead.
        complete, used = CompleteStrategy(rules, other, plan), 0
        for text, row in rows.items():
            if naive.reach(game, other, text, rows) > 0:
                found = complete.probabilities(tuple(naive.attempts(text)[len(game.setup[other]) :]))
                assert found.tolist() == pytest.approx(row, abs=1e-12)
                used += text in elsewhere
        assert used or name not in PARTIAL

        # The response is the enumerated one, in value and as a strategy, with any bounds and with an own plan.
        best = naive.best_response_value(game, player, rows)
        for own, bounded in ((None, True), (None, False), (oracle.plans[player], True)):
            response = Responder(rules, player, 4).respond(plan, own, bounded)
            assert response.value == pytest.approx(best, abs=1e-12)
        reply, size = allow_response(rules, first_infoset(rules, player), Responder(rules, player, 4).respond(plan))
        behave(reply, np.ones(size), 0.0)
        answer = CompleteStrategy(rules, player, reply)
        pure = {
            text: answer.probabilities(tuple(naive.attempts(text)[len(game.setup[player]) :])).tolist()
            for text in naive.infosets(game, player)
        }
        both = (pure, rows) if player == 0 else (rows, pure)
        assert naive.value(game, *both) == pytest.approx(best if player == 0 else -best, abs=1e-12)


def test_mirror_images_of_an_action_are_mixed_evenly():
    oracle, rng = plans_of("mini-2x3k2-abrupt", 0), Random(3)
    table = random_table(oracle.game, 0, rng, 0)
    index = small_engine("mini-2x3k2-abrupt", "full").index
    plan = complete_plan(oracle.rules, oracle.plans[0], as_strategy(index, 0, table))
    corners, middles = (sum(table["|"][square] for square in squares) for squares in ((0, 2, 3, 5), (1, 4)))
    opening = CompleteStrategy(oracle.rules, 0, plan).probabilities(())
    assert opening.tolist() == pytest.approx([corners / 4, middles / 2, corners / 4] * 2)


def test_what_cannot_complete_a_plan_is_refused():
    name = "mini-2x3k2-abrupt"
    oracle, rng = plans_of(name, 0), Random(1)
    for symmetry, error, words in (("none", ConfigError, "symmetry full"), ("full", MemoryBudgetError, "0.01 MB")):
        stored = as_strategy(small_engine(name, symmetry).index, 0, random_table(oracle.game, 0, rng, 0, True))
        with pytest.raises(error, match=words):
            complete_plan(oracle.rules, oracle.plans[0], stored, megabytes=0.01)
