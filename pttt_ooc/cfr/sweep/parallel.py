"""Calls on several threads with results in the order of the calls."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def in_order(function: Callable[[_Item], _Result], items: Iterable[_Item], threads: int) -> Generator[_Result]:
    """Call a function for each item on several threads; results are yielded in the order of the items.

    At most `threads` + 1 results wait at a time.  An error of a call is raised in place of its result.
    """
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[_Result]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
