"""The linear program over a player's equilibrium strategies within a restricted game.

The plan ``x`` of the player maximises ``weight v(root) + c x``, where ``v(root)`` is what it guarantees::

    E x = e,   F' v <= A' x,   x >= 0

as in :mod:`pttt_ooc.exact.double_oracle.restricted_program`.  The multipliers of ``F' v <= A' x`` are `weight` times a
plan of the other player.  The program is solved by the dual simplex method, which begins with the last basis.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.solving.highs_solver import BASIC, LOWER, UPPER, Basis, ColumnProgram, UnsolvedError, solve
from pttt_ooc.exact.double_oracle.restricted_histories import Plans, WonHistories
from pttt_ooc.exact.double_oracle.sparse_plan import SparsePlan

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_OPTIONS = dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), 1e-10)  # HiGHS takes no less


class FaceProgram:
    """The program of one player, for a restricted game that grows.

    The columns are the reach of the empty sequence and of the player's sequences, the value of the root, and the values
    of the other's infosets.  The rows are the player's infosets, and then the other's empty sequence and sequences.

    Parameters
    ----------
    player
        The player whose plan is found.
    """

    def __init__(self, player: int) -> None:
        self._player = player
        self._basis: _Basis | None = None

    def solve(self, plans: Plans, won: WonHistories, payoffs: Floats, weight: float) -> tuple[Floats, Floats]:
        """The reach of both players' sequences: the player's best plan, and the multipliers.

        Parameters
        ----------
        plans, won
            The restricted game.
        payoffs
            float64 (sequences of the player,): ``c``.
        weight
            Of what the plan guarantees.

        Raises
        ------
        UnsolvedError
            If HiGHS does not solve the program.
        """
        shape = Shape(plans[self._player], plans[1 - self._player])
        program = self._program(shape, won, payoffs, weight)
        start = self._basis.extend_to(shape) if self._basis else None
        try:
            found = solve(program, _OPTIONS, start)
        except UnsolvedError:  # rarely, from a basis: begin anew
            found = solve(program, {**_OPTIONS, "solver": "ipm"})
        self._basis = _Basis(shape, found.basis)
        plan = np.maximum(found.values[1 : shape.own + 1], 0)
        multipliers = np.abs(found.multipliers[shape.bound_rows(np.arange(shape.theirs))]) / weight
        ordered = (plan, multipliers) if self._player == 0 else (multipliers, plan)
        return ordered

    def _program(self, shape: Shape, won: WonHistories, payoffs: Floats, weight: float) -> ColumnProgram:
        matrix = shape.matrix(won, self._player)
        height, width = matrix.shape
        costs, lower, upper = np.zeros(width), np.zeros(width), np.full(width, np.inf)
        costs[1 : shape.own + 1], costs[shape.root] = payoffs, weight
        lower[0] = upper[0] = 1
        lower[shape.root :] = -np.inf
        least = np.zeros(height)
        least[len(shape.infosets) :] = -np.inf
        rows = least, np.zeros(height)
        return ColumnProgram(costs, (lower, upper), rows, matrix.indptr, matrix.indices, matrix.data)


class Shape:
    """The numbers of rows and columns of a restricted game."""

    def __init__(self, own: SparsePlan, other: SparsePlan) -> None:
        self.plans = own, other
        self.own, self.theirs = int(own.counts[1]), int(other.counts[1])
        self.infosets, self.bounds = (np.flatnonzero(plan.choices[: plan.counts[0]]) for plan in (own, other))
        self.root = self.own + 1

    def bound_rows(self, sequences: Ints) -> Ints:
        """The rows of the other's sequences; -1 is the empty one."""
        found: Ints = len(self.infosets) + 1 + sequences
        return found

    def matrix(self, won: WonHistories, player: int) -> Any:
        """The coefficients, a sparse matrix by columns."""
        from scipy import sparse

        own, other = self.plans
        flow, value = (np.zeros(int(plan.counts[0]), np.int64) for plan in (own, other))
        flow[self.infosets] = np.arange(len(self.infosets))
        value[self.bounds] = self.root + 1 + np.arange(len(self.bounds))
        mine, yours, sign = (won.first, won.second, -1.0) if player == 0 else (won.second, won.first, 1.0)
        ones = np.ones
        parts = [
            (flow[own.infosets[: self.own]], 1 + np.arange(self.own), ones(self.own)),
            (flow[self.infosets], 1 + own.before[self.infosets].astype(np.int64), -ones(len(self.infosets))),
            (self.bound_rows(np.array([-1])), np.array([self.root]), ones(1)),
            (self.bound_rows(np.arange(self.theirs)), value[other.infosets[: self.theirs]], ones(self.theirs)),
            (self.bound_rows(other.before[self.bounds].astype(np.int64)), value[self.bounds], -ones(len(self.bounds))),
            (self.bound_rows(yours.astype(np.int64)), 1 + mine.astype(np.int64), sign * won.payoffs),
        ]
        rows, columns, entries = (np.concatenate(part) for part in zip(*parts, strict=True))
        shape = (len(self.infosets) + 1 + self.theirs, self.own + 2 + len(self.bounds))
        return sparse.csc_matrix((entries, (rows, columns)), shape=shape)


class _Basis:
    """A basis by infosets and sequences, so that it can be used when the restricted game has grown."""

    def __init__(self, shape: Shape, basis: Basis) -> None:
        columns, rows = (part.tolist() for part in basis)
        self._sequences, self._root = columns[: shape.own + 1], columns[shape.root]
        self._values = dict(zip(shape.bounds.tolist(), columns[shape.root + 1 :], strict=True))
        self._flows = dict(zip(shape.infosets.tolist(), rows[: len(shape.infosets)], strict=True))
        self._bounds = rows[len(shape.infosets) :]

    def extend_to(self, shape: Shape) -> Basis:
        """The basis of a larger game: a new infoset's first sequence and a new value are basic."""
        own, other = shape.plans
        sequences = self._sequences + [LOWER] * (shape.own + 1 - len(self._sequences))
        bounds = self._bounds + [BASIC] * (shape.theirs + 1 - len(self._bounds))
        flows, values = [], []
        for infoset in shape.infosets.tolist():
            flows.append(self._flows.get(infoset, LOWER))
            if infoset not in self._flows:
                sequences[_first_sequence(own, infoset) + 1] = BASIC
        for infoset in shape.bounds.tolist():
            values.append(self._values.get(infoset, BASIC))
            if infoset not in self._values:
                bounds[_first_sequence(other, infoset) + 1] = UPPER
        return np.array([*sequences, self._root, *values], np.int8), np.array([*flows, *bounds], np.int8)


def _first_sequence(plan: SparsePlan, infoset: int) -> int:
    sequences = plan.actions[infoset]
    return int(sequences[sequences >= 0].min())
