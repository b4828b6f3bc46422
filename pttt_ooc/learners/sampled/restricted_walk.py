"""The walk through a restricted game's histories, with the state machine."""

from __future__ import annotations

import numpy as np

from pttt_ooc.learners.sampled import kernels
from pttt_ooc.learners.sampled.rules import rules_of
from pttt_ooc.solving.linear_program import Ints
from pttt_ooc.solving.restricted_game import Bools, Walk, WonHistories
from pttt_ooc.structure.index import Index


def restricted_walk(index: Index) -> Walk:
    """The walk for :class:`pttt_ooc.solving.restricted_game.RestrictedGames` of an index."""
    rules, second = rules_of(index), index.players[0].sequences
    scratch = kernels.scratch_of(index.game.squares)  # type: ignore[no-untyped-call]
    nodes = max(i.nodes for i in index.players)

    def walk(allowed: Bools, classes: Ints) -> WonHistories:
        before, found = np.full((2, nodes), -1, np.int64), (np.empty((0, 2), np.int64), np.empty(0, np.int64))
        wins = kernels.walk_restricted(rules, second, scratch, allowed, classes, before, *found)  # only counts
        found = np.empty((wins, 2), np.int64), np.empty(wins, np.int64)
        if wins:
            kernels.walk_restricted(rules, second, scratch, allowed, classes, before, *found)
        return WonHistories(before, *found)

    return walk
