"""Sparse systems of linear equations with integer coefficients, solved in fractions.

A perfect matching of rows and columns puts nonzeros on the diagonal.  Then the strongly connected components of the
matrix, as a graph, are the diagonal blocks of a block-triangular form (Pothen and Fan 1990), which are solved one after
the other.  The basis of a linear program falls into thousands of blocks, most of them of size one.

Larger blocks are solved by p-adic lifting (Dixon 1982).  A block is factored once, modulo the prime p.  Then each step
finds one more digit, to the base p, of every number in the solution: it solves for what the digits so far leave over.
Digits are machine words, so a step takes as long as one in double precision.  Enough digits determine the fractions,
which are then checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import PtttError
from pttt_ooc.jit import bare_kernel, piece

Ints = NDArray[np.int64]

PRIMES = (2**31 - 1, 2**31 - 19, 2**31 - 61)
_FIRST_DIGITS = 8
_LARGEST_SUM = 2**30  # of a row's absolute coefficients; times p, it is less than 2^61


class SingularError(PtttError):
    """The matrix is singular."""


def solve(matrix: Any, amounts: list[Any]) -> list[Any]:
    """A solution of ``matrix @ x = amounts``; the only one, if the matrix is regular.

    Parameters
    ----------
    matrix
        Sparse int64 (n, n).
    amounts
        n fractions, ``flint.fmpq``.

    Returns
    -------
    x
        n fractions, ``flint.fmpq``.

    Raises
    ------
    SingularError
        If none was found because the matrix is singular.
    """
    from flint import fmpq
    from scipy.sparse import csgraph

    matrix = matrix.tocsr(copy=True)
    matrix.eliminate_zeros()
    partners = csgraph.maximum_bipartite_matching(matrix, perm_type="column")
    if (partners < 0).any():
        raise SingularError("A basis of a linear program is singular.")
    rows = matrix.tocsc()[:, partners].tocsr()
    found = [fmpq(0)] * len(amounts)
    for block in _blocks(rows):
        _solve_block(rows, amounts, block, found)
    placed = [fmpq(0)] * len(amounts)
    for k, column in enumerate(partners.tolist()):
        placed[column] = found[k]
    return placed


def _blocks(rows: Any) -> Iterator[list[int]]:
    """The strongly connected components; each has nonzeros only in its own columns and in those of earlier ones."""
    from scipy import sparse
    from scipy.sparse import csgraph

    count, labels = csgraph.connected_components(rows, directed=True, connection="strong")
    entries = rows.tocoo()
    between = labels[entries.row] != labels[entries.col]
    edges = np.unique(np.stack([labels[entries.col[between]], labels[entries.row[between]]]), axis=1)
    users = sparse.csr_array((np.ones(edges.shape[1], np.int64), (edges[0], edges[1])), shape=(count, count))
    waits = np.bincount(edges[1], minlength=count)
    members = np.split(np.argsort(labels, kind="stable"), np.bincount(labels, minlength=count).cumsum()[:-1])
    ready = np.flatnonzero(waits == 0).tolist()
    while ready:
        block = ready.pop()
        yield members[block].tolist()
        for user in users.indices[users.indptr[block] : users.indptr[block + 1]].tolist():
            waits[user] -= 1
            if not waits[user]:
                ready.append(user)


def _solve_block(rows: Any, amounts: list[Any], block: list[int], found: list[Any]) -> None:
    """Solve the rows of a block for its columns; the other columns are known."""
    from flint import fmpq
    from scipy import sparse

    places, entries, right = {k: place for place, k in enumerate(block)}, [], []
    for place, k in enumerate(block):
        amount, part = amounts[k], slice(rows.indptr[k], rows.indptr[k + 1])
        for column, number in zip(rows.indices[part].tolist(), rows.data[part].tolist(), strict=True):
            if column in places:
                entries.append((number, place, places[column]))
            elif found[column]:
                amount -= number * found[column]
        right.append(amount)
    if not any(right):
        return
    if len(block) == 1:
        found[block[0]] = right[0] / entries[0][0]
        return
    numbers, ends0, ends1 = np.array(entries, np.int64).T
    square = sparse.csr_array((numbers, (ends0, ends1)), shape=(len(block), len(block)))
    denominator = common_denominator(right)
    solved, divisor = lift(square, [int((amount * denominator).p) for amount in right])
    for k, numerator in zip(block, solved, strict=True):
        found[k] = fmpq(numerator, divisor) / denominator


def common_denominator(fractions: list[Any]) -> Any:
    """The least common denominator of fractions, ``flint.fmpz``."""
    from flint import fmpz

    least = fmpz(1)
    for fraction in fractions:
        least = least.lcm(fraction.q)
    return least


# ---------------------------------------------------------------------------------------------
# Lifting


def lift(matrix: Any, amounts: list[int]) -> tuple[list[int], int]:
    """The solution of ``matrix @ x = amounts``, as numerators over one denominator.

    Parameters
    ----------
    matrix
        Sparse int64 (n, n).

    Raises
    ------
    SingularError
        If the matrix is singular.
    """
    if abs(matrix).sum(axis=1).max() > _LARGEST_SUM:
        raise PtttError("The coefficients of a linear program are too large for its solution in fractions.")
    lifting, by_rows = _Lifting(matrix.tocsc(), amounts), matrix.tocsr()
    count, enough = _FIRST_DIGITS, _enough_digits(matrix, amounts)
    while True:
        found = _fractions(lifting.numbers(count), lifting.prime**count)
        if found and _solves(by_rows, amounts, *found):
            return found
        if count > enough:
            raise PtttError("A system of equations has no solution in fractions. Please report this mistake.")
        count *= 2


def _enough_digits(matrix: Any, amounts: list[int]) -> float:
    """A number of digits that determine any solution, whose fractions are quotients of determinants (Hadamard)."""
    squares = (matrix.astype(np.float64) ** 2).sum(axis=0)
    largest = max(abs(amount) for amount in amounts).bit_length() + np.log2(len(amounts))
    return float((np.log2(squares).sum() + 2 * largest + 4) / np.log2(PRIMES[-1]))


class _Lifting:
    """The digits of a solution."""

    def __init__(self, matrix: Any, amounts: list[int]) -> None:
        self._matrix, self._rest, self._digits = matrix, amounts, list[Ints]()
        self._left = np.zeros(len(amounts), np.int64)
        self.prime, self._factors = _factor_matrix(matrix)

    def numbers(self, count: int) -> list[int]:
        """The solution modulo the prime to the power of `count`."""
        matrix, prime = self._matrix, self.prime
        parts = matrix.indptr, matrix.indices, matrix.data
        while len(self._digits) < count:
            self._left += np.array([amount % prime for amount in self._rest], np.int64)
            self._rest = [amount // prime for amount in self._rest]
            digit = np.zeros(len(self._left), np.int64)
            _next_digit(prime, self._factors, parts, self._left, np.empty_like(digit), digit)
            self._digits.append(digit)
        found = [0] * len(self._left)
        for digit in reversed(self._digits):
            found = [number * prime + low for number, low in zip(found, digit.tolist(), strict=True)]
        return found


def _fractions(numbers: list[int], modulus: int) -> tuple[list[int], int] | None:
    """Small fractions with a common denominator that are these numbers modulo the modulus; None if there are none."""
    most, denominator = isqrt(modulus // 2), 1
    for number in numbers:
        one, other, times, before = modulus, number * denominator % modulus, 1, 0
        if min(other, modulus - other) <= most:
            continue
        while other > most:  # Euclid's algorithm: other = times * number, up to the modulus
            quotient = one // other
            one, other, before, times = other, one - quotient * other, times, before - quotient * times
        denominator *= abs(times)
        if denominator > most:
            return None
    products = (number * denominator % modulus for number in numbers)
    return [number if number <= most else number - modulus for number in products], denominator


def _solves(matrix: Any, amounts: list[int], numerators: list[int], denominator: int) -> bool:
    """Whether a solution fits the equations, in integers."""
    columns, entries, starts = matrix.indices.tolist(), matrix.data.tolist(), matrix.indptr.tolist()
    return all(
        sum(entries[k] * numerators[columns[k]] for k in range(starts[row], starts[row + 1])) == amount * denominator
        for row, amount in enumerate(amounts)
    )


# ---------------------------------------------------------------------------------------------
# Modulo a prime


def _factor_matrix(matrix: Any) -> tuple[int, tuple[Ints, ...]]:
    """A prime, and the factors of the matrix modulo it; see :func:`_factor`.

    The factors are sparse in the order of rows and columns that is good in double precision.
    """
    from scipy.sparse.linalg import splu

    size = matrix.shape[0]
    try:
        order = splu(matrix.astype(np.float64), diag_pivot_thresh=0.1)
    except RuntimeError as error:
        raise SingularError("A basis of a linear program is singular.") from error
    columns, rows = np.argsort(order.perm_c).astype(np.int64), np.argsort(order.perm_r).astype(np.int64)
    capacity = int(order.nnz) + size
    for prime in PRIMES:
        while True:
            starts, inverses = np.zeros((2, size + 1), np.int64), np.zeros(size, np.int64)
            pivots, entries = rows.copy(), np.zeros((2, 2, capacity), np.int64)
            used, column = np.zeros(size, np.bool_), np.zeros(size, np.int64)
            parts = matrix.indptr, matrix.indices, matrix.data
            factors = starts, entries, pivots, inverses, columns
            done = _factor(prime, parts, factors, used, column)
            if done != _NO_ROOM:
                break
            capacity *= 2
        if done == size:
            return prime, factors
    raise SingularError("A basis of a linear program is singular.")


_NO_ROOM = -1


@piece
def _power(prime: int, number: Any, exponent: Any) -> Any:
    result = np.int64(1)
    while exponent:
        if exponent & 1:
            result = result * number % prime
        number = number * number % prime
        exponent >>= 1
    return result


@bare_kernel
def _factor(prime: int, matrix: Any, factors: Any, used: Any, column: Any) -> Any:
    """Factor a matrix modulo a prime, column by column (Gilbert and Peierls 1988).

    Parameters
    ----------
    matrix
        Starts of columns, rows and entries.
    factors
        ``starts`` (2, n + 1) and ``entries`` (2, 2, capacity): rows or pivots, and numbers, of the columns of the lower
        and of the upper factor; ``pivots`` (n,), the row of each pivot, at first the preferred ones; ``inverses`` (n,)
        of the pivots; ``columns`` (n,), their order.
    used, column
        Space for n marks, all false, and for n numbers, all 0.

    Returns
    -------
    done
        The number of pivots; if less than n, the matrix is singular modulo the prime; -1: there is no space.
    """
    column_starts, rows, numbers = matrix
    starts, entries, pivots, inverses, columns = factors
    size, capacity = len(columns), entries.shape[2]
    for j in range(size):
        lower, upper = starts[0, j], starts[1, j]
        if max(lower, upper) + size > capacity:
            return np.int64(_NO_ROOM)
        # The column's numbers, modulo the prime, at their rows.
        for k in range(column_starts[columns[j]], column_starts[columns[j] + 1]):
            column[rows[k]] = numbers[k] % prime
        # Solve with the lower factor so far: what stands at an earlier pivot goes to the upper factor, and that
        # multiple of the pivot's lower column is subtracted.
        for i in range(j):
            number = column[pivots[i]]
            if number == 0:
                continue
            entries[1, 0, upper], entries[1, 1, upper] = i, number
            upper += 1
            column[pivots[i]] = 0
            for k in range(starts[0, i], starts[0, i + 1]):
                row = entries[0, 0, k]
                column[row] = (column[row] + (prime - entries[0, 1, k]) * number) % prime
        # The pivot: the preferred row, or the first free one that is not zero. Without any, the matrix is singular.
        pivot = np.int64(pivots[j])
        if used[pivot] or column[pivot] == 0:
            pivot = np.int64(-1)
            for row in range(size):
                if not used[row] and column[row]:
                    pivot = np.int64(row)
                    break
            if pivot < 0:
                return np.int64(j)
        used[pivot], pivots[j] = True, pivot
        # Its inverse is its power of p - 2 (Fermat). The rest of the column, divided by the pivot, goes to the lower
        # factor.
        inverses[j] = _power(prime, column[pivot], np.int64(prime - 2))
        column[pivot] = 0
        for row in range(size):
            if column[row]:
                entries[0, 0, lower], entries[0, 1, lower] = row, column[row] * inverses[j] % prime
                column[row] = 0
                lower += 1
        starts[0, j + 1], starts[1, j + 1] = lower, upper
    return np.int64(size)


@bare_kernel
def _next_digit(prime: int, factors: Any, matrix: Any, left: Any, work: Any, digit: Any) -> None:
    """Solve for what is left over, modulo the prime; subtract what is solved, and divide the rest by the prime."""
    column_starts, rows, numbers = matrix
    starts, entries, pivots, inverses, columns = factors
    size = len(columns)
    for row in range(size):
        work[row] = left[row] % prime
    for i in range(size):
        number = work[pivots[i]]
        if number:
            for k in range(starts[0, i], starts[0, i + 1]):
                row = entries[0, 0, k]
                work[row] = (work[row] + (prime - entries[0, 1, k]) * number) % prime
    for j in range(size - 1, -1, -1):
        number = work[pivots[j]] * inverses[j] % prime
        digit[columns[j]] = number
        if number:
            for k in range(starts[1, j], starts[1, j + 1]):
                row = pivots[entries[1, 0, k]]
                work[row] = (work[row] + (prime - entries[1, 1, k]) * number) % prime
            for k in range(column_starts[columns[j]], column_starts[columns[j] + 1]):
                left[rows[k]] -= numbers[k] * number
    for row in range(size):
        left[row] //= prime
