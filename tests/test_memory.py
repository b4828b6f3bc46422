"""Memory plans."""

import mmap

import numpy as np
import pytest

from pttt_ooc.disk.memory import MemoryPlan
from pttt_ooc.errors import MemoryBudgetError

PLAN = MemoryPlan(
    {"Python": 100_000_000, "cells": 20_500_000},
    {"hot": (1_000_000, np.float32), "large": (5_000_000, np.float64), "small": (1000, np.float32)},
)


def is_mapped(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return array is not None and isinstance(memoryview(array).obj, mmap.mmap)


def test_a_budget_that_is_too_small_is_refused_with_the_smallest_that_will_do():
    assert PLAN.smallest_mb == 121
    with pytest.raises(MemoryBudgetError, match=r"of 120 MB is too small: 121 MB is the smallest.*Python 100 MB"):
        PLAN.room(120)
    PLAN.room(121)


def test_arrays_are_in_memory_in_their_order_as_far_as_the_budget_goes(tmp_path):
    room = PLAN.room(126, tmp_path / "scratch")
    assert room.held == {"hot", "small"} and room.projected_mb == 125
    found = {name: room.take(name) for name in PLAN.arrays}
    assert {name for name, array in found.items() if is_mapped(array)} == {"large"}
    for name, array in found.items():
        length, dtype = PLAN.arrays[name]
        assert array.shape == (length,) and array.dtype == dtype
        array[:] = 1
    assert not any((tmp_path / "scratch").iterdir()), "mapped files have no names, so that none is left behind"


def test_no_budget_is_overshot_by_a_byte():
    sizes, needed = PLAN.sizes(), sum(PLAN.needed.values())
    for budget in range(121, 171):
        room = PLAN.room(budget)
        held = needed + sum(sizes[name] for name in room.held)
        assert held <= budget * 1_000_000 and room.projected_mb <= budget
        assert all(held + sizes[name] > budget * 1_000_000 for name in sizes.keys() - room.held), "what fits is held"
    exact = MemoryPlan({}, {"a": (1_000_000, np.int8), "b": (1_000_001, np.int8)})
    assert exact.room(1).held == {"a"} and exact.room(2).held == {"a"} and exact.room(2.000001).held == {"a", "b"}


def test_without_a_limit_everything_is_in_memory():
    room = PLAN.room()
    assert room.held == set(PLAN.arrays) and room.projected_mb == 165
