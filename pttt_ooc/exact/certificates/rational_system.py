"""Sparse systems of linear equations with integer coefficients, solved in fractions.

A perfect matching of rows and columns puts nonzeros on the diagonal.  Then the strongly connected components of the
matrix, as a graph, are the diagonal blocks of a block-triangular form (Pothen and Fan 1990), which are solved one after
the other.  The basis of a linear program falls into thousands of blocks, most of them of size one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.exact.certificates.lifted_system import SingularError
from pttt_ooc.exact.certificates.lifted_system import solve as lifted_solution

Ints = NDArray[np.int64]


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
        If the matrix is singular, and none was found.
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
    solved, divisor = lifted_solution(square, [int((amount * denominator).p) for amount in right])
    for k, numerator in zip(block, solved, strict=True):
        found[k] = fmpq(numerator, divisor) / denominator


def common_denominator(fractions: list[Any]) -> Any:
    """The least common denominator of fractions, ``flint.fmpz``."""
    from flint import fmpz

    least = fmpz(1)
    for fraction in fractions:
        least = least.lcm(fraction.q)
    return least
