"""Double oracles for tests: run to their end, compared, and their plans as tables by text."""

import numpy as np

from pttt_ooc.exact.double_oracle.complete_strategy import CompleteStrategy
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.games.rules.catalogue import named_game
from tests.kits import naive


def finished(oracle):
    """The oracle after its last round."""
    while not (oracle.last and oracle.last.settled):
        oracle.round()
    return oracle


def solved(name, **options):
    """The double oracle of a game, after its last round."""
    return finished(DoubleOracle(named_game(name), **options))


def assert_same(one, other):
    """Two oracles have the same bits."""
    assert (one.last.lower, one.last.upper, one.last.number) == (other.last.lower, other.last.upper, other.last.number)
    for plan, same in zip(one.plans, other.plans, strict=True):
        assert plan.counts.tolist() == same.counts.tolist()
        size = int(plan.counts[1])
        np.testing.assert_array_equal(plan.chances[:size], same.chances[:size])
    first, second = one.checked_program, other.checked_program
    np.testing.assert_array_equal(first.columns, second.columns)
    np.testing.assert_array_equal(first.rows, second.rows)
    np.testing.assert_array_equal(first.program.entries, second.program.entries)


def row_of(oracle, player, plan, text):
    """What plan and rule do at an infoset."""
    attempts = tuple(naive.attempts(text)[len(oracle.game.setup[player]) :])
    return CompleteStrategy(oracle.rules, player, plan).probabilities(attempts)


def table(oracle, player, plan=None):
    """The complete strategy of a plan, by default the oracle's own, by text."""
    plan = oracle.plans[player] if plan is None else plan
    return {text: row_of(oracle, player, plan, text).tolist() for text in naive.infosets(oracle.game, player)}


def assert_proven_by_brute_force(oracle):
    """The interval of the last round is that of all histories."""
    rows, last = [table(oracle, p) for p in (0, 1)], oracle.last
    assert abs(last.upper - naive.best_response_value(oracle.game, 0, rows[1])) < 1e-12
    assert abs(last.lower + naive.best_response_value(oracle.game, 1, rows[0])) < 1e-12
    return rows
