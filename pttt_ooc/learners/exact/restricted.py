"""A game in which only some actions are allowed, as a linear program of its realization plans.

A sequence and its mirror images have the same reach in a symmetric plan, so they are one variable: a *class*.  For an
equilibrium of the restricted game, player 0's plan ``x`` makes the most of what player 1 leaves (von Stengel 1996)::

    max v(root)   so that   E x = e,   F' v <= A' x,   x >= 0

``E x = e`` says that the reach of an infoset's actions sums up to the reach of the sequence before, ``F`` says the same
of player 1, and ``A`` has the payoff of each pair of sequences, summed over all histories of the whole game that they
belong to.  The multipliers of ``F' v <= A' x`` are player 1's plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from pttt_ooc.errors import PtttError
from pttt_ooc.learners.learning_game import Ground
from pttt_ooc.learners.sampled import kernels
from pttt_ooc.learners.sampled.rules import rules_of
from pttt_ooc.sweep.tree import Floats

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
_LARGEST = 1 << 48  # sums of a few such integers are exact in double precision


def classes_of(ground: Ground) -> tuple[Ints, Ints]:
    """The class of each of the players' sequences: int64, 1 or more; both players' are numbered together."""
    rng, found, above = np.random.default_rng(0), [], 1
    for player, i in enumerate(ground.players):
        # Mirror images, and only they, have the same two means of random numbers.
        marks = rng.integers(_LARGEST, size=(2, i.sequences)).astype(np.float64)
        for row in marks:
            ground.symmetrise(player, row)
        order = np.lexsort(marks)
        begins = np.append(False, (np.diff(marks[:, order], axis=1) != 0).any(axis=0))
        classes = np.empty(i.sequences, np.int64)
        classes[order] = above + np.cumsum(begins)
        found.append(classes)
        above = int(classes.max()) + 1
    return found[0], found[1]


@dataclass(frozen=True, eq=False)
class Tree:
    """The sequences and infosets of one player in a restricted game.

    Attributes
    ----------
    classes : int64 (columns,)
        The class of each variable, in rising order; the first is 0, having done nothing.
    sums : sparse (rows, columns)
        A row for each infoset, the first for the beginning; with a plan, they give 1 and zeros.
    """

    classes: Ints
    sums: Any

    def columns(self, classes: Ints) -> Ints:
        """The variables of classes."""
        return np.searchsorted(self.classes, classes)

    @property
    def right(self) -> Floats:
        """What the sums are."""
        return np.append(1.0, np.zeros(self.sums.shape[0] - 1))


class RestrictedGames:
    """Restricted games on one ground.

    Attributes
    ----------
    classes
        As of :func:`classes_of`.
    walked
        Histories that somebody wins, of all restricted games so far.
    """

    def __init__(self, ground: Ground) -> None:
        self.ground, self.classes, self.walked = ground, classes_of(ground), 0
        self._both = np.concatenate(self.classes)
        self._rules = rules_of(ground.index)
        self._scratch = kernels.scratch_of(ground.game.squares)  # type: ignore[no-untyped-call]

    def solve(self, allowed: tuple[Bools, Bools]) -> tuple[float, tuple[Floats, Floats]]:
        """An equilibrium of a restricted game.

        Parameters
        ----------
        allowed
            For each of a player's sequences, whether its last action is allowed.  Where a player comes, an action must
            be.

        Returns
        -------
        value, plans
            The value for player 0, and the reach of each player's sequences, float64; 0 outside of the restricted game.

        Raises
        ------
        PtttError
            If the linear program cannot be solved.
        """
        came_from, plans, payoffs = self._walk(np.concatenate(allowed))
        trees = [self._tree(p, came_from[p], allowed[p]) for p in (0, 1)]
        at = [tree.columns(plans[:, p]) for p, tree in enumerate(trees)]
        shape = [len(tree.classes) for tree in trees]
        both = sparse.csr_matrix((payoffs.astype(np.float64), (at[0], at[1])), shape=shape)  # equal pairs are summed
        value, variables = _equilibrium(trees[0], trees[1], both)
        reach = np.zeros(int(self._both.max()) + 1)
        for tree, own in zip(trees, variables, strict=True):
            reach[tree.classes] = own
        return value, (reach[self.classes[0]], reach[self.classes[1]])

    def _walk(self, allowed: Bools) -> tuple[Ints, Ints, Ints]:
        """As of :func:`pttt_ooc.learners.sampled.kernels.walk_restricted`; -1 where it does not come."""
        most = max(i.nodes for i in self.ground.players)
        came_from = np.full((2, most), -1, np.int64)
        plans, payoffs = np.empty((0, 2), np.int64), np.empty(0, np.int64)
        for _ in range(2):  # the first time it counts
            fixed = (self._rules, self.ground.players[0].sequences, self._scratch, allowed, self._both)
            wins = kernels.walk_restricted(*fixed, came_from, plans, payoffs)
            if len(payoffs) < wins:
                plans, payoffs = np.empty((wins, 2), np.int64), np.empty(wins, np.int64)
        self.walked += wins
        return came_from, plans, payoffs

    def _tree(self, player: int, came_from: Ints, allowed: Bools) -> Tree:
        i = self.ground.players[player]
        nodes = np.flatnonzero(came_from[: i.nodes] >= 0)
        views = np.searchsorted(i.node_start, nodes, side="right") - 1
        orders = np.diff(i.node_start)[views]
        counts = np.diff(i.sequence_start)[views] // orders
        sequences = (i.sequence_start[views] + nodes - i.node_start[views])[:, None]
        sequences = sequences + orders[:, None] * np.arange(counts.max(initial=1))
        there = np.arange(sequences.shape[1]) < counts[:, None]
        own = np.where(there, self.classes[player][np.where(there, sequences, 0)], 0)
        # Mirror images of an infoset have the same classes of actions: one row stands for them.
        _, first = np.unique(np.where(there, own, own.max(initial=0)).min(axis=1), return_index=True)
        own, used = own[first], there[first] & allowed[np.where(there, sequences, 0)][first]
        row, action = np.nonzero(used)
        rows = np.concatenate([[0], row + 1, np.arange(len(first)) + 1])
        entries = np.concatenate([[0], own[row, action], came_from[nodes[first]]])
        signs = np.concatenate([[1.0], np.ones(len(row)), -np.ones(len(first))])
        classes, columns = np.unique(entries, return_inverse=True)
        return Tree(classes, sparse.csr_matrix((signs, (rows, columns)), shape=(len(first) + 1, len(classes))))


def _equilibrium(mine: Tree, theirs: Tree, payoffs: Any) -> tuple[float, tuple[Floats, Floats]]:
    """The value, and the variables of both players."""
    sizes, own = (mine.sums.shape[1], theirs.sums.shape[0]), mine.sums.shape[0]
    found = linprog(
        np.concatenate([np.zeros(sizes[0]), -theirs.right]),
        A_ub=sparse.hstack([-payoffs.T, theirs.sums.T], format="csr"),
        b_ub=np.zeros(theirs.sums.shape[1]),
        A_eq=sparse.hstack([mine.sums, sparse.csr_matrix((own, sizes[1]))], format="csr"),
        b_eq=mine.right,
        bounds=[(0, None)] * sizes[0] + [(None, None)] * sizes[1],
        method="highs-ipm",
    )
    if found.status != 0:
        raise PtttError(f"The linear program of a restricted game cannot be solved: {found.message}")
    return -float(found.fun), (np.maximum(found.x[: sizes[0]], 0), np.maximum(-found.ineqlin.marginals, 0))
