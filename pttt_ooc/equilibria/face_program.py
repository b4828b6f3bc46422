"""The linear program over a player's equilibrium strategies within a restricted game.

The plan ``x`` of the player maximises ``weight v(root) + c x``, where ``v(root)`` is what it guarantees::

    E x = e,   F' v <= A' x,   x >= 0

as in :mod:`pttt_ooc.double_oracle.restricted_program`.  The multipliers of ``F' v <= A' x`` are `weight` times a
plan of the other player.  The program is solved by the dual simplex method, which begins with the last basis.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.double_oracle.restricted_histories import Plans, WonHistories
from pttt_ooc.double_oracle.sparse_plan import SparsePlan
from pttt_ooc.errors import PtttError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_TOLERANCE = 1e-10  # the least that HiGHS takes


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
        PtttError
            If the program cannot be solved.
        """
        import highspy

        own, other = plans[self._player], plans[1 - self._player]
        shape = Shape(own, other)
        base: Any = highspy.Highs.__base__  # without the banner that its Python class prints
        model = base()
        for name, setting in (
            ("output_flag", False),
            ("threads", 1),
            ("primal_feasibility_tolerance", _TOLERANCE),
            ("dual_feasibility_tolerance", _TOLERANCE),
        ):
            model.setOptionValue(name, setting)
        model.passModel(self._program(highspy, shape, won, payoffs, weight))
        if self._basis is not None:
            model.setBasis(self._basis.extended(highspy, shape))
        model.run()
        optimal = highspy.HighsModelStatus.kOptimal
        if model.getModelStatus() != optimal:  # rarely, from a basis: begin anew
            model.clearSolver()
            model.setOptionValue("solver", "ipm")
            model.run()
        if model.getModelStatus() != optimal:
            reason = model.modelStatusToString(model.getModelStatus())
            raise PtttError(f"The linear program of a restricted game cannot be solved: {reason}.")
        solution = model.getSolution()
        self._basis = _Basis(shape, model.getBasis())
        plan = np.maximum(np.array(solution.col_value)[1 : shape.own + 1], 0)
        multipliers = np.abs(np.array(solution.row_dual)[shape.bound(np.arange(shape.theirs))]) / weight
        ordered = (plan, multipliers) if self._player == 0 else (multipliers, plan)
        return ordered

    def _program(self, highspy: Any, shape: Shape, won: WonHistories, payoffs: Floats, weight: float) -> Any:
        program = highspy.HighsLp()
        matrix = shape.matrix(won, self._player)
        program.num_row_, program.num_col_ = matrix.shape
        cost = np.zeros(matrix.shape[1])
        cost[1 : shape.own + 1], cost[shape.root] = payoffs, weight
        lower, upper = np.zeros(matrix.shape[1]), np.full(matrix.shape[1], highspy.kHighsInf)
        lower[0] = upper[0] = 1
        lower[shape.root :] = -highspy.kHighsInf
        least = np.zeros(matrix.shape[0])
        least[len(shape.infosets) :] = -highspy.kHighsInf
        program.col_cost_, program.col_lower_, program.col_upper_ = cost, lower, upper
        program.row_lower_, program.row_upper_ = least, np.zeros(matrix.shape[0])
        program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        entries = (matrix.indptr, matrix.indices, matrix.data)
        program.a_matrix_.start_, program.a_matrix_.index_, program.a_matrix_.value_ = entries
        program.sense_ = highspy.ObjSense.kMaximize
        return program


class Shape:
    """The numbers of rows and columns of a restricted game."""

    def __init__(self, own: SparsePlan, other: SparsePlan) -> None:
        self.plans = own, other
        self.own, self.theirs = int(own.counts[1]), int(other.counts[1])
        self.infosets, self.bounds = (np.flatnonzero(plan.choices[: plan.counts[0]]) for plan in (own, other))
        self.root = self.own + 1

    def bound(self, sequences: Ints) -> Ints:
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
            (self.bound(np.array([-1])), np.array([self.root]), ones(1)),
            (self.bound(np.arange(self.theirs)), value[other.infosets[: self.theirs]], ones(self.theirs)),
            (self.bound(other.before[self.bounds].astype(np.int64)), value[self.bounds], -ones(len(self.bounds))),
            (self.bound(yours.astype(np.int64)), 1 + mine.astype(np.int64), sign * won.payoffs),
        ]
        rows, columns, entries = (np.concatenate(part) for part in zip(*parts, strict=True))
        shape = (len(self.infosets) + 1 + self.theirs, self.own + 2 + len(self.bounds))
        return sparse.csc_matrix((entries, (rows, columns)), shape=shape)


class _Basis:
    """A basis by infosets and sequences, so that it can be used when the restricted game has grown."""

    def __init__(self, shape: Shape, basis: Any) -> None:
        columns, rows = list(basis.col_status), list(basis.row_status)
        self._sequences, self._root = columns[: shape.own + 1], columns[shape.root]
        self._values = dict(zip(shape.bounds.tolist(), columns[shape.root + 1 :], strict=True))
        self._flows = dict(zip(shape.infosets.tolist(), rows[: len(shape.infosets)], strict=True))
        self._bounds = rows[len(shape.infosets) :]

    def extended(self, highspy: Any, shape: Shape) -> Any:
        """The basis of a larger game: a new infoset's first sequence and a new value are basic."""
        basic, lower, upper = (getattr(highspy.HighsBasisStatus, name) for name in ("kBasic", "kLower", "kUpper"))
        own, other = shape.plans
        sequences = self._sequences + [lower] * (shape.own + 1 - len(self._sequences))
        bounds = self._bounds + [basic] * (shape.theirs + 1 - len(self._bounds))
        flows, values = [], []
        for infoset in shape.infosets.tolist():
            flows.append(self._flows.get(infoset, lower))
            if infoset not in self._flows:
                sequences[_first_sequence(own, infoset) + 1] = basic
        for infoset in shape.bounds.tolist():
            values.append(self._values.get(infoset, basic))
            if infoset not in self._values:
                bounds[_first_sequence(other, infoset) + 1] = upper
        found = highspy.HighsBasis()
        found.col_status, found.row_status = [*sequences, self._root, *values], [*flows, *bounds]
        found.valid = True
        return found


def _first_sequence(plan: SparsePlan, infoset: int) -> int:
    sequences = plan.actions[infoset]
    return int(sequences[sequences >= 0].min())
