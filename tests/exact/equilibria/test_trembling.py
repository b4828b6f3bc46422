"""Best responses to an opponent who trembles, and those to a plan that is completed by them: by brute force."""

import numpy as np
import pytest

from pttt_ooc.exact.double_oracle.complete_strategy import CompleteStrategy
from pttt_ooc.exact.double_oracle.lazy_response import Responder
from pttt_ooc.exact.double_oracle.stored_rule import complete_plan
from pttt_ooc.exact.equilibria.trembling import trembling_response
from pttt_ooc.games.rules.catalogue import named_game
from tests.kits import naive
from tests.kits.equilibria import face_of
from tests.kits.helpers import symmetric_table

pytest.importorskip("scipy")

TREMBLE = 0.01


def mixed_before(game, player, first, second):
    """The rows that play `second` with the probability TREMBLE from the start on, else `first`."""
    rows = {}
    for text in naive.infosets(game, player):
        parts = ((1 - TREMBLE, first), (TREMBLE, second))
        weights = [part * naive.reach(game, player, text, rows_of) for part, rows_of in parts]
        both = weights[0] * np.array(first[text]) + weights[1] * np.array(second[text])
        rows[text] = (both / sum(weights)).tolist()
    return rows


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", ["mini-2x3k3-abrupt-after-1-4", "dark-hex-2x2-abrupt", "mini-2x3k2-abrupt"])
def test_a_trembling_opponent_is_answered_best_everywhere(name):
    game, face = named_game(name), face_of(name)
    for player in (0, 1):
        other = 1 - player
        steady = symmetric_table(face.exact_strategy(other))
        mixture = mixed_before(game, other, steady, naive.uniform(game, other))
        found = trembling_response(face, player, TREMBLE)
        rows = symmetric_table(found)
        pair = (rows, mixture) if player == 0 else (mixture, rows)
        best = naive.best_response_value(game, player, mixture)
        assert naive.value(game, *pair) == pytest.approx(best if player == 0 else -best, abs=1e-12)

        # As the rule of an exact plan: still an equilibrium strategy, and the lazy response is the enumerated one.
        plan = complete_plan(face.rules, face.exact.plans[player], found)
        complete, skipped = CompleteStrategy(face.rules, player, plan), len(game.setup[player])
        texts = naive.infosets(game, player)
        whole = {text: complete.probabilities(tuple(naive.attempts(text)[skipped:])).tolist() for text in texts}
        value = naive.best_response_value(game, other, whole)
        assert Responder(face.rules, other, 4).respond(plan).value == pytest.approx(value, abs=1e-12)
        assert value == pytest.approx(-face.value if player == 0 else face.value, abs=1e-9)
