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
def small_ground(game, symmetry="full", dtype=np.float64):
    return LearningGame(helpers.small_engine(game, symmetry, dtype))


def started(algorithm, ground, seed=0, **settings):
    learner = learner_class(algorithm)()
    learner.start(ground, checked_settings(algorithm, settings), seed)
    return learner


def gap(ground, pair):
    """Half of NashConv: the mean of both players' exploitabilities."""
    return ground.evaluator(*pair).nashconv / 2


def learned(algorithm, game, iterations, seed=0, symmetry="full", **settings):
    """Half of NashConv after some iterations."""
    ground = small_ground(game, symmetry)
    learner = started(algorithm, ground, seed, **settings)
    learner.step(iterations)
    return gap(ground, learner.strategy())
