"""The linear program of a restricted game in integers, and the vertex with which the simplex method ends.

It is the :mod:`pttt_ooc.exact.double_oracle.sequence_form` for player 0.  Payoffs of classes of sequences are
fractions, because a class stands for mirror images; times the number of symmetries they are integers, and so are all
coefficients.  The simplex method computes in double precision, so it only says which variables are basic; their values
are computed anew in fractions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.solving.highs_solver import BASIC, NOT_BASIC, Basis, ColumnProgram, solve
from pttt_ooc.errors import PtttError
from pttt_ooc.exact.double_oracle.restricted_histories import Plans, WonHistories
from pttt_ooc.exact.double_oracle.sequence_form import FormBasis, SequenceForm, sequence_form

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class IntegerProgram(SequenceForm):
    """The sequence form in integers, by rows; the value of the root is maximised.

    Attributes
    ----------
    scale
        The number of symmetries: values are in units of 1 / `scale`.
    """

    scale: int


@dataclass(frozen=True, eq=False)
class Vertex:
    """An optimal vertex, in double precision.

    Attributes
    ----------
    columns : bool (columns,)
        Whether a variable is basic.
    rows : bool (rows,)
        Whether a row's slack is basic: the row need not be tight.
    reach
        Both players' reach of their sequences, without the empty one.
    """

    columns: Bools
    rows: Bools
    reach: tuple[Floats, Floats]


def integer_program(plans: Plans, won: WonHistories, symmetries: int) -> IntegerProgram:
    """The program of a restricted game with its won histories."""
    if not (np.rint(won.payoffs * symmetries) / symmetries == won.payoffs).all():
        raise PtttError("A payoff is not a multiple of 1 / the number of symmetries.")
    form = sequence_form(plans, won, scale=symmetries)
    return IntegerProgram(form.matrix.tocsr(), form.infosets, symmetries)


class Simplex:
    """Solves programs of a restricted game that grows; each begins from the vertex of the one before.

    Parameters
    ----------
    start
        Where the first one begins.
    """

    def __init__(self, start: FormBasis | None = None) -> None:
        self._last = start

    def vertex(self, program: IntegerProgram) -> Vertex:
        """An optimal vertex.

        Raises
        ------
        UnsolvedError
            If HiGHS does not find one.
        """
        found = solve(_columns(program), _OPTIONS, _grown_basis(program, self._last) if self._last else None)
        columns, rows = (part == BASIC for part in found.basis)
        first, second = found.values[1 : program.sequences], found.multipliers[program.flows + 1 :]
        self._last = FormBasis(program.infosets, *found.basis)
        return Vertex(columns, rows, (np.maximum(first, 0), np.maximum(second, 0)))


_OPTIONS: dict[str, Any] = {
    "presolve": "off",  # a vertex of the program itself is wanted
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
}


def _columns(program: IntegerProgram) -> ColumnProgram:
    """The program as HiGHS takes it."""
    (height, width), by_columns = program.matrix.shape, program.matrix.tocsc()
    first = (np.arange(height) == 0) * 1.0
    return ColumnProgram(
        (np.arange(width) == program.sequences).astype(float),
        (np.where(np.arange(width) < program.sequences, 0.0, -np.inf), np.full(width, np.inf)),
        (np.where(np.arange(height) < program.flows, first, -np.inf), first),
        *(by_columns.indptr, by_columns.indices, by_columns.data.astype(float)),
    )


def _grown_basis(program: IntegerProgram, last: FormBasis) -> Basis:
    """The last basis; new variables are not basic, and the slacks of new rows are."""
    basis = last.extend_to(program, (NOT_BASIC, NOT_BASIC, BASIC, BASIC))
    columns, rows = (np.where(part == BASIC, BASIC, NOT_BASIC).astype(np.int8) for part in basis)
    return columns, rows
