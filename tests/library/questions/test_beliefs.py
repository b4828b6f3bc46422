"""Beliefs at infosets, against a walk over all histories."""

import random
from collections import defaultdict

import numpy as np
import pytest

from pttt_ooc.cfr.sweep.engine import Engine
from pttt_ooc.errors import ImpossibleInfosetError, StrategyError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure.strategy import uniform_strategy
from pttt_ooc.library.questions.infoset import beliefs, drawn_infoset
from tests.kits import naive
from tests.kits.helpers import SMALL, TINY, as_strategy, full_index, random_table, small_engine

GAMES = TINY + SMALL


def all_histories(game, player, strategy):
    """For each infoset of a player, its histories: (opponent's reach, true boards, the opponent's node)."""
    found = defaultdict(list)

    def walk(history, reach):
        if history.is_terminal():
            return
        if history.player == player:
            found[history.nodes[player]].append((reach, history.placed, history.nodes[1 - player]))
        for square in history.legal():
            own = history.player == player
            walk(history.attempt(square), reach * (1 if own else strategy[history.nodes[1 - player]][square]))

    walk(naive.History.start(game), 1.0)
    return found


def expected(game, player, histories):
    """Beliefs from the histories of an infoset: reach, marks, empty squares, boards, orders and numbers of attempts."""
    reached = sum(reach for reach, _, _ in histories)
    boards, orders, attempts = defaultdict(float), defaultdict(float), defaultdict(float)
    marks, empty = np.zeros(game.squares), np.zeros(game.squares)
    total = reached or len(histories)
    for reach, placed, node in histories:
        probability = (reach if reached else 1) / total
        boards[placed] += probability
        orders[placed, node] += probability
        attempts[len(naive.attempts(node)) - len(game.setup[1 - player])] += probability
        for square in range(game.squares):
            marks[square] += probability * (placed[1 - player] >> square & 1)
            empty[square] += probability * (not (placed[0] | placed[1]) >> square & 1)
    return reached, marks, empty, boards, orders, attempts


def positive(numbers):
    return {key: number for key, number in numbers.items() if number > 0}


def check(game, player, text, found, histories):
    reached, marks, empty, boards, orders, attempts = expected(game, player, histories)
    assert (found.player, found.infoset, found.arbitrary) == (player, text, reached == 0)
    assert found.reached == pytest.approx(reached, abs=1e-12)
    np.testing.assert_allclose(found.marks, marks, atol=1e-12)
    np.testing.assert_allclose(found.empty, empty, atol=1e-12)
    assert dict(found.opponent_attempts) == pytest.approx(positive(attempts), abs=1e-12)
    told = {(b.mine, b.theirs) if player == 0 else (b.theirs, b.mine): b for b in found.boards}
    assert {placed: b.probability for placed, b in told.items()} == pytest.approx(positive(boards), abs=1e-12)
    said = {(placed, node): p for placed, b in told.items() for node, p in b.orders}
    assert said == pytest.approx(positive(orders), abs=1e-12)
    likely = [b.probability for b in found.boards]
    assert likely == sorted(likely, reverse=True)
    assert all([p for _, p in b.orders] == sorted((p for _, p in b.orders), reverse=True) for b in found.boards)


@pytest.mark.long_but("2x2", "2x3k2", "0-dark-hex-3x2-classical-full", "abrupt-after-0")
@pytest.mark.slow_but_one
@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("player", [0, 1])
def test_beliefs_are_those_of_all_histories(name, player, symmetry):
    game, rng = named_game(name), random.Random(f"{name} {player}")
    if symmetry == "full" and len(game.symmetries) == 1:
        pytest.skip("the game has no symmetry")
    index = small_engine(name, symmetry).index
    table = random_table(game, 1 - player, rng, symmetric=symmetry == "full")
    strategy, histories = as_strategy(index, 1 - player, table), all_histories(game, player, table)
    assert set(histories) == set(naive.infosets(game, player))
    texts = sorted(histories)
    for text in {naive.setup_text(game, player), *rng.sample(texts, min(len(texts), 60))}:
        check(game, player, text, beliefs(full_index(name), strategy, player, text, 10**6, 10**6), histories[text])


@pytest.mark.parametrize("rule", ["abrupt", "classical"])
@pytest.mark.parametrize("player", [0, 1])
def test_symmetries_that_do_not_commute(player, rule):
    """On a square board with long games, in which symmetries are composed."""
    game = Game("long", 2, 2, ((0b1111,), (0b1111,)), rule)
    engine, table = Engine.of_game(game, "full", threads=1), random_table(game, 1 - player, random.Random(1), 0, True)
    strategy, histories = as_strategy(engine.index, 1 - player, table), all_histories(game, player, table)
    for text in histories:
        check(game, player, text, beliefs(engine.index, strategy, player, text, 100, 100), histories[text])


def test_attempts_are_equally_likely_where_all_probabilities_are_zero():
    """As in the engine and in files."""
    index = small_engine("mini-2x3k2-abrupt").index
    strategy, zeros = (uniform_strategy(index, 1, np.float64) for _ in range(2))
    zeros.probabilities[:] = 0
    for text in random.Random(1).sample(naive.infosets(index.game, 0), 20):
        one, other = (beliefs(index, each, 0, text) for each in (strategy, zeros))
        np.testing.assert_allclose(one.marks, other.marks, atol=1e-15)
        assert one.reached == pytest.approx(other.reached, abs=1e-15) and not other.arbitrary


def test_an_example_by_hand():
    """Player 1 plays uniformly: it began with square 4, and its second attempt was any other square."""
    index = small_engine("mini-2x3k3-abrupt-after-1").index  # player 0 has square 1, and player 1 begins
    found = beliefs(index, uniform_strategy(index, 1, np.float64), 0, "1* 4.", boards=2, orders=1)
    assert found.infoset == "|1*4." and found.reached == pytest.approx(1 / 6) and not found.arbitrary
    np.testing.assert_allclose(found.marks, [0.2, 0, 0.2, 0.2, 1, 0.2])
    np.testing.assert_allclose(found.empty, [0.8, 0, 0.8, 0.8, 0, 0.8])
    assert [(b.mine, b.theirs) for b in found.boards] == [(0b10, 0b10000), (0b10, 0b10001)]
    assert [b.orders[0][0] for b in found.boards] == ["|4*1.", "|4*0*"]
    assert found.boards[0].orders[0][1] == found.boards[0].probability == pytest.approx(0.2)
    assert found.opponent_attempts == {2: 1}


def test_histories_count_equally_where_the_opponent_has_no_reach():
    name = "mini-2x3k3-abrupt-after-1"
    game, index = named_game(name), small_engine(name).index
    table = {text: [0.0] * game.squares for text in naive.infosets(game, 1)}
    for text, row in table.items():
        row[naive.legal_squares(game, text)[0]] = 1.0
    found = beliefs(index, as_strategy(index, 1, table), 0, "|1*5.")
    assert found.arbitrary and found.reached == 0
    np.testing.assert_allclose(found.marks, [0.2, 0, 0.2, 0.2, 0.2, 1])


def test_single_precision_probabilities_are_scaled_to_sum_to_1():
    index = small_engine("mini-2x3k2-abrupt").index
    single, double = (uniform_strategy(index, 1, dtype) for dtype in (np.float32, np.float64))
    texts = random.Random(1).sample(naive.infosets(index.game, 0), 20)
    for text in texts:
        one, other = (beliefs(index, strategy, 0, text) for strategy in (single, double))
        assert one.reached == pytest.approx(other.reached, abs=1e-15)


def test_invalid_questions_are_refused():
    index = small_engine("mini-2x3k2-abrupt").index
    with pytest.raises(StrategyError, match="player 1's in mini-2x3k2-abrupt"):
        beliefs(index, uniform_strategy(index, 1), 1, "|")
    with pytest.raises(StrategyError, match="in mini-2x3k2-classical"):
        beliefs(index, uniform_strategy(small_engine("mini-2x3k2-classical").index, 1), 0, "|")
    with pytest.raises(ImpossibleInfosetError, match="attempted twice"):
        beliefs(index, uniform_strategy(index, 1), 0, "|0*0*")


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", ["mini-2x3k2-abrupt", "mini-2x3k2-classical", "mini-2x3k3-abrupt-after-1"])
@pytest.mark.parametrize("player", [0, 1])
def test_an_infoset_is_drawn_as_often_as_it_is_believed(name, player):
    """A grid of numbers in place of random ones: each infoset gets its share of them, but for rounding."""
    rng, index, game = random.Random(5), full_index(name), named_game(name)
    table = random_table(game, 1 - player, rng, 0.3)
    opponent, walked = as_strategy(index, 1 - player, table), all_histories(game, player, table)
    n = 400
    for text in rng.sample(sorted(walked), min(12, len(walked))):
        shares, total = defaultdict(float), sum(reach for reach, _, _ in walked[text])
        for reach, _, node in walked[text]:
            shares[node] += reach / total if total else 1 / len(walked[text])
        counts = defaultdict(int)
        for k in range(n):
            counts[drawn_infoset(index, opponent, player, text, k / n)] += 1
        assert set(counts) <= set(positive(shares))
        assert all(abs(counts[node] - n * share) <= 1 + 1e-9 for node, share in shares.items())
        last = drawn_infoset(index, opponent, player, text, 1 - 2**-53)
        assert shares[last] > 0
