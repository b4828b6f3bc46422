"""Typed infosets: all possible ones are read, and for all others the nearest one is found."""

import random

import pytest

from pttt_ooc.errors import ImpossibleInfosetError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure.infoset_parser import check_infoset
from tests.kits import naive
from tests.kits.helpers import SMALL, TINY

FULL = named_game("pttt-abrupt")


def text_of(attempts):
    return "|" + "".join(f"{square}{'*' if placed else '.'}" for square, placed in attempts)


def nearest(known, text):
    """The longest prefix of a well-formed text that is an infoset; else the shortest infoset."""
    attempts = naive.attempts(text)
    beginnings = [text_of(attempts[:n]) for n in range(len(attempts) + 1)]
    possible = [beginning for beginning in beginnings if beginning in known]
    return possible[-1] if possible else min(known, key=len)


def mutated(game, text, rng):
    """The text with another square, another outcome, one more attempt, or two attempts exchanged."""
    attempts = naive.attempts(text)
    at = rng.randrange(len(attempts) + 1)
    attempt = (rng.randrange(game.squares), rng.random() < 0.5)
    choice = rng.randrange(3)
    if choice == 0 or not attempts:
        return text_of([*attempts[:at], attempt, *attempts[at:]])
    at = rng.randrange(len(attempts))
    if choice == 1:
        return text_of([*attempts[:at], attempt, *attempts[at + 1 :]])
    other = rng.randrange(len(attempts))
    attempts[at], attempts[other] = attempts[other], attempts[at]
    return text_of(attempts)


@pytest.mark.slow_but_one
@pytest.mark.long_but("2x2", "2x3k2", "after-1-4")
@pytest.mark.parametrize("name", TINY + SMALL)
@pytest.mark.parametrize("player", [0, 1])
def test_exactly_the_infosets_are_possible(name, player):
    game, rng = named_game(name), random.Random(f"{name} {player}")
    known = naive.infosets(game, player)
    texts = rng.sample(known, min(len(known), 300))
    known, refused = set(known), 0
    for text in texts:
        assert check_infoset(game, player, text) == text
        for other in (mutated(game, text, rng), mutated(game, mutated(game, text, rng), rng)):
            if other in known:
                assert check_infoset(game, player, other) == other
                continue
            with pytest.raises(ImpossibleInfosetError) as error:
                check_infoset(game, player, other)
            assert error.value.nearest == nearest(known, other), other
            refused += 1
    assert refused > min(len(texts), 10)


@pytest.mark.parametrize(
    ("player", "typed", "reason", "possible"),
    [
        (0, "|0*0*", "square 0 is attempted twice", "|0*"),
        (0, "|0*9*", "there is no square 9; pttt-abrupt has the squares 0 to 8", "|0*"),
        (0, "|4.", "player 1 has not had the turns to place the mark found on 4", "|"),
        (0, "|0*1.3.4.2.5.", "the marks found on 1, 2, 3, 4 and 5 mean that player 1 had won", "|0*1.3.4.2."),
        (1, "|0.1.2.", "the marks found on 0, 1 and 2 mean that player 0 had won before", "|0.1."),
        (0, "|0*1*2*", "with square 2 player 0 has won, and the game is over", "|0*1*"),
        (0, "|0*1*2*5*", "with square 2 player 0 has won, and the game is over", "|0*1*"),
        (1, "|3*0.2*4.6.8*5.1.", "the game is over before player 1 can move again", "|3*0.2*4.6.8*5."),
        (
            1,
            "|3*8.2*1*6*7.0.5*",
            "however player 0 has moved without winning, square 5 is not empty",
            "|3*8.2*1*6*7.0.",
        ),
        (0, "|6*5*8.2.7.4*3.1*0.", "square 0 is not taken by player 1 at that moment", "|6*5*8.2.7.4*3.1*"),
        (0, "|0*x", "'x' stands where the digit of a square is expected", "|0*"),
        (0, "|0*|4.", "'|' stands where", "|0*"),
        (
            0,
            "|0*4",
            "square 4 must be followed by '*' if it was placed or '.' if the attempt failed, not by nothing",
            "|0*",
        ),
        (0, "|10*", "square 1 must be followed by '*' if it was placed or '.' if the attempt failed, not by '0'", "|"),
        (0, "|0*0*x", "square 0 is attempted twice", "|0*"),
        (0, "|²*", "'²' stands where", "|"),
    ],
)
def test_a_sentence_says_why(player, typed, reason, possible):
    with pytest.raises(ImpossibleInfosetError) as error:
        check_infoset(FULL, player, typed)
    told = str(error.value)
    assert told.startswith(f"{typed!r} is not an infoset of player {player}: ") and told.endswith(".")
    assert reason in told
    assert error.value.nearest == possible
    assert check_infoset(FULL, player, error.value.nearest) == error.value.nearest


@pytest.mark.parametrize("typed", ["|0*4.", "0*4.", " | 0* 4. ", "0*, 4.", "| 0 * 4 .\n", "0*;4."])
def test_forms_that_people_write(typed):
    assert check_infoset(FULL, 0, typed) == "|0*4."


def test_nothing_at_all_is_the_first_infoset():
    assert check_infoset(FULL, 0, "") == check_infoset(FULL, 1, " ") == "|"


def test_the_setup_is_part_of_the_text():
    game = named_game("mini-2x3k3-abrupt-after-1-4")
    assert check_infoset(game, 1, "4* 0*") == "|4*0*"
    for typed in ("|", "|0*", "|4."):
        with pytest.raises(ImpossibleInfosetError, match=r"all of them begin with \|4\*, the player's setup") as error:
            check_infoset(game, 1, typed)
        assert error.value.nearest == "|4*"
    with pytest.raises(ImpossibleInfosetError, match="square 1 is in the setup of player 0"):
        check_infoset(game, 1, "|4*1*")
    assert check_infoset(game, 1, "|4*1.") == "|4*1."
    with pytest.raises(ImpossibleInfosetError, match="'y' stands where"):
        check_infoset(game, 1, "y")
    with pytest.raises(ImpossibleInfosetError, match="attempted twice"):
        check_infoset(game, 1, "|4*4*")


def test_a_long_text_is_refused_at_once():
    with pytest.raises(ImpossibleInfosetError, match="attempted twice") as error:
        check_infoset(FULL, 0, "|" + "0*" * 1_000_000)
    assert len(str(error.value)) < 120 and error.value.nearest == "|0*"


def test_a_player_who_never_moves_has_no_infoset():
    game = Game("one-square", 1, 1, ((), ()))
    assert check_infoset(game, 0, "|") == "|"
    with pytest.raises(ImpossibleInfosetError, match="Player 1 never moves in one-square") as error:
        check_infoset(game, 1, "|")
    assert error.value.nearest is None
