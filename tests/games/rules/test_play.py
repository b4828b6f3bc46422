"""One play of a game: the referee's answers, each player's knowledge, and refusals."""

import doctest
from itertools import product
from random import Random

import pytest

from pttt_ooc.errors import GameError
from pttt_ooc.games.rules import play
from pttt_ooc.games.rules.catalogue import GAMES, named_game
from pttt_ooc.games.rules.play import Attempt, attempts_at, replay, start
from tests.kits import naive

PLAYOUTS = 25


def assert_same(history, reference):
    """A history agrees with that of the naive reference."""
    assert history.is_terminal == reference.is_terminal() and history.winner == reference.winner
    assert history.returns == reference.returns() and history.legal() == reference.legal()
    assert history.placed == reference.placed
    assert (history.infoset(0), history.infoset(1)) == reference.nodes
    assert history.is_terminal or history.player == reference.player


@pytest.mark.parametrize("name", GAMES)
def test_random_plays_agree_with_the_naive_reference(name):
    game, rng = GAMES[name], Random(name)
    for _ in range(PLAYOUTS):
        history, reference = start(game), naive.History.start(game)
        assert_same(history, reference)
        while not reference.is_terminal():
            square = rng.choice(reference.legal())
            history, reference = history.step(square), reference.attempt(square)
            assert_same(history, reference)


def test_all_histories_of_a_small_game_are_found():
    game = named_game("mini-2x3k3-abrupt-after-1-4")

    def count(history):
        return 1 + sum(count(history.step(square)) for square in history.legal())

    assert count(start(game)) == naive.count_histories(game)[0]


@pytest.mark.long_but("mini")
@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", ["mini-2x2k2-abrupt", "mini-2x3k2-classical", "pttt-abrupt-after-1-0-3-2-4-8"])
def test_a_text_is_an_infoset_if_attempts_lead_to_it(name):
    game = named_game(name)
    for player in (0, 1):
        there, setup = set(naive.infosets(game, player)), len(game.setup[player])
        for text in there:
            assert attempts_at(game, player, text) == tuple(naive.attempts(text)[setup:])
            for square, mark in product(range(game.squares), "*."):
                longer = f"{text}{square}{mark}"
                assert (attempts_at(game, player, longer) is not None) == (longer in there), longer
    for bad in ("", "0*", "|0", "|0+", "|0*0*", "|9*", "|0* ", "|00*"):
        assert attempts_at(game, 0, bad) is None


def test_a_step_does_not_change_its_history():
    game = named_game("mini-2x2k2-abrupt")
    history = replay(game, [0, 0])
    following = [history.step(square) for square in history.legal()]
    assert [h.attempts[-1] for h in following] == [Attempt(0, s, True) for s in (1, 2, 3)]
    assert history.attempts == (Attempt(0, 0, True), Attempt(1, 0, False)) and history == replay(game, [0, 0])
    assert len({history, replay(game, [0, 0]), *following}) == 4  # they can be keys


def test_refusals():
    game = named_game("mini-2x2k2-abrupt")
    for square in (0, 4, -1):
        with pytest.raises(GameError, match=rf"Player 0 cannot attempt square {square} at '\|0\*'; choose one of 1, 2"):
            replay(game, [0, 1]).step(square)
    with pytest.raises(GameError, match="The game mini-2x2k2-abrupt is over after 3 attempts"):
        replay(game, [0, 1, 2, 3])


def test_the_example():
    assert doctest.testmod(play).failed == 0 and doctest.testmod(play).attempted == 4
