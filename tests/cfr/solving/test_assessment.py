"""Assessments of single strategies agree with evaluations of pairs."""

import random

import pytest

from pttt_ooc.cfr.solving.assessment import assess
from pttt_ooc.cfr.solving.evaluation import evaluate
from pttt_ooc.errors import StrategyError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.strategy import uniform_strategy
from tests.kits.helpers import SMALL, TINY, as_strategy, random_table, small_engine


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", TINY + SMALL)
def test_assessments_agree_with_an_evaluation(name):
    game, engine, rng = named_game(name), small_engine(name), random.Random(name)
    both = [as_strategy(engine.index, player, random_table(game, player, rng)) for player in (0, 1)]
    whole = evaluate(both[0], both[1], engine, (0.25, 0.75))
    one, other = (assess(strategy, engine) for strategy in both)
    assert one.gradient.value(other.plan) == pytest.approx(-whole.value, abs=1e-12)
    assert other.gradient.value(one.plan) == pytest.approx(whole.value, abs=1e-12)
    assert (one.best_response, other.best_response) == (whole.best_response_1, whole.best_response_0)
    for assessed, figure in ((one, whole.exploitability_0), (other, whole.exploitability_1)):
        assert max(assessed.exploitability((0.25, 0.75)), 0.0) == figure  # an interval of no game: it may be negative


def test_progress_rises_to_one_and_can_stop_the_work():
    engine, shares = small_engine("mini-2x3k2-abrupt"), []
    assess(uniform_strategy(engine.index, 0), engine, shares.append)
    assert shares == sorted(shares) and shares[-1] == 1

    def refuse(share):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        assess(uniform_strategy(engine.index, 0), engine, refuse)


def test_an_index_with_symmetry_is_refused():
    engine = small_engine("mini-2x3k2-abrupt", "full")
    with pytest.raises(ValueError, match="without symmetry"):
        assess(uniform_strategy(engine.index, 0), engine)


def test_a_strategy_of_another_game_is_refused():
    engine, other = small_engine("mini-2x3k2-abrupt"), small_engine("mini-3x2k2-classical")
    with pytest.raises(StrategyError):
        assess(uniform_strategy(other.index, 0), engine)
