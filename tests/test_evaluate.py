"""Evaluation: intervals of the value of a game.  Values themselves are in test_gradient.py."""

from pttt_ooc.evaluate import narrowed


def test_intervals_are_narrowed():
    assert narrowed((0.1, 0.5), None) == (0.1, 0.5)
    assert narrowed((0.1, 0.5), (0.2, 0.9)) == (0.2, 0.5)
    assert narrowed((0.1, 0.2), (0.3, 0.4)) == (0.1, 0.2)
