"""Small games for the tests of the learners, and runs of a learner on them."""

from functools import cache

import numpy as np

from pttt_ooc.learners.catalogue import checked_settings, learner_class
from pttt_ooc.learners.learning_game import LearningGame
from tests.kits import helpers

MINI = "mini-2x3k2-abrupt"
HIDDEN = "mini-2x3k3-abrupt"
"""Three in a row on two rows of three: draws are common, and the opponent's knowledge matters."""


@cache
def small_learning_game(game, symmetry="full", dtype=np.float64):
    return LearningGame(helpers.small_engine(game, symmetry, dtype))


def started(algorithm, learning_game, seed=0, **settings):
    learner = learner_class(algorithm)()
    learner.start(learning_game, checked_settings(algorithm, settings), seed)
    return learner


def gap(learning_game, pair):
    """Half of NashConv: the mean of both players' exploitabilities."""
    return learning_game.evaluator(*pair).nashconv / 2


def learned(algorithm, game, iterations, seed=0, symmetry="full", **settings):
    """Half of NashConv after some iterations."""
    learning_game = small_learning_game(game, symmetry)
    learner = started(algorithm, learning_game, seed, **settings)
    learner.step(iterations)
    return gap(learning_game, learner.strategy())
