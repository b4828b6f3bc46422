"""The tables of the state machine, from the index."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.learners.sampled.kernels import Rules
from pttt_ooc.structure.index import Index, actions_of
from pttt_ooc.structure.views import number_below

Ints = NDArray[np.int64]


def rules_of(index: Index) -> Rules:
    """The state machine of a game; with symmetry, its views are the representatives."""
    game, group = index.game, index.group
    views = max(len(i.placed) for i in index.players)
    size = game.squares
    node_start, sequence_start = (np.zeros((2, views + 1), np.int64) for _ in range(2))
    actions, square = np.zeros((2, views), np.int64), np.zeros((2, views, size), np.int64)
    child = [np.full((2, views, size, 2), -1, np.int64) for _ in range(4)]
    for p, i in enumerate(index.players):
        here = slice(0, len(i.placed))
        node_start[p, : len(i.node_start)], sequence_start[p, : len(i.sequence_start)] = i.node_start, i.sequence_start
        for v in range(len(i.placed)):
            legal = actions_of(game, p, int(i.placed[v] | i.failed[v])) if i.decides[v] else []
            actions[p, v] = len(legal)
            square[p, v, : len(legal)] = legal
        child_view, child_symmetry = _children(index, p)
        there = i.child_start >= 0
        child[0][p, here] = np.where(there, child_view, -1)
        child[1][p, here] = np.where(there, i.child_start - i.node_start[child_view], -1)
        offset = 0 if p == 0 else len(index.players[0].relabelling)
        child[2][p, here] = np.where(i.child_map >= 0, i.child_map + offset, -1)
        child[3][p, here] = np.where(there, child_symmetry, -1)
    permutations = np.array(group, np.int64).reshape(len(group), size)
    wins = np.array([[game.wins(p, mask) for mask in range(1 << size)] for p in (0, 1)])
    return Rules(
        node_start=node_start,
        sequence_start=sequence_start,
        actions=actions,
        square=square,
        child_view=child[0],
        child_rank=child[1],
        child_map=child[2],
        child_symmetry=child[3],
        relabelling=np.concatenate([i.relabelling for i in index.players]),
        inverse=np.argsort(permutations, axis=1),
        product=_products(permutations),
        wins=wins,
        marks=np.array([game.setup_mask(p) for p in (0, 1)], np.int64),
        first=game.first_player,
        full=(1 << size) - 1,
        stays=game.turn_rule == "classical",
    )


def _children(index: Index, player: int) -> tuple[Ints, Ints]:
    """For each view, action and outcome: the representative afterwards and the symmetry that takes the board there."""
    i, orbits, size = index.players[player], index.orbits[player], index.game.squares
    taken = i.placed | i.failed | index.game.setup_mask(player)
    view, symmetry = (np.zeros((len(i.placed), size, 2), np.int64) for _ in range(2))
    for square in range(size):
        free = np.flatnonzero(i.decides & (taken >> square & 1 == 0))
        action, bit = number_below(~taken[free], square), 1 << square
        for outcome in (0, 1):
            placed, failed = i.placed[free] | bit * outcome, i.failed[free] | bit * (1 - outcome)
            at = orbits.find(placed << size | failed)
            view[free, action, outcome] = orbits.view[at]
            symmetry[free, action, outcome] = orbits.symmetry[at]
    return view, symmetry


def _products(permutations: Ints) -> Ints:
    """The number of "first g, then h" for each h and g."""
    numbers = {tuple(g): k for k, g in enumerate(permutations.tolist())}
    return np.array([[numbers[tuple(h[g].tolist())] for g in permutations] for h in permutations], np.int64)
