"""The textbook's CFR agrees with the fast solver, infoset by infoset."""

import numpy as np
import pytest

import pttt_ooc as pttt
from pttt_ooc.cfr.solving.textbook import Textbook
from pttt_ooc.games.rules.catalogue import named_game


@pytest.mark.long_but("2x3k2")
@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", ["mini-2x3k2-classical", "mini-2x3k3-abrupt-after-1-4"])
def test_the_fast_solver_agrees_with_the_textbook(name):
    iterations = 7  # each strategy depends on all previous ones, so an error in any of them shows here
    settings = {"algorithm": "cfr", "precision": "float64", "max_iterations": iterations, "target_nashconv": 0}
    solution = pttt.solve(pttt.game(name), symmetry="none", **settings)
    average = Textbook(named_game(name)).run(iterations)
    for player in (0, 1):
        texts = list(solution[player])
        assert set(texts) == average[player].keys()
        found = np.array([solution[player][text] for text in texts])
        expected = np.array([average[player][text] for text in texts])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)  # what is stored is single
