"""An equilibrium inside of the optimal face in fractions: an equilibrium need not be a vertex.

The face is a system of equations in integers, see :mod:`pttt_ooc.exact.double_oracle.restricted_interior`.  Elimination
modulo a prime says which of the equations are independent, and chooses a variable for each: the one with the most
reach, so that signs survive.  The other variables are free.  They become short fractions near their values, and the
rest follows exactly.  How many are free is the dimension of the face, and a random point of the elimination's null
space says which reach is the same everywhere in the face.
"""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.exact.certificates.integer_program import IntegerProgram
from pttt_ooc.exact.certificates.rational_optimum import RationalOptimum, checked_optimum
from pttt_ooc.exact.certificates.rational_system import PRIMES, power, solve
from pttt_ooc.exact.double_oracle.restricted_interior import Face
from pttt_ooc.jit import bare_kernel, kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_BITS = 64  # of the fractions of free variables
_VALUE = 1e-3  # values have no sign to keep; they are chosen where reach is smaller than this
_DAMPING = 1e-3  # of a matrix whose pattern alone matters


class FreeReach(NamedTuple):
    """In what the equilibria of a restricted game differ, for both players; proven modulo a prime.

    Attributes
    ----------
    dimensions
        Of the sets of the players' plans, of which the face is made.
    sequences : two bool (sequences,)
        Whose reach is not the same in all plans of the face.
    """

    dimensions: tuple[int, int]
    sequences: tuple[Bools, Bools]


def inside_optimum(program: IntegerProgram, face: Face) -> tuple[RationalOptimum, FreeReach]:
    """The equilibrium near a point inside of the optimal face, and what is free in the face.

    Raises
    ------
    NotOptimalError, SingularError
        If the face is another one.
    """
    flows, sequences, scale = program.flows, program.sequences, program.scale
    values = np.concatenate([[1.0], face.reach[0], [0.0], face.values[0] * scale])
    multipliers = np.concatenate([[0.0], face.values[1] * scale, [1.0], face.reach[1]])
    rows = _indices(face.tight[1], flows, True), _indices(face.played[1], flows, True)
    columns = _indices(face.played[0], sequences, False), _indices(face.tight[0], sequences, False)
    # The value of the root is what the empty sequences leave.
    root = program.matrix[[flows]].toarray()[0]
    values[sequences] = -(root @ values) / root[sequences]
    multipliers[0] = values[sequences]
    all_values = np.arange(sequences, len(values))
    columns = np.concatenate([columns[0], all_values]), np.concatenate([columns[1], all_values])
    one = int(np.searchsorted(columns[1], sequences))
    first = _Equations(program.matrix[rows[0]][:, columns[0]], columns[0] < sequences, values[columns[0]])
    second = _Equations(program.matrix[rows[1]][:, columns[1]].T.tocsr(), rows[1] >= flows, multipliers[rows[1]])
    optimum = checked_optimum(
        program,
        _scatter(first.solve_near(0), columns[0], len(values)),
        _scatter(second.solve_near(one), rows[1], len(multipliers)),
    )
    free = np.zeros(sequences, np.bool_), np.zeros(len(multipliers) - flows, np.bool_)
    free[0][columns[0][columns[0] < sequences]] = first.free
    free[1][rows[1][rows[1] >= flows] - flows] = second.free
    return optimum, FreeReach((first.dimension, second.dimension), (free[0][1:], free[1][1:]))


def _indices(own: NDArray[np.bool_], start: int, is_row: bool) -> Ints:
    """The rows of flows and of a player's sequences; or the columns of sequences; the empty sequence comes first."""
    begin = start if is_row else 0
    return np.concatenate([np.arange(begin + 1), begin + 1 + np.flatnonzero(own)])


def _scatter(part: list[Any], places: Ints, size: int) -> list[Any]:
    from flint import fmpq

    found = [fmpq(0)] * size
    for place, number in zip(places.tolist(), part, strict=True):
        found[place] = number
    return found


class _Equations:
    """The equations of one player's face, ``matrix @ x = e`` with a single 1 in e, eliminated near a point.

    Parameters
    ----------
    matrix
        Sparse, of integers.
    is_reach
        Which variables are reach; the others are the opponent's values.
    point
        Near which solutions are wanted.
    """

    def __init__(self, matrix: Any, is_reach: Bools, point: Floats) -> None:
        self._matrix, self._is_reach, self._point = matrix, is_reach, point
        self._rows, self._kept, self._starts = _reduce_equations(matrix, np.where(is_reach, np.abs(point), _VALUE))
        self._columns = self._kept[0, self._starts[:-1]]

    def solve_near(self, one: int) -> list[Any]:
        """A solution in fractions, where e is 1 at the place `one`."""
        from flint import fmpq

        rows, columns, point = self._rows, self._columns, self._point
        free = np.setdiff1d(np.arange(len(point)), columns)
        numbers = [round(float(number) * 2.0**_BITS) for number in point[free]]
        found = [fmpq(0)] * len(point)
        for place, number in zip(free.tolist(), numbers, strict=True):
            found[place] = fmpq(number, 1 << _BITS)
        part = self._matrix[rows]
        kept = part[:, free].tocsr()
        amounts = []
        for row, begin, end in zip(rows.tolist(), kept.indptr[:-1].tolist(), kept.indptr[1:].tolist(), strict=True):
            entries = zip(kept.data[begin:end].tolist(), kept.indices[begin:end].tolist(), strict=True)
            left = (int(row == one) << _BITS) - sum(number * numbers[k] for number, k in entries)
            amounts.append(fmpq(left, 1 << _BITS))
        for place, number in zip(columns.tolist(), solve(part[:, columns].tocsr(), amounts), strict=True):
            found[place] = number
        return found

    @property
    def dimension(self) -> int:
        """The number of reaches that may be chosen freely: of all free variables less those that are only values."""
        values = self._matrix[:, ~self._is_reach]
        only_values = int(values.shape[1]) - len(_reduce_equations(values, np.ones(values.shape[1]))[0])
        return len(self._point) - len(self._rows) - only_values

    @property
    def free(self) -> Bools:
        """Which reaches differ between solutions: those that are not 0 in a random one for e = 0."""
        null = np.random.default_rng(0).integers(1, PRIMES[0], len(self._point))
        _solve_backward(PRIMES[0], self._starts, self._kept, null)
        differs: Bools = (null != 0)[self._is_reach]
        return differs


def _reduce_equations(matrix: Any, weights: Floats) -> tuple[Ints, Ints, Ints]:
    """Independent equations, in the order of an elimination that fills little; and the reduced ones with their starts.

    See :func:`_eliminate`.
    """
    matrix = matrix.tocsr(copy=True)
    matrix.eliminate_zeros()
    parts = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(np.int64)
    order, capacity = _order(matrix), 2 * matrix.nnz + len(weights)
    while True:
        pivots, starts = np.full(matrix.shape[0], -1, np.int64), np.zeros(matrix.shape[0] + 1, np.int64)
        kept = np.zeros((2, capacity), np.int64)
        if _eliminate(PRIMES[0], parts, order, weights, (starts, kept), pivots):
            rows = order[pivots[order] >= 0]
            return rows, kept, starts[: len(rows) + 1]
        capacity *= 2


def _order(matrix: Any) -> Ints:
    """An order of minimum degree of the rows."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    rows, columns = matrix.shape
    pattern = matrix.astype(np.float64)
    below = sparse.diags_array(np.full(rows, -_DAMPING))
    augmented = sparse.block_array([[sparse.eye_array(columns), pattern.T], [pattern, below]], format="csc")
    factors = splu(augmented, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return np.argsort(factors.perm_c[columns:]).astype(np.int64)


@kernel
def _eliminate(prime: int, matrix: Any, order: Any, weights: Any, space: Any, pivots: Any) -> bool:
    """Eliminate row by row modulo a prime; each takes as its pivot the column with the most weight.

    Parameters
    ----------
    matrix
        Starts of rows, columns and entries.
    space : int64 (rows + 1,), int64 (2, capacity)
        For the starts of reduced rows, and for their columns and numbers; each has its pivot first, which is 1.
    pivots : int64 (rows,)
        Set to the column of each row, and left at -1 for a row that depends on earlier ones.

    Returns
    -------
    done
        Whether there was enough space.
    """
    row_starts, columns, numbers = matrix
    starts, kept = space
    width, size, rank = len(weights), 0, 0
    reduced = np.full(width, -1, np.int64)
    row, seen, touched = np.zeros(width, np.int64), np.full(width, -1, np.int64), np.zeros(width, np.int64)
    for step in range(len(order)):
        count, waiting = 0, [np.int64(len(order))]
        for k in range(row_starts[order[step]], row_starts[order[step] + 1]):
            column = columns[k]
            row[column], seen[column], touched[count] = numbers[k] % prime, step, column
            count += 1
            if reduced[column] >= 0:
                heapq.heappush(waiting, reduced[column])
        # Earlier pivots, in their order: what follows one has only later ones.
        while len(waiting) > 1:
            begin = heapq.heappop(waiting)
            end = starts[begin + 1]
            begin = starts[begin]
            number = row[kept[0, begin]]
            if number == 0:
                continue
            row[kept[0, begin]] = 0
            for k in range(begin + 1, end):
                column = kept[0, k]
                if seen[column] != step:
                    row[column], seen[column], touched[count] = 0, step, column
                    count += 1
                    if reduced[column] >= 0:
                        heapq.heappush(waiting, reduced[column])
                row[column] = (row[column] + (prime - number) * kept[1, k]) % prime
        best = np.int64(-1)
        for k in range(count):
            if row[touched[k]] and (best < 0 or weights[touched[k]] > weights[best]):
                best = touched[k]
        if best < 0:
            continue
        if size + count > kept.shape[1]:
            return False
        inverse = power(prime, row[best], np.int64(prime - 2))
        pivots[order[step]], reduced[best] = best, rank
        kept[0, size], kept[1, size] = best, 1
        size += 1
        for k in range(count):
            column = touched[k]
            if row[column] and column != best:
                kept[0, size], kept[1, size] = column, row[column] * inverse % prime
                size += 1
        rank += 1
        starts[rank] = size
    return True


@bare_kernel
def _solve_backward(prime: int, starts: Any, kept: Any, found: Any) -> None:
    """Set the pivots of reduced equations, whose right sides are 0, modulo a prime; the other variables are given."""
    for step in range(len(starts) - 2, -1, -1):
        total = np.int64(0)
        for k in range(starts[step] + 1, starts[step + 1]):
            total = (total + kept[1, k] * found[kept[0, k]]) % prime
        found[kept[0, starts[step]]] = (prime - total) % prime
