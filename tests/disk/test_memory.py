"""Memory: needs, budgets, and arrays mapped from files."""

import mmap
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pytest

from pttt_ooc.disk import memory
from pttt_ooc.disk.memory import MemoryNeeds, arrays_within, buffer_for, in_memory, leaves, virtual_array, with_leaves
from pttt_ooc.errors import MemoryBudgetError


class Both(NamedTuple):
    large: Any
    small: Any


@dataclass(frozen=True)
class Arrays:
    hot: Any
    rest: Any


ARRAYS = Arrays(
    virtual_array(1_000_000, np.float32),
    (Both(virtual_array(5_000_000, np.float64), virtual_array(1000, np.float32)), ()),
)
NEEDS = MemoryNeeds({"Python": 100_000_000, "cells": 20_500_000}, ARRAYS)
HOT, LARGE, SMALL = "hot", "rest/0/large", "rest/0/small"


def is_mapped(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return array is not None and isinstance(memoryview(array).obj, mmap.mmap)


def test_virtual_arrays_have_a_shape_and_a_dtype_but_no_memory():
    array = virtual_array((10**6, 10**6), np.float32)
    assert (array.shape, array.dtype, array.nbytes) == ((10**6, 10**6), np.float32, 4 * 10**12)
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 1


def test_a_tree_keeps_its_form():
    assert list(leaves(ARRAYS)) == [HOT, LARGE, SMALL]
    found = with_leaves(ARRAYS, lambda path, array: np.array([len(path), len(array)]))
    assert type(found) is Arrays and type(found.rest) is tuple and type(found.rest[0]) is Both and found.rest[1] == ()
    assert found.rest[0].small.tolist() == [len(SMALL), 1000] and found.hot.tolist() == [len(HOT), 1_000_000]
    with pytest.raises(TypeError, match="rest/0/large is list"):
        leaves(Arrays(ARRAYS.hot, (Both([], ARRAYS.hot),)))


def test_a_budget_that_is_too_small_is_refused_with_the_smallest_sufficient_one():
    assert NEEDS.smallest_mb == 121
    with pytest.raises(MemoryBudgetError, match=r"of 120 MB is too small: 121 MB is the smallest.*Python 100 MB"):
        NEEDS.within(120)
    NEEDS.within(121)


def test_arrays_are_in_memory_in_their_order_within_the_budget(tmp_path):
    workspace = NEEDS.within(126, tmp_path / "scratch")
    assert workspace.held == {HOT, SMALL} and workspace.projected_mb == 125 and workspace.mapped == 40_000_000
    found, wanted = leaves(workspace.allocate()), leaves(ARRAYS)
    assert found.keys() == wanted.keys() and {path for path, array in found.items() if is_mapped(array)} == {LARGE}
    for path, array in found.items():
        assert (array.shape, array.dtype) == (wanted[path].shape, wanted[path].dtype)
        array[:] = 1
    assert not any((tmp_path / "scratch").iterdir()), "mapped files have no names, so that none is left behind"


def test_no_budget_is_overshot_by_a_byte():
    sizes, fixed = {path: array.nbytes for path, array in leaves(ARRAYS).items()}, sum(NEEDS.fixed.values())
    for budget in range(121, 171):
        workspace = NEEDS.within(budget)
        held = fixed + sum(sizes[path] for path in workspace.held)
        assert held <= budget * 1_000_000 and workspace.projected_mb <= budget
        rest = sizes.keys() - workspace.held
        assert workspace.mapped == sum(sizes[path] for path in rest)
        assert all(held + sizes[path] > budget * 1_000_000 for path in rest), "what fits is held"
    exact = MemoryNeeds({}, (virtual_array(1_000_000, np.int8), virtual_array(1_000_001, np.int8)))
    held_within = [exact.within(budget).held for budget in (1, 2, 2.000001)]
    assert held_within == [{"0"}, {"0"}, {"0", "1"}]


def test_pieces_have_room_where_neither_the_budget_nor_the_machine_holds_all(monkeypatch):
    """All takes 165 MB, 235 of which any process has; with 40 MB besides, 205."""
    for left, budget, besides, wanted in [
        *((0, 165, 0, False), (0, 164, 0, False), (-100 * 10**6, 164, 0, True), (-100 * 10**6, 165, 0, False)),
        *((-30 * 10**6, 200, 40_000_000, False), (-31 * 10**6, 200, 40_000_000, True)),
    ]:
        monkeypatch.setattr(memory, "available_bytes", lambda left=left: left)
        assert bool(NEEDS.room_for_pieces(budget, besides)) == wanted
    for budget, held, room in [
        *((153, set(), 32.5), (152, {HOT, SMALL}, 0), (300, {HOT, LARGE, SMALL}, 135.496)),
        *((253, {HOT, SMALL}, 128.496), (252, {SMALL}, 131.496)),
    ]:
        workspace = NEEDS.within(budget, room=128 * 10**6)
        assert (workspace.held, workspace.room) == (held, round(room * 10**6)), budget
        assert workspace.projected_mb == budget - (not room) * 27


def test_there_are_as_many_threads_as_the_budget_holds():
    needs = replace(NEEDS, thread={"a stack": 2_000_000, "cells": 8_000_000})
    assert needs.smallest_mb == 131 and needs.least == {
        **{"Python": 100_000_000, "cells": 28_500_000, "a stack": 2_000_000}
    }
    with pytest.raises(MemoryBudgetError, match=r"of 130 MB is too small: 131 MB is the smallest"):
        needs.within(130, most_threads=16)
    for budget, threads in ((131, 1), (140, 1), (141, 2), (150.4, 2), (150.5, 3), (270, 14), (281, 16), (5000, 16)):
        workspace = needs.within(budget, most_threads=16)
        assert workspace.threads == threads, budget
        told = workspace.fewer_threads("solve", budget, 16)
        assert told == "" if threads == 16 else f"hold {threads} of 16 threads, so solve uses {threads};" in told
    assert needs.within(most_threads=64).threads == 64
    assert needs.within(131).threads == needs.within(5000).threads == 1
    # What the threads leave is there for the arrays.
    one, many = needs.within(151), needs.within(151, most_threads=16)
    assert one.held == {HOT, SMALL} and many.held == {SMALL} and (many.threads, many.projected_mb) == (3, 151)


def test_without_a_limit_everything_is_in_memory():
    workspace = NEEDS.within()
    assert workspace.held == set(leaves(ARRAYS)) and (workspace.projected_mb, workspace.mapped) == (165, 0)
    found = leaves(in_memory(ARRAYS))
    assert not any(map(is_mapped, found.values())) and all(array.flags.writeable for array in found.values())


def test_trees_take_turns_in_a_buffer():
    small = (virtual_array(3, np.int8), virtual_array((2, 5), np.float64))
    large = Both(virtual_array(100, np.float32), virtual_array(1, np.int64))
    room = in_memory(buffer_for(small, large))
    assert room.nbytes == 448 + 64 and buffer_for().nbytes == 0
    one, other = arrays_within(room, small), arrays_within(room, large)
    assert [(a.shape, a.dtype) for a in (*one, *other)] == [(a.shape, a.dtype) for a in (*small, *large)]
    assert all((a.ctypes.data - room.ctypes.data) % 64 == 0 for a in (*one, *other))
    assert not np.shares_memory(*one) and not np.shares_memory(*other) and np.shares_memory(one[0], other.large)
    other.large[:], other.small[:] = 1, 2
    assert (other.large == 1).all() and (other.small == 2).all()


def test_an_array_that_is_described_twice_is_allocated_twice():
    both = virtual_array(3, np.int64)
    first, second = in_memory((both, both))
    assert not np.shares_memory(first, second)
