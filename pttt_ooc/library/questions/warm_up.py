"""Compiles this room's kernels before the first question.

A solve does not need them, so it does not wait for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pttt_ooc.cfr.solving.evaluation import Evaluation
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.index import Index, build_index
from pttt_ooc.games.structure.strategy import uniform_strategy
from pttt_ooc.games.structure.views import find_pairs
from pttt_ooc.library.questions.beliefs import beliefs
from pttt_ooc.library.questions.continuations import following
from pttt_ooc.library.questions.histories import read_only
from pttt_ooc.library.questions.infoset import numbers
from pttt_ooc.library.questions.profile import PlayerArrays, PreparedProfile
from pttt_ooc.library.questions.sampled_games import row_at


def warm_up() -> None:
    """Ask questions about the smallest game; this takes some seconds once, and compiled code is kept on disk."""
    game = named_game("mini-2x2k2-abrupt")
    index = build_index(game, "full", find_pairs(game))
    for dtype in (np.float32, np.float64):
        first, second = (_uniform(index, player, dtype) for player in (0, 1))
        profile = PreparedProfile(index, (first, second), Evaluation(0, 0, 0, 0, None, None, None, 0))
        numbers(profile, 0, "|")
        following(profile, 0, "|")
        beliefs(index, profile.strategies[1], 0, "|")
        row_at(profile.strategies[0], "|")


def _uniform(index: Index, player: int, dtype: type[np.floating[Any]]) -> PlayerArrays:
    """A player's part of a profile, read-only like a mapped one."""
    nodes = index.players[player].nodes
    values, choices = np.zeros(nodes), np.zeros(nodes, np.uint8)  # any numbers will do
    values.flags.writeable = False
    return PlayerArrays(read_only(uniform_strategy(index, player, dtype).probabilities), values, values, choices)
