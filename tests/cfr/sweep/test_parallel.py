"""Calls on several threads: their order, and how many results wait."""

import threading
import weakref

import pytest

from pttt_ooc.cfr.sweep.parallel import in_order
from tests.kits.patience import PATIENCE


class Block:
    """A result that can be watched."""

    def __init__(self, number):
        self.number = number


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_are_in_order_and_no_more_are_begun_than_threads_and_one(threads):
    taken = []

    def items():
        for number in range(12):
            taken.append(number)
            yield number

    for number, block in enumerate(in_order(Block, items(), threads)):
        assert block.number == number
        assert len(taken) == min(12, number + threads + 1)


def test_one_waits_and_one_is_made_while_one_is_written():
    """What budgets of memory count: with one thread three blocks are there at a time, not two and not four."""
    alive, most, made = weakref.WeakSet(), [], threading.Semaphore(0)

    def make(number):
        block = Block(number)
        alive.add(block)
        most.append(len(alive))
        made.release()
        return block

    made.acquire(blocking=False)
    for block in in_order(make, range(20), 1):
        if block.number < 18:
            assert made.acquire(timeout=PATIENCE)  # the next one is made while this one is written
    assert len(most) == 20 and 2 <= max(most) <= 3


def test_an_error_comes_in_place_of_its_result_and_nothing_is_begun_afterwards():
    called = []

    def call(number):
        called.append(number)
        if number == 2:
            raise KeyError(number)
        return number

    results = in_order(call, range(100), 2)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(KeyError):
        next(results)
    assert max(called) <= 4
    closed = in_order(lambda number: called.append(-1) or number, range(100), 1)
    next(closed)
    closed.close()
    assert called.count(-1) <= 2
