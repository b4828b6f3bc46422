"""Best responses: their value equals that of a walk over histories, and the strategy achieves it."""

import random
from dataclasses import replace

import numpy as np
import pytest

from pttt_ooc.cfr.solving.best_response import best_response
from pttt_ooc.cfr.solving.evaluation import evaluate
from pttt_ooc.errors import StrategyError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.strategy import Strategy, uniform_strategy
from pttt_ooc.games.structure.symmetry import unfold
from tests.kits import naive
from tests.kits.helpers import SMALL, TINY, as_strategy, random_table, sequence_texts, small_engine

SYMMETRIC = [name for name in TINY + SMALL if len(named_game(name).symmetries) > 1]


def pair(responding, strategy):
    """Both strategies in the sequence of players."""
    return (strategy, responding) if strategy.player == 0 else (responding, strategy)


def payoff(found, player):
    return found.value if player == 0 else -found.value


def table(strategy):
    rows = {}
    for (text, square), probability in zip(
        sequence_texts(strategy.index, strategy.player), strategy.probabilities.tolist(), strict=True
    ):
        rows.setdefault(text, [0.0] * strategy.index.game.squares)[square] = probability
    return rows


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", TINY + SMALL)
@pytest.mark.parametrize("player", [0, 1])
def test_a_best_response_has_the_value_of_the_walk_over_histories(name, player):
    game, engine = named_game(name), small_engine(name)
    given = random_table(game, player, random.Random(f"{name} {player}"))
    strategy = as_strategy(engine.index, player, given)
    response = best_response(strategy, engine)
    assert response.player == 1 - player
    assert response.value == pytest.approx(naive.best_response_value(game, 1 - player, given), abs=1e-12)
    own = response.strategy()
    found = evaluate(*pair(own, strategy), engine)
    assert payoff(found, 1 - player) == pytest.approx(response.value, abs=1e-12)
    assert response.value == (found.best_response_0, found.best_response_1)[1 - player]
    reply = table(own)
    assert {p for row in reply.values() for p in row} <= {0.0, 1.0}
    both = (given, reply) if player == 0 else (reply, given)
    value = naive.value(game, *both)
    assert (value if player == 1 else -value) == pytest.approx(response.value, abs=1e-12)


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", SYMMETRIC)
@pytest.mark.parametrize("player", [0, 1])
def test_with_symmetry_the_response_is_symmetric_and_has_the_same_value(name, player):
    game, folded, whole = named_game(name), small_engine(name, "full"), small_engine(name)
    given = random_table(game, player, random.Random(name), symmetric=True)
    response = best_response(as_strategy(folded.index, player, given), folded)
    plain = best_response(as_strategy(whole.index, player, given), whole)
    assert response.value == pytest.approx(plain.value, abs=1e-12)
    own = response.strategy()
    found = evaluate(*pair(own, as_strategy(folded.index, player, given)), folded)
    assert payoff(found, 1 - player) == pytest.approx(response.value, abs=1e-7)  # means of images are single precision
    reply = table(unfold(own, whole.index))
    mirrored = naive.symmetrise(game, 1 - player, reply)
    assert max(abs(a - b) for text in reply for a, b in zip(reply[text], mirrored[text], strict=True)) < 1e-6


def test_of_equally_good_actions_the_lowest_square_is_chosen():
    # Two of four squares win, wherever they are: all first squares are worth the same, and so are all second ones.
    engine = small_engine("mini-2x2k2-abrupt")
    response = best_response(uniform_strategy(engine.index, 1, np.float64), engine)
    chosen = {text: np.flatnonzero(row).tolist() for text, row in table(response.strategy()).items()}
    assert (chosen["|"], chosen["|0*"], chosen["|1*"], chosen["|0*1."]) == ([0], [1], [0], [2])


def test_a_better_action_is_chosen():
    """An immediate win is chosen on any square, above any other squares."""
    name = "mini-2x3k3-abrupt-after-1"  # player 0 has square 1, and three in a row win
    game, engine = named_game(name), small_engine(name)
    row = {text: [0.0] * game.squares for text in naive.infosets(game, 1)}
    for text in row:  # player 1 attempts the highest squares, and leaves 0 and 2 alone as long as it can
        legal = naive.legal_squares(game, text)
        row[text][max(legal)] = 1.0
    response = best_response(as_strategy(engine.index, 1, row), engine)
    assert response.value == naive.best_response_value(game, 0, row) == 1
    chosen = {text: np.argmax(p) for text, p in table(response.strategy()).items()}
    assert chosen["|1*0*"] == 2 and chosen["|1*2*"] == 0


def test_the_precision_of_the_engine_does_not_matter():
    double, single = (small_engine(SMALL[0], dtype=dtype) for dtype in (np.float64, np.float32))
    strategy = uniform_strategy(double.index, 0)
    one, other = best_response(strategy, double), best_response(strategy, single)
    assert one.value == other.value and one.choices.tobytes() == other.choices.tobytes()


def test_a_strategy_of_another_layout_is_refused():
    engine = small_engine(TINY[0])
    with pytest.raises(StrategyError, match="symmetry full"):
        best_response(uniform_strategy(small_engine(TINY[0], "full").index, 0), engine)
    strategy = uniform_strategy(engine.index, 0)
    with pytest.raises(StrategyError, match="shape"):
        best_response(replace(strategy, probabilities=strategy.probabilities[1:]), engine)


def test_probabilities_are_written_to_a_given_array():
    engine = small_engine(TINY[0])
    response = best_response(uniform_strategy(engine.index, 0), engine)
    into = np.full(engine.index.players[1].sequences, 9, np.float32)
    found = response.strategy(into)
    assert isinstance(found, Strategy) and found.probabilities is into
    assert into.tobytes() == response.strategy().probabilities.tobytes()
