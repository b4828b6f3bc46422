"""The rank of sparse matrices of whole numbers, against elimination in fractions."""

from random import Random

import numpy as np
import pytest

pytest.importorskip("flint")
pytest.importorskip("scipy")
from scipy import sparse

from pttt_ooc.exact.equilibria.supports import rank_of
from tests.kits.fractions_rank import fraction_rank


def random_matrix(rng, rows, columns, density):
    return [[rng.randint(-4, 4) if rng.random() < density else 0 for _ in range(columns)] for _ in range(rows)]


def test_the_rank_is_that_of_elimination_in_fractions():
    rng, seen = Random(5), set()
    for _ in range(300):
        rows, columns = rng.randint(1, 9), rng.randint(1, 9)
        matrix = random_matrix(rng, rows, columns, rng.choice((0.1, 0.25, 0.5, 1.0)))
        for _ in range(rng.randint(0, 3)):  # rows that depend on others
            one, other = rng.choice(matrix), rng.choice(matrix)
            matrix.append([2 * a - 3 * b for a, b in zip(one, other, strict=True)])
        expected = fraction_rank(matrix)
        seen.add((expected, min(len(matrix), columns)))
        assert rank_of(sparse.csr_matrix(np.array(matrix, float))) == expected
    assert len(seen) > 20


def test_large_entries_empty_matrices_and_stored_zeros():
    assert rank_of(sparse.csr_matrix(np.array([[2.0**52, 1.0], [1.0, 1.0]]))) == 2
    assert rank_of(sparse.csr_matrix((3, 2))) == 0
    stored_zero = sparse.csr_matrix(([0.0, 1.0], ([0, 1], [0, 1])), shape=(2, 2))
    assert rank_of(stored_zero) == 1


def test_a_fraction_is_refused():
    with pytest.raises(ValueError, match="whole numbers"):
        rank_of(sparse.csr_matrix(np.array([[0.5, 1.0]])))
