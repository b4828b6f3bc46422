"""The game that strategies are for, by what their headers tell; and sentences for what they are not."""

from pathlib import Path

import pytest

from pttt_ooc.errors import StrategyError, StrategyFileError
from pttt_ooc.library.api.strategy_names import NamedStrategy, further_of, games_of_shape, named_strategy

ABRUPT, WIDE, TINY = "mini-2x3k2-abrupt", "mini-3x2k2-abrupt", "mini-2x2k2-classical"


def tensor(player, *shape):
    name = f"{player}-{shape[0]}.zip"
    return NamedStrategy(name, "tensor", Path(name), player, shape=shape)


def bundle(game, player=0, *shape):
    return NamedStrategy("b.h5", "bundle", Path("b.h5"), player, game=game, shape=shape or None)


def test_shapes_tell_the_games_that_they_fit():
    assert games_of_shape((189, 6), 0) == games_of_shape((107, 6), 1) == [ABRUPT, WIDE]
    assert games_of_shape((189, 6), 1) == games_of_shape((189, 9), 0) == games_of_shape(None, 0) == []
    assert further_of([tensor(0, 4033, 6)], None).name == "dark-hex-2x3-abrupt"
    assert further_of([tensor(0, 4033, 6), tensor(1, 2725, 6)], None).name == "dark-hex-2x3-abrupt"
    assert further_of([tensor(0, 189, 6), bundle(WIDE)], None).name == WIDE
    assert further_of([tensor(1, 107, 6)], ABRUPT).name == ABRUPT
    assert further_of([], None).name == "pttt-abrupt"


@pytest.mark.parametrize(
    ("strategies", "game", "sentence"),
    [
        ([tensor(0, 189, 6)], None, f"0-189.zip: The shape (189, 6) fits {ABRUPT} or {WIDE}; say which by --game."),
        (
            [tensor(0, 189, 6), tensor(1, 35, 4)],
            None,
            f"The strategies are for different games: 0-189.zip fits {ABRUPT} or {WIDE}, but 1-35.zip fits "
            "dark-hex-2x2-abrupt.",
        ),
        (
            [tensor(1, 189, 6)],
            None,
            "1-189.zip: Invalid tensor shape: found (189, 6), as no game has for player 1. This is a file of player "
            f"0 in {ABRUPT} or {WIDE}, not of player 1.",
        ),
        ([tensor(0, 3)], None, "0-3.zip: Invalid tensor shape: found (3,), as no game has for player 0."),
        (
            [tensor(1, 189, 6)],
            ABRUPT,
            f"1-189.zip: Invalid tensor shape: found (189, 6), expected (107, 6) for player 1 in {ABRUPT}. This is a "
            "file of player 0, not of player 1.",
        ),
        (
            [tensor(0, 189, 6)],
            TINY,
            f"0-189.zip: Invalid tensor shape: found (189, 6), expected (17, 4) for player 0 in {TINY}; it fits "
            f"{ABRUPT} or {WIDE}: give the game by --game.",
        ),
        (
            [tensor(1, 189, 6)],
            TINY,
            f"1-189.zip: Invalid tensor shape: found (189, 6), expected (5, 4) for player 1 in {TINY}; it fits player "
            f"0 in {ABRUPT} or {WIDE}.",
        ),
        (
            [tensor(0, 3, 6)],
            TINY,
            f"0-3.zip: Invalid tensor shape: found (3, 6), expected (17, 4) for player 0 in {TINY}.",
        ),
        ([bundle(ABRUPT)], WIDE, f"b.h5: This is a pair of strategies of {ABRUPT}, not of {WIDE}; leave out --game"),
        ([bundle(ABRUPT), bundle(WIDE)], None, f"b.h5 is for {ABRUPT}, but b.h5 is for {WIDE}."),
        ([bundle("go")], None, "b.h5: This is for the game 'go', which this program does not know."),
    ],
)
def test_what_does_not_fit_gets_a_sentence(strategies, game, sentence):
    with pytest.raises((StrategyError, StrategyFileError)) as refused:
        further_of(strategies, game)
    assert str(refused.value).startswith(sentence)


def test_a_name_that_is_none_gets_a_sentence(tmp_path):
    for name, sentence in (
        ("", "A strategy's name is empty; a strategy is a .zip, a .npy"),
        (str(tmp_path), "This directory holds no solution; a strategy is"),
        (str(tmp_path / "none.zip"), "There is no such file or directory; a strategy is"),
        (__file__, "Not a known kind of file; a strategy is"),
    ):
        with pytest.raises(StrategyFileError) as refused:
            named_strategy(name, 0)
        assert sentence in str(refused.value)
    assert named_strategy("uniform", 1).kind == "uniform"
