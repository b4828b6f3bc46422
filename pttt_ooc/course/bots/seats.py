"""As many matches at a time as the machine holds: checks of bots come first, and practice has what they leave."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Leave(threading.Event):
    """Set when a practice match is to be broken off: there is a check, or practice is over.

    Parameters
    ----------
    over
        Whether practice is over.
    """

    def __init__(self, over: Callable[[], bool]) -> None:
        super().__init__()
        self._over = over

    def is_set(self) -> bool:
        """Whether the match is to be broken off."""
        return super().is_set() or self._over()


class Seats:
    """The matches that may be played at the same time.

    Parameters
    ----------
    most
        How many.
    over
        Whether practice is over: then no match begins, and those under way are broken off.
    """

    def __init__(self, most: int, over: Callable[[], bool]) -> None:
        self._most, self._over = most, over
        self._lock = threading.Lock()
        self._checks, self._matches = 0, list[Leave]()

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._most))

    @property
    def practising(self) -> int:
        """Number of practice matches under way."""
        return len(self._matches)

    @contextmanager
    def check(self) -> Iterator[None]:
        """A seat for a check, at once; if it is one too many, the latest practice match is broken off."""
        with self._lock:
            self._checks += 1
            staying = [match for match in self._matches if not match.is_set()]
            for match in staying[max(0, self._most - self._checks) :]:
                match.set()
        try:
            yield
        finally:
            with self._lock:
                self._checks -= 1

    @contextmanager
    def practice(self) -> Iterator[Leave | None]:
        """A seat for a practice match, which is told when to leave; None if there is no seat now."""
        leave = Leave(self._over)
        with self._lock:
            free = self._checks + len(self._matches) < self._most and not self._over()
            if free:
                self._matches.append(leave)
        if not free:
            yield None
            return
        try:
            yield leave
        finally:
            with self._lock:
                self._matches.remove(leave)
