"""Uploads in flight: how many each team has, and the space on the disk that is promised to them.

All of this runs in the web server's event loop, so that no locks are needed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pttt_ooc.course.storage import RESERVE, FullDiskError, Storage


@dataclass(eq=False)
class Flight:
    """One upload in flight.

    Attributes
    ----------
    team
        Number of the team.
    ahead
        Uploads of the same team that were in flight when this one began.
    begun_at
        When it began; that counts for deadlines, if it is received whole.
    promised
        Bytes of the disk that it may still use.
    """

    team: int
    ahead: int
    begun_at: float
    promised: int = 0

    def wrote(self, size: int) -> None:
        """Count bytes that are in the file, and no longer promised."""
        self.promised = max(0, self.promised - size)


class InFlight:
    """All uploads in flight of one web server."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._flights: set[Flight] = set()

    def __len__(self) -> int:
        return len(self._flights)

    @contextmanager
    def begin(self, team: int, at: float | None = None) -> Iterator[Flight]:
        """An upload of a team that began at `at` (None: now), in flight until the block ends."""
        ahead = sum(other.team == team for other in self._flights)
        flight = Flight(team, ahead, time.time() if at is None else at)
        self._flights.add(flight)
        try:
            yield flight
        finally:
            self._flights.discard(flight)

    def promise(self, flight: Flight, size: int) -> None:
        """Promise space for `size` bytes.

        Raises
        ------
        FullDiskError
            If less than the reserve would be left once all uploads in flight are on the disk.
        """
        promised = sum(other.promised for other in self._flights)
        if self._storage.free_bytes() - promised < size + RESERVE:
            raise FullDiskError
        flight.promised = size
