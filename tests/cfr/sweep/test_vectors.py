"""Pieces of the joint sweep written as LLVM instructions, compared with numpy."""

import numba
import numpy as np
import pytest

from pttt_ooc.cfr.sweep import gradient
from pttt_ooc.cfr.sweep.vectors import LANES, STRETCH, any_cell, lowest, not_zero
from pttt_ooc.games.structure.timing import PatternCells
from tests.kits import helpers

PRECISIONS = (np.float32, np.float64)


@numba.njit
def compare(numbers, first):
    return not_zero(numbers, first)


@numba.njit
def first_bit(bits):
    return lowest(bits)


@numba.njit
def has_any(source, first, width):
    return any_cell(source, first, width)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_numbers_that_are_not_zero_are_found(dtype):
    numbers = np.zeros(3 + STRETCH + 1, dtype)
    assert compare(numbers, 3) == 0
    numbers[[2, -1]] = 1  # beside the stretch
    numbers[5] = -0.0
    assert compare(numbers, 3) == 0
    numbers[[3, 6, 3 + STRETCH - 1]] = np.nan, -1, np.finfo(dtype).smallest_subnormal
    found = compare(numbers, 3)
    assert int(found) == 1 | 1 << 3 | 1 << STRETCH - 1
    assert first_bit(found) == 0
    assert first_bit(found & ~np.uint64(1)) == 3


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("width", [1, 2, 7])
def test_cells_that_are_not_zero_are_found(dtype, width):
    source = np.zeros((width + 2) * LANES, dtype)
    source[LANES - 1] = source[-LANES] = 1  # beside these cells
    source[LANES] = -0.0
    assert not has_any(source, 1, width)
    for at in range(LANES, (width + 1) * LANES):
        source[at] = -np.finfo(dtype).smallest_subnormal
        assert has_any(source, 1, width)
        source[at] = 0


@pytest.mark.slow_but_one
@pytest.mark.parametrize("orders", [1, STRETCH - 1, STRETCH, 3 * STRETCH + 5])
@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
def test_orders_are_summed_by_cells_in_sequence(orders, share):
    rng = np.random.default_rng(orders)
    y = rng.random(orders + 9, np.float32)
    y[4 : 4 + orders][rng.random(orders) >= share] = 0
    cells = rng.integers(0, 5, orders + 2).astype(np.uint16)
    patterns = PatternCells(np.array([0, 2, 2 + orders]), cells, np.zeros(0, np.uint32))
    cells = rng.random(5, np.float32)
    expected = cells.copy()
    for place, number in zip(patterns.cell[2:], y[4 : 4 + orders], strict=True):
        expected[place] += number
    assert helpers.compiled(gradient._gather)(y, 4, 1, patterns, cells) == (y[4 : 4 + orders] != 0).any()
    assert np.array_equal(cells, expected)  # the same bits
