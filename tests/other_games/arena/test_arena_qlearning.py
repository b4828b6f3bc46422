"""Q-learning: values come to what they should be where that is known, and lessons can be repeated."""

import numpy as np
import pytest

from pttt_ooc.other_games.arena.agents.catalogue import agent
from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.kernels import ultimate, ultimate_values
from pttt_ooc.other_games.arena.kernels.qlearning import LearntValues, qlearning
from pttt_ooc.other_games.arena.kernels.rng import generator
from pttt_ooc.other_games.arena.kernels.transposition_table import key_with_depth
from pttt_ooc.other_games.arena.matches.runner import run
from pttt_ooc.other_games.arena.matches.settings import Match
from pttt_ooc.other_games.arena.matches.statistics import rate_of
from tests.other_games.arena import naive_search
from tests.other_games.arena import naive_ultimate as naive
from tests.other_games.arena.arena_kit import ULTIMATE, late, winning_moves

KERNELS = qlearning(ultimate, ultimate_values)


def empty_table():
    return LearntValues(np.zeros(1 << 14, dtype=np.int64), np.zeros(1 << 14), np.zeros(0))


def value_of(learnt, state, move):
    with np.errstate(over="ignore"):
        places = np.flatnonzero(learnt.keys == key_with_depth(state[3], np.int64(move)))
    return float(learnt.values[places[0]]) if len(places) else 0.0


def test_features_are_those_of_the_heuristic():
    out = np.zeros(ultimate_values.FEATURES)
    for seed in range(20):
        _, moves = naive.random_game(seed)
        position = naive.after(moves[: 10 + 2 * seed])
        ultimate_values.features(ULTIMATE.after(moves[: 10 + 2 * seed]), out)
        pairs = zip(naive_search.features(position, "x"), naive_search.features(position, "o"), strict=True)
        assert out.tolist() == [own - other for own, other in pairs]


def test_a_win_in_one_is_learnt_to_the_value_that_it_has():
    """With the rate r, after n visits: (1 - (1 - r)**n) of the gain in score."""
    seen = 0
    for seed in range(30):
        moves, position = late(seed, 1)
        winning = winning_moves(position)
        if len(winning) != 1 or len(position.moves()) > 4:
            continue
        state, learnt = ULTIMATE.after(moves), empty_table()
        KERNELS.train(state, 400, 1.0, 0.5, 0.9, False, learnt, generator(seed))
        standing = int(ultimate_values.standing(state)) * (1 if position.to_move == "x" else -1)
        assert value_of(learnt, state, winning[0]) == pytest.approx(500 - standing, abs=0.01)
        assert {KERNELS.choose(state, learnt, generator(draw)) for draw in range(10)} == {winning[0]}
        seen += 1
    assert seen > 3


def test_the_discount_is_that_of_the_next_decision():
    learnt, state = empty_table(), ULTIMATE.start()
    KERNELS.train(state, 1, 0.0, 1.0, 0.9, False, learnt, generator(3))
    assert 40 < (learnt.keys != 0).sum() <= 81
    assert sorted(learnt.values)[-1] > 490 or sorted(learnt.values)[0] > -10  # who has won has seen it


def test_nothing_learnt_is_chance():
    drawn = [KERNELS.choose(ULTIMATE.after([0, 3]), empty_table(), generator(number)) for number in range(600)]
    assert set(drawn) == set(range(27, 36)) and max(map(drawn.count, set(drawn))) < 110


def test_features_learn_to_beat_chance_and_lessons_can_be_repeated():
    texts = ("qfeatures:train=300", "random")
    games = run(Match("ultimate", texts, 60))
    assert rate_of(games).rate > 0.8
    assert run(Match("ultimate", texts, 60)) == games


def test_learning_without_bounds_is_told():
    with pytest.raises(ArenaError, match="lower its rate"):
        agent("qfeatures:rate=1,train=50").seat(ULTIMATE)
