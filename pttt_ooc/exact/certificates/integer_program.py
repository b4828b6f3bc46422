"""The linear program of a restricted game in integers, and the vertex with which the simplex method ends.

The program is that of :mod:`pttt_ooc.exact.double_oracle.restricted_program` (von Stengel 1996), with player 0's plan
``x`` and a bound ``v`` for each infoset of player 1::

    max v(root)   so that   E x = e,   F' v <= A' x,   x >= 0

Payoffs of classes of sequences are fractions, because a class stands for mirror images; times the number of symmetries
they are integers, and so are all coefficients.  Only which variables are basic is taken from the simplex method, which
computes in double precision: their values are computed anew in fractions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.cfr.solving import highs_solver
from pttt_ooc.cfr.solving.highs_solver import BASIC, NOT_BASIC, ColumnProgram, solve
from pttt_ooc.errors import PtttError
from pttt_ooc.exact.double_oracle.restricted_histories import Plans, WonHistories
from pttt_ooc.exact.double_oracle.restricted_program import CheckedProgram
from pttt_ooc.exact.double_oracle.sparse_plan import SparsePlan

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class IntegerProgram:
    """The program of a restricted game.

    Attributes
    ----------
    matrix : sparse int64 (rows, columns)
        Rows: player 0's sums, which are 1 for the empty sequence and then 0; then player 1's sequences, whose rows are
        at most 0.  Columns: player 0's sequences; then player 1's bounds, in units of 1 / `scale`.
        The empty sequences come first, and so does the bound of player 1's first infoset, which is maximised.
    sums, sequences
        Numbers of player 0's sums and sequences.
    scale
        The number of symmetries.
    infosets : tuple of two int64
        Each player's infosets with actions: of the sums after the first, and of the bounds after the first.
    """

    matrix: Any
    sums: int
    sequences: int
    scale: int
    infosets: tuple[Ints, Ints]


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
    from scipy import sparse

    payoffs = np.rint(won.payoffs * symmetries).astype(np.int64)
    if not (payoffs / symmetries == won.payoffs).all():
        raise PtttError("A payoff is not a multiple of 1 / the number of symmetries.")
    shape = [int(plan.counts[1]) + 1 for plan in plans]
    ends = won.first.astype(np.int64) + 1, won.second.astype(np.int64) + 1
    matrix = sparse.coo_array((payoffs, ends), shape=shape).tocsr()  # histories with the same ends are added up
    (first, infosets0), (second, infosets1) = (_sums(plan) for plan in plans)
    whole = sparse.block_array([[first, None], [-matrix.T, second.T]], format="csr", dtype=np.int64)
    return IntegerProgram(whole, first.shape[0], first.shape[1], symmetries, (infosets0, infosets1))


def _sums(plan: SparsePlan) -> tuple[Any, Ints]:
    """The empty sequence; then for each infoset its actions minus the sequence before: sparse (rows, sequences + 1).

    Also returned are the infosets of the rows after the first.
    """
    from scipy import sparse

    infosets, sequences = plan.counts
    leads = plan.infosets[:sequences]
    used = np.flatnonzero(np.bincount(leads, minlength=infosets))
    row = np.zeros(infosets, np.int64)
    row[used] = np.arange(len(used)) + 1
    rows = np.concatenate([[0], row[leads], row[used]])
    columns = np.concatenate([[0], np.arange(sequences) + 1, plan.before[used].astype(np.int64) + 1])
    signs = np.concatenate([np.ones(1 + sequences, np.int64), -np.ones(len(used), np.int64)])
    return sparse.coo_array((signs, (rows, columns)), shape=(len(used) + 1, sequences + 1)).tocsr(), used


@dataclass(frozen=True, eq=False)
class Basis:
    """What is basic at a vertex of a program.

    Attributes
    ----------
    sequences
        The number of player 0's sequences.
    infosets
        As in :class:`IntegerProgram`.
    columns, rows
        As in :class:`Vertex`.
    """

    sequences: int
    infosets: tuple[Ints, Ints]
    columns: Bools
    rows: Bools


def basis_of(checked: CheckedProgram) -> Basis:
    """The last basis of the double oracle, whose programs have no empty sequences."""
    program = checked.program
    sequences, infosets = len(program.sequences), len(program.row_infosets)
    columns, rows = checked.columns == BASIC, checked.rows == BASIC
    return Basis(
        sequences + 1,
        (program.row_infosets, program.infosets),
        np.concatenate([[True], columns[:sequences], [True], columns[sequences:]]),
        np.concatenate([[False], rows[:infosets], [False], rows[infosets:]]),
    )


class Simplex:
    """Solves programs of a restricted game that grows; each begins from the vertex of the one before.

    Parameters
    ----------
    start
        Where the first one begins.
    """

    def __init__(self, start: Basis | None = None) -> None:
        self._last = start

    def vertex(self, program: IntegerProgram) -> Vertex:
        """An optimal vertex.

        Raises
        ------
        UnsolvedError
            If HiGHS does not find one.
        """
        found = solve(_columns(program), _OPTIONS, _extend_basis(program, self._last) if self._last else None)
        columns, rows = (part == BASIC for part in found.basis)
        first, second = found.values[1 : program.sequences], found.multipliers[program.sums + 1 :]
        self._last = Basis(program.sequences, program.infosets, columns, rows)
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
        (np.where(np.arange(height) < program.sums, first, -np.inf), first),
        *(by_columns.indptr, by_columns.indices, by_columns.data.astype(float)),
    )


def _extend_basis(program: IntegerProgram, before: Basis) -> highs_solver.Basis:
    """The basis of a smaller program as one of this program: new variables are not basic, new rows are slack."""
    columns = np.zeros(program.matrix.shape[1], np.bool_)
    rows = np.ones(program.matrix.shape[0], np.bool_)
    sums, bounds = (
        np.append(0, np.searchsorted(now, then) + 1)
        for now, then in zip(program.infosets, before.infosets, strict=True)
    )
    columns[: before.sequences] = before.columns[: before.sequences]
    columns[program.sequences + bounds] = before.columns[before.sequences :]
    rows[sums] = before.rows[: len(sums)]
    old = len(before.rows) - len(sums)
    rows[program.sums : program.sums + old] = before.rows[len(sums) :]
    first, second = (np.where(part, BASIC, NOT_BASIC).astype(np.int8) for part in (columns, rows))
    return first, second
