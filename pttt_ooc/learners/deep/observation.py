"""A network's input at an infoset, and its strategy at all infosets.

Both players' infosets are numbered together, those of player 0 first.  With symmetry, a network sees only
representatives, on their own board; so its strategy is the same at mirror images of an infoset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.orders import all_orders, order_counts
from pttt_ooc.learners.deep import network as nets
from pttt_ooc.learners.learner import Pair
from pttt_ooc.learners.learning_game import LearningGame

BLOCK = 1 << 14
"""Infosets in one evaluation of a network when its whole strategy is read."""
Policies = Callable[[NDArray[np.int64]], NDArray[np.floating[Any]]]
"""Returns rows of probabilities, one number for each square, from the numbers of infosets."""


class Sight:
    """Inputs of networks at all infosets of an index.

    Attributes
    ----------
    codes
        int8, shape (nodes of both players, squares): 0 on squares that can be attempted, ``1 + t`` where attempt
        t failed, ``1 + squares + t`` where it placed a mark, and -1 on squares of the player's setup.
    second
        The number of player 1's first infoset.
    """

    def __init__(self, index: Index) -> None:
        self.index, self.squares = index, index.game.squares
        self.second = index.players[0].nodes
        self.codes = np.zeros((sum(i.nodes for i in index.players), self.squares), np.int8)
        for player, i in enumerate(index.players):
            counts = order_counts(index.game, player)
            for view in range(len(i.placed)):
                infosets = slice(*(int(i.node_start[view + k]) + player * self.second for k in (0, 1)))
                placed, failed = int(i.placed[view]), int(i.failed[view])
                table = all_orders(placed, failed, *counts.tables)
                codes = self.codes[infosets]
                for t in range(table.shape[1]):
                    square = table[:, t].astype(np.int64)
                    codes[np.arange(len(codes)), square] = 1 + t + self.squares * (placed >> square & 1)
                for square in index.game.setup[player]:
                    codes[:, square] = -1

    def players(self, infosets: NDArray[np.int64]) -> NDArray[np.int64]:
        """The players of infosets."""
        return (infosets >= self.second).astype(np.int64)

    def inputs(self, infosets: NDArray[Any]) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """A network's input at some infosets: codes and players."""
        return self.codes[infosets], self.players(infosets).astype(np.int8)

    def look(self, network: nets.Parameters, infosets: NDArray[np.int64]) -> NDArray[np.float32]:
        """The outputs of a network at some infosets."""
        return nets.outputs(network, *self.inputs(infosets))

    def policy(self, network: nets.Parameters) -> Policies:
        """The policy whose logits are a network's first outputs."""

        def policies(infosets: NDArray[np.int64]) -> NDArray[np.floating[Any]]:
            return nets.policy_of(self.look(network, infosets)[:, : self.squares], self.codes[infosets])

        return policies

    def pair(self, game: LearningGame, policies: Policies) -> Pair:
        """The strategies of a policy at all infosets, block by block."""
        first, second = (game.strategy(p, self.probabilities(p, policies)) for p in (0, 1))
        return first, second

    def probabilities(self, player: int, policies: Policies) -> NDArray[np.float32]:
        """A player's probabilities, in the index's order of sequences."""
        i = self.index.players[player]
        found = np.empty(i.sequences, np.float32)
        for views in self._blocks(player):
            begin = int(i.node_start[views.start])
            infosets = np.arange(begin, int(i.node_start[views.stop])) + player * self.second
            rows = policies(infosets)
            for view in views:
                nodes = slice(*(int(i.node_start[view + k]) - begin for k in (0, 1)))
                legal = self.codes[infosets[nodes.start]] == 0
                found[i.sequence_start[view] : i.sequence_start[view + 1]] = rows[nodes][:, legal].T.ravel()
        return found

    def rows(self, player: int, probabilities: NDArray[Any], infosets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Rows of a player's strategy, given in the index's order of sequences, at some infosets of that player."""
        i = self.index.players[player]
        nodes = infosets - player * self.second
        views = np.searchsorted(i.node_start, nodes, side="right") - 1
        found, legal = np.zeros((len(nodes), self.squares)), self.codes[infosets] == 0
        first = i.sequence_start[views] + nodes - i.node_start[views]
        orders = i.node_start[views + 1] - i.node_start[views]
        at = first[:, None] + orders[:, None] * (np.cumsum(legal, axis=1) - 1)
        found[legal] = probabilities[at[legal]]
        return found

    def _blocks(self, player: int) -> Iterator[range]:
        """Ranges of views where the player decides, each with about `BLOCK` infosets."""
        i = self.index.players[player]
        first = 0
        for view in range(len(i.placed) + 1):
            ends = view == len(i.placed) or not i.decides[view]
            if first < view and (ends or i.node_start[view + 1] - i.node_start[first] > BLOCK):
                yield range(first, view)
                first = view
            if ends:
                first = view + 1
