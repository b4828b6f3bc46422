"""Sets of the nine cells of a small board, as numbers with one bit for each cell: lines, sizes, elements."""

from __future__ import annotations

import numpy as np

ANYWHERE = 9
"""Stands for the number of a small board: the player may play anywhere."""

FULL = 511
LINE_CELLS = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
LINES = np.array([sum(1 << cell for cell in row) for row in LINE_CELLS], dtype=np.int64)
HAS_LINE = np.array([any(marks & line == line for line in LINES) for marks in range(512)], dtype=np.bool_)
SIZE = np.array([marks.bit_count() for marks in range(512)], dtype=np.int64)
NTH = np.array(
    [([c for c in range(9) if marks >> c & 1] + [0] * 9)[:9] for marks in range(512)], dtype=np.int64
)  # the cells of a set, ascending
