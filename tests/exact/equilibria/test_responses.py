"""Best responses that keep to given choices: these change only where something else is better by more than told."""

import numpy as np
import pytest

from pttt_ooc.exact.equilibria.responses import Responses
from tests.kits.helpers import small_engine


@pytest.mark.parametrize("player", [0, 1])
def test_choices_change_only_for_more_than_the_tolerance(player):
    responses = Responses(small_engine("mini-2x2k2-abrupt"))
    i = responses.index.players[player]
    orders = np.diff(i.node_start)
    actions = np.diff(i.sequence_start) // np.maximum(orders, 1)
    last = np.repeat(np.maximum(actions - 1, 0), orders).astype(np.uint8)
    assert last.max() > 0
    payoffs = np.zeros(i.sequences)
    value, choices, _ = responses.best(player, payoffs, last)
    assert value == 0 and np.array_equal(choices, last), "nothing is better than something else"
    payoffs[0] = 1.0  # of the first action at the first infoset
    for tolerance in (1.5, 1.0):
        value, choices, _ = responses.best(player, payoffs, last, tolerance)
        assert value == 1 and np.array_equal(choices, last)
    value, choices, _ = responses.best(player, payoffs, last, 0.5)
    assert value == 1 and choices[0] == 0 and np.array_equal(choices[1:], last[1:])
