"""The review of a finished game: the person's mistakes, one after the other."""

import pytest

from pttt_ooc.site.play.review import review_game

MOVES = [{"player": number % 2, "text": str(number)} for number in range(8)]


def review(losses, ply, exact=True):
    ratings = [{"loss": loss, "exact": exact, "before": 0.5, "by": "somebody"} for loss in losses]
    return review_game(MOVES, ratings, 0, ply, 1.0)


@pytest.mark.parametrize(("ply", "following"), [(0, 3), (1, 3), (2, 5), (4, 7), (5, 7), (6, 3), (8, 3)])
def test_mistakes_are_gone_through_in_turn(ply, following):
    found = review([0, 1, 0.5, 1, 1, 0.5, 0.5, 0], ply)
    assert [move.number for move in found.mistakes] == [3, 5, 7] and found.worst.number == 5
    assert found.next_mistake.number == following


def test_one_mistake_is_the_worst_and_has_no_next():
    assert review([0, 1, 0, 1, 1, 0, 0, 0], 0).next_mistake is None
    assert review([0] * 8, 0).mistakes == []
    assert review([0.01] * 8, 0, exact=False).mistakes == []  # an estimate says no more than that
