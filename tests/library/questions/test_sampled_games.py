"""Random games: their frequencies equal exact values."""

import numpy as np
import pytest

from pttt_ooc.errors import ImpossibleInfosetError, StrategyError
from pttt_ooc.games.rules.play import replay
from pttt_ooc.library.questions.infoset import numbers
from pttt_ooc.library.questions.sampled_games import choose, row_at, sample_game
from tests.kits import naive
from tests.kits.helpers import as_strategy
from tests.kits.questioned import GAMES, NAMES, engine_of, infosets, profile_of, tables_of

PLAYED = 3000


@pytest.mark.slow
@pytest.mark.parametrize(("name", "symmetry"), [("mini-2x3k2-abrupt", "full"), ("mini-2x3k2-classical", "none")])
def test_infosets_and_payoffs_have_the_exact_frequencies(name, symmetry):
    game = GAMES[NAMES.index(name)]
    profile, rng = profile_of(game, symmetry), np.random.default_rng(1)
    counts, payoffs = {}, []
    for _ in range(PLAYED):
        history = sample_game(profile.strategies, rng)
        assert history.is_terminal
        payoffs.append(history.returns[0])
        for n in range(len(history.attempts)):
            before = replay(game, [attempt.square for attempt in history.attempts[:n]])
            key = before.player, before.infoset(before.player)
            counts[key] = counts.get(key, 0) + 1
    for key in infosets(game):
        expected = numbers(profile, *key).joint_reach
        error = (expected * (1 - expected) / PLAYED) ** 0.5
        assert abs(counts.get(key, 0) / PLAYED - expected) <= 5 * error, key
    assert counts.keys() <= set(infosets(game))
    error = np.std(payoffs) / PLAYED**0.5
    assert abs(np.mean(payoffs) - profile.evaluation.value) <= 5 * error


@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("game", GAMES[1:4], ids=lambda game: game.name)
def test_rows_are_the_strategy(game, symmetry):
    for player, table in enumerate(tables_of(game, symmetry)):
        strategy = profile_of(game, symmetry).strategies[player]
        for text in naive.infosets(game, player):
            assert row_at(strategy, text) == pytest.approx(table[text], abs=1e-15)


def test_rows_are_scaled_and_uniform_where_all_probabilities_are_zero():
    index = engine_of(GAMES[1], "none").index
    rows = {text: [0.0] * 6 for text in naive.infosets(GAMES[1], 0)}
    rows["|"] = [1.0, 0, 0, 0, 0, 3.0]
    strategy = as_strategy(index, 0, rows)
    assert row_at(strategy, "|").tolist() == [0.25, 0, 0, 0, 0, 0.75]
    assert row_at(strategy, "|0*").tolist() == [0, 0.2, 0.2, 0.2, 0.2, 0.2]


class Fixed:
    """Gives a fixed number instead of a random one."""

    def __init__(self, number):
        self.number = number

    def random(self):
        return self.number


def test_the_choice_follows_the_probabilities_from_the_first_square_to_the_last():
    game = GAMES[1]
    index = engine_of(game, "none").index
    rows = {text: [0.0] * 6 for text in naive.infosets(game, 0)}
    rows["|"] = [0, 0.25, 0, 0.5, 0.25, 0]
    strategy = as_strategy(index, 0, rows)
    drawn = [0.0, 0.2499, 0.25, 0.7499, 0.75, np.nextafter(1, 0)]
    assert [choose(strategy, "|", Fixed(number)) for number in drawn] == [1, 1, 3, 3, 4, 4]
    # Six sixths sum to less than 1; the last square is still chosen.
    uniform = as_strategy(index, 0, {text: [0.0] * 6 for text in rows})
    assert choose(uniform, "|", Fixed(np.nextafter(1, 0))) == 5


def test_the_same_seed_plays_the_same_game():
    strategies = profile_of(GAMES[1], "full").strategies
    games = [sample_game(strategies, np.random.default_rng(seed)) for seed in (7, 7, 8, 9, 10)]
    assert games[0] == games[1] and len({game.attempts for game in games}) > 1


def test_strategies_that_cannot_play_each_other_are_refused():
    first, second = profile_of(GAMES[1], "full").strategies
    other = profile_of(GAMES[0], "full").strategies[1]
    for pair in ((second, first), (first, first), (first, other)):
        with pytest.raises(StrategyError, match="one of player 1"):
            sample_game(pair, np.random.default_rng(0))
    with pytest.raises(ImpossibleInfosetError):
        choose(second, "|0*0*", np.random.default_rng(0))
