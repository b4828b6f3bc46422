"""The kernels of this room, compiled before somebody waits for an answer.

They are not among the kernels that a solve waits for: whoever asks no questions never compiles them.
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.questions.following import following
from pttt_ooc.questions.histories import read_only
from pttt_ooc.questions.infoset import numbers
from pttt_ooc.questions.profile import PlayerArrays, Profile
from pttt_ooc.rules.catalogue import named_game
from pttt_ooc.solving.evaluation import Evaluation
from pttt_ooc.structure.index import build_index
from pttt_ooc.structure.strategy import uniform_strategy
from pttt_ooc.structure.views import find_pairs


def warm_up() -> None:
    """Ask questions about the smallest game, which takes some seconds once; compiled code is kept on disk."""
    game = named_game("mini-2x2k2-abrupt")
    index = build_index(game, "full", find_pairs(game))
    parts = []
    for player, mine in enumerate(index.players):
        values = np.zeros(mine.nodes)  # what they are does not matter
        values.flags.writeable = False
        probabilities = read_only(uniform_strategy(index, player).probabilities)
        parts.append(PlayerArrays(probabilities, values, values, np.zeros(mine.nodes, np.uint8)))
    profile = Profile(index, (parts[0], parts[1]), Evaluation(0, 0, 0, 0, None, None, None, 0))
    numbers(profile, 0, "|")
    following(profile, 0, "|")
