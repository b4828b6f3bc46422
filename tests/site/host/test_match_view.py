"""What an agent is told of a match, in numbers and in words, as a function of its own infoset."""

import pytest

from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.site.host.match_view import Ending, MatchSeat, view_of

LATE = MatchSeat(named_game("pttt-classical-after-1-0-3-2-4-8"), "ID", "agent", 0)


def test_a_view_says_in_words_what_it_says_in_numbers():
    view = view_of(MatchSeat(named_game("mini-2x3k2-abrupt"), "ID", "solution", 1), "|0*4.", None, 12.34)
    assert (view.player, view.made, view.your_turn, view.legal, view.seconds_left) == (1, 2, True, [1, 2, 3, 5], 12.3)
    assert [(one.square, one.placed) for one in view.attempts] == [(0, True), (4, False)]
    assert (view.over, view.result, view.ended) == (False, None, None)
    assert view.text == (
        "Match ID: mini-2x3k2-abrupt, you are player 1 (o).\n"
        "You know (.: not attempted), and the squares' numbers:\n"
        "o . .    0 1 2\n"
        ". x .    3 4 5\n"
        "Your attempts: placed 0, found 4 occupied. Infoset: |0*4.\n"
        "It is your turn. Attempt one of the squares 1, 2, 3, 5.\n"
        "You have 12.3 seconds left for this match.\n"
    )


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        (None, "It is the other agent's turn.\nYou have 0 seconds left for this match.\n"),
        (Ending(1, "opponent resigned"), "You have won: the other agent resigned.\n"),
        (Ending(1, "opponent out of time"), "You have won: the other agent's time was over.\n"),
        (Ending(0, "played"), "It is a draw.\n"),
        (Ending(-1, "resigned"), "You have lost: you resigned.\n"),
        (Ending(-1, "out of time"), "You have lost: your time was over.\n"),
    ],
)
def test_nothing_may_be_attempted_in_the_others_turn_or_after_the_end(ending, words):
    """Marks that the player began with are attempts, but not made ones; time that is over does not become debt."""
    view = view_of(LATE, "|1*3*4*0.", ending, -3.0, your_turn=ending is not None)
    assert (view.made, view.your_turn, view.legal, view.seconds_left) == (1, False, [], 0)
    assert (view.over, view.result) == (ending is not None, ending and ending.result)
    assert view.ended == (ending and ending.how)
    assert view.text.endswith(
        "o x .    0 1 2\nx x .    3 4 5\n. . .    6 7 8\n"
        "Your attempts: 1 given, 3 given, 4 given, found 0 occupied. Infoset: |1*3*4*0.\n" + words
    )
