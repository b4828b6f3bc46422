"""The tree of one round: a node for each order in which squares can be taken.

Nodes are numbered ply by ply, and the children of a node follow each other.  Node 0 is the empty board.  Goals are not
in the tree: a player has one infoset for each node at which they move and each of their goals.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import GameError
from pttt_ooc.other_games.smbc import kernels
from pttt_ooc.other_games.smbc.rules import START, UNDECIDED, Rules, after


@dataclass(frozen=True)
class Sizes:
    """Numbers of nodes of a tree: all, ends, moves of the first and of the second player; and by ply."""

    nodes: int
    ends: int
    first: int
    second: int
    plies: tuple[int, ...]

    @property
    def infosets(self) -> int:
        """The number of infosets: three for each node at which a player moves, one for each goal."""
        return 3 * (self.first + self.second)


KNOWN_SIZES = {
    Rules(merge=False, cut=False): (549_946, 255_168, 180_361, 114_417),
    Rules(cut=False): (58_524, 26_830, 19_324, 12_370),
    Rules(): (37_538, 23_129, 5_135, 9_274),
}
"""Sizes of trees that others have counted too."""


@dataclass(frozen=True)
class RoundTree:
    """The tree of one round.

    Attributes
    ----------
    rules
        The rules of the round.
    shape
        Its arrays for kernels; see :class:`pttt_ooc.other_games.smbc.kernels.Shape`.
    square
        The square taken last: int8, shape (nodes,); -1 at node 0.
    """

    rules: Rules
    shape: kernels.Shape
    square: NDArray[np.int8]

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.square)

    @cached_property
    def plies(self) -> NDArray[np.int64]:
        """The number of moves before each node."""
        starts = np.asarray(self.shape.plies)
        return np.repeat(np.arange(len(starts) - 1), np.diff(starts))

    def moved_by(self, player: int) -> NDArray[np.bool_]:
        """For each node, whether `player` made the move to it; false for the empty board."""
        found: NDArray[np.bool_] = (self.plies > 0) & ((self.plies - 1) % 2 == player)
        return found

    def children(self, node: int) -> range:
        """The nodes after one more move."""
        return range(int(self.shape.first_child[node]), int(self.shape.first_child[node + 1]))

    def moves(self, node: int) -> tuple[int, ...]:
        """The squares that lead to the children, in their order."""
        return tuple(int(self.square[child]) for child in self.children(node))

    def history(self, node: int) -> tuple[int, ...]:
        """The taken squares, in order."""
        found: list[int] = []
        while node:
            found.append(int(self.square[node]))
            node = int(self.shape.parent[node])
        return tuple(reversed(found))

    def sizes(self) -> Sizes:
        """Numbers of nodes."""
        ends = np.diff(self.shape.first_child) == 0
        first, second = (int(np.sum(~ends & (self.plies % 2 == player))) for player in (0, 1))
        return Sizes(self.nodes, int(ends.sum()), first, second, tuple(np.diff(self.shape.plies).tolist()))


def build(rules: Rules) -> RoundTree:
    """Build the tree, and compare its sizes with the known ones.

    Raises
    ------
    GameError
        If its sizes differ from the known ones.
    """
    positions, counts = [START], [1]
    parent, square, outcome, first_child, nodes = [0], [-1], [rules.end(START)], [], 1
    start = 0
    while start < nodes:
        for node in range(start, nodes):
            first_child.append(len(parent))
            position = positions[node]
            if outcome[node] == UNDECIDED:
                for move in rules.moves(position):
                    following = after(position, move)
                    positions.append(following)
                    parent.append(node)
                    square.append(move)
                    outcome.append(rules.end(following))
        start, nodes = nodes, len(parent)
        counts.append(nodes - start)
    first_child.append(nodes)
    shape = kernels.Shape(
        np.array(parent, np.uint64),
        np.array(first_child, np.uint64),
        np.array(outcome, np.int8),
        np.cumsum([0, *counts[:-1]]),
    )
    tree = RoundTree(rules, shape, np.array(square, np.int8))
    sizes = tree.sizes()
    found, known = (sizes.nodes, sizes.ends, sizes.first, sizes.second), KNOWN_SIZES.get(rules)
    if known and found != known:
        raise GameError(f"The tree of a round has the sizes {found} instead of {known}; this is a bug in its rules.")
    return tree
