"""When a request arrived, by the clock of its connection: waiting for a thread does not change it."""

from __future__ import annotations

import time

ARRIVAL = "pttt.arrival"
"""The key of a request's scope with its :class:`Arrival`."""


class Arrival:
    """When a request arrived, and how long it took.

    Attributes
    ----------
    begun_at
        When its head had arrived, in seconds since 1970.
    waited
        Seconds from then to the latest bytes, without pauses in which this server did not read.
    """

    def __init__(self) -> None:
        self.begun_at, self.waited = time.time(), 0.0
        self._begun = self._since = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Seconds since its head arrived."""
        return time.monotonic() - self._begun

    def come(self) -> None:
        """Note that bytes have arrived."""
        now = time.monotonic()
        self.waited, self._since = self.waited + now - self._since, now

    def resume(self) -> None:
        """Note that this server reads again."""
        self._since = time.monotonic()
