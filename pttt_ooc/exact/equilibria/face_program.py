"""The linear program over a player's equilibrium strategies within a restricted game.

The plan ``x`` of the player maximises ``weight v(root) + c x``, where ``v(root)`` is what it guarantees; the rest is
the :mod:`pttt_ooc.exact.double_oracle.sequence_form`.  The multipliers of the other's sequences are `weight` times a
plan.  The program is solved by the dual simplex method, which begins with the last basis.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.solving.highs_solver import BASIC, LOWER, UPPER, Basis, ColumnProgram, UnsolvedError, solve
from pttt_ooc.exact.double_oracle.restricted_histories import Plans, WonHistories
from pttt_ooc.exact.double_oracle.sequence_form import FormBasis, SequenceForm, sequence_form
from pttt_ooc.exact.double_oracle.sparse_plan import SparsePlan

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_OPTIONS = dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), 1e-10)  # HiGHS takes no less


class FaceProgram:
    """The program of one player, for a restricted game that grows.

    Its columns and rows are those of the sequence form, without the first row: the bounds of a column give the reach of
    the player's empty sequence instead.

    Parameters
    ----------
    player
        The player whose plan is found.
    """

    def __init__(self, player: int) -> None:
        self._player = player
        self._basis: FormBasis | None = None

    def solve(self, plans: Plans, won: WonHistories, payoffs: Floats, weight: float) -> tuple[Floats, Floats]:
        """The reach of both players' sequences: the player's best plan, and the multipliers.

        Parameters
        ----------
        plans, won
            The restricted game.
        payoffs
            float64 (sequences of the player,): ``c``.
        weight
            The weight of what the plan guarantees.

        Raises
        ------
        UnsolvedError
            If HiGHS does not solve the program.
        """
        form = sequence_form(plans, won, self._player)
        program = _columns_of(form, payoffs, weight)
        start = self._grown_basis(self._basis, form, plans) if self._basis else None
        try:
            found = solve(program, _OPTIONS, start)
        except UnsolvedError:  # it rarely fails from a basis: begin anew
            found = solve(program, {**_OPTIONS, "solver": "ipm"})
        columns, rows = found.basis
        self._basis = FormBasis(form.infosets, columns, np.append(np.int8(LOWER), rows))
        plan = np.maximum(found.values[1 : form.sequences], 0)
        multipliers = np.abs(found.multipliers[form.flows :]) / weight
        return (plan, multipliers) if self._player == 0 else (multipliers, plan)

    def _grown_basis(self, last: FormBasis, form: SequenceForm, plans: Plans) -> Basis:
        """The last basis; the first sequence of each infoset that is new is basic, and so is a new value."""
        columns, rows = last.extend_to(form, (LOWER, BASIC, LOWER, BASIC))
        flows, values = last.new_infosets(form)
        columns[1 + _first_sequences(plans[self._player], flows)] = BASIC
        rows[form.flows + 1 + _first_sequences(plans[1 - self._player], values)] = UPPER
        return columns, rows[1:]


def _columns_of(form: SequenceForm, payoffs: Floats, weight: float) -> ColumnProgram:
    """The program as HiGHS takes it."""
    matrix, root = form.matrix[1:], form.sequences
    height, width = matrix.shape
    costs, lower, upper = np.zeros(width), np.zeros(width), np.full(width, np.inf)
    costs[1:root], costs[root] = payoffs, weight
    lower[0] = upper[0] = 1
    lower[root:] = -np.inf
    least = np.where(np.arange(height) < form.flows - 1, 0.0, -np.inf)
    return ColumnProgram(costs, (lower, upper), (least, np.zeros(height)), matrix.indptr, matrix.indices, matrix.data)


def _first_sequences(plan: SparsePlan, infosets: Ints) -> Ints:
    """The first sequence of each of these infosets."""
    sequences = plan.actions[infosets].astype(np.int64)
    first: Ints = np.where(sequences >= 0, sequences, plan.counts[1]).min(axis=1, initial=plan.counts[1])
    return first
