"""The rank of a sparse matrix of whole numbers, without rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

PRIME = (1 << 61) - 1
"""The rank is computed modulo this prime: it is never too high, and too low only if the prime divides a minor."""


def rank_of(matrix: Any) -> int:
    """The rank of a sparse matrix.

    Rows and columns with a single entry are taken out first, as long as there are any.  FLINT finds the rank of the
    rest.

    Parameters
    ----------
    matrix
        Sparse; its entries are whole numbers of any numeric type.

    Raises
    ------
    ValueError
        If an entry is not a whole number.
    """
    import flint

    # The entries as whole numbers, without zeros.
    entries = matrix.tocoo()
    numbers = np.rint(entries.data)
    if np.abs(entries.data - numbers).max(initial=0) > 1e-6:
        raise ValueError("the rank is that of a matrix of whole numbers")
    kept = numbers != 0
    rows, columns, numbers = entries.row[kept], entries.col[kept], numbers[kept].astype(np.int64)
    found = 0
    # An entry that is alone in its row or column adds 1 to the rank; its row and column are taken out.
    while len(rows):
        alone = (np.bincount(rows)[rows] == 1) | (np.bincount(columns)[columns] == 1)
        if not alone.any():
            break
        # One entry of each row and column at most: pivots that need no elimination.
        pivots = np.flatnonzero(alone)
        pivots = pivots[np.unique(rows[pivots], return_index=True)[1]]
        pivots = pivots[np.unique(columns[pivots], return_index=True)[1]]
        found += len(pivots)
        left = ~np.isin(rows, rows[pivots]) & ~np.isin(columns, columns[pivots])
        rows, columns, numbers = rows[left], columns[left], numbers[left]
    if not len(rows):
        return found
    # What is left, with its rows and columns numbered anew, modulo the prime.
    rows, columns = (np.unique(part, return_inverse=True)[1] for part in (rows, columns))
    dense = np.zeros((int(rows.max()) + 1, int(columns.max()) + 1), np.int64)
    dense[rows, columns] = numbers % PRIME
    return found + int(flint.nmod_mat(*dense.shape, dense.ravel().tolist(), PRIME).rank())
