"""Restricted games: only some actions are allowed, and a linear program of realization plans finds an equilibrium.

A sequence and its mirror images have the same reach in a symmetric plan, so they share one variable: a *class*.  The
payoff of a pair of classes is the sum over all won histories of the whole game that end with these classes.  The caller
provides the walk that finds these histories; see :data:`Walk`.  The programs need scipy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.solving.linear_program import Floats, Ints, SequenceForm, equilibrium
from pttt_ooc.structure.index import Index
from pttt_ooc.structure.symmetry import Symmetriser

Bools = NDArray[np.bool_]
_LARGEST = 1 << 48  # sums of a few such integers are exact in double precision


@dataclass(frozen=True, eq=False)
class WonHistories:
    """The histories of a restricted game that end with a win.

    Attributes
    ----------
    before : int64 (2, nodes)
        For each infoset that is reached, the class of its player's sequence before it; -1 elsewhere.
    sequences : int64 (wins, 2)
        The classes of both players' last sequences; 0 is the empty sequence.
    payoffs : int64 (wins,)
        The payoff of player 0.
    """

    before: Ints
    sequences: Ints
    payoffs: Ints


Walk = Callable[[Bools, Ints], WonHistories]
"""Finds the won histories of a restricted game.

Both arguments have an entry for each sequence of player 0, and then of player 1: whether it is allowed, and its class.
"""


def classes_of(index: Index) -> tuple[Ints, Ints]:
    """The class of each sequence: int64, from 1 up; the numbers of player 1 follow those of player 0."""
    rng, found, above = np.random.default_rng(0), [], 1
    for player, i in enumerate(index.players):
        # Mirror images, and only they, have the same two means of random numbers.
        marks = rng.integers(_LARGEST, size=(2, i.sequences)).astype(np.float64)
        symmetriser = Symmetriser(index, player)
        for row in marks:
            symmetriser(row)
        order = np.lexsort(marks)
        begins = np.append(False, (np.diff(marks[:, order], axis=1) != 0).any(axis=0))
        classes = np.empty(i.sequences, np.int64)
        classes[order] = above + np.cumsum(begins)
        found.append(classes)
        above = int(classes.max()) + 1
    return found[0], found[1]


class RestrictedGames:
    """Restricted games of one game.

    Parameters
    ----------
    index
        With symmetry or without.
    walk
        Finds the won histories.

    Attributes
    ----------
    classes
        See :func:`classes_of`.
    walked
        Won histories of all restricted games so far.
    """

    def __init__(self, index: Index, walk: Walk) -> None:
        self.index, self.walk = index, walk
        self.classes, self.walked = classes_of(index), 0
        self._both = np.concatenate(self.classes)

    def solve(self, allowed: tuple[Bools, Bools]) -> tuple[float, tuple[Floats, Floats]]:
        """An equilibrium of a restricted game.

        Parameters
        ----------
        allowed
            For each of a player's sequences, whether its last action is allowed.  At each infoset that is reached, at
            least one action must be.

        Returns
        -------
        value, plans
            The value for player 0, and the reach of each player's sequences, float64; 0 outside of the restricted game.

        Raises
        ------
        PtttError
            If the linear program cannot be solved.
        """
        from scipy import sparse

        won = self.walk(np.concatenate(allowed), self._both)
        self.walked += len(won.payoffs)
        forms = [self._sequence_form(p, won.before[p], allowed[p]) for p in (0, 1)]
        at = [form.columns(won.sequences[:, p]) for p, form in enumerate(forms)]
        shape = [len(form.classes) for form in forms]
        payoffs = sparse.csr_matrix((won.payoffs.astype(np.float64), (at[0], at[1])), shape=shape)  # adds equal pairs
        value, variables = equilibrium(forms[0], forms[1], payoffs)
        reach = np.zeros(int(self._both.max()) + 1)
        for form, own in zip(forms, variables, strict=True):
            reach[form.classes] = own
        return value, (reach[self.classes[0]], reach[self.classes[1]])

    def _sequence_form(self, player: int, before: Ints, allowed: Bools) -> SequenceForm:
        from scipy import sparse

        i = self.index.players[player]
        nodes = np.flatnonzero(before[: i.nodes] >= 0)
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
        entries = np.concatenate([[0], own[row, action], before[nodes[first]]])
        signs = np.concatenate([[1.0], np.ones(len(row)), -np.ones(len(first))])
        classes, columns = np.unique(entries, return_inverse=True)
        return SequenceForm(classes, sparse.csr_matrix((signs, (rows, columns)), shape=(len(first) + 1, len(classes))))
