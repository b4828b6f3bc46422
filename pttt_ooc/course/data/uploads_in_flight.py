"""Uploads in flight: how many each team has, and the space on the disk that is promised to them.

All of this runs in the web server's event loop, so that no locks are needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pttt_ooc.course.data.storage import RESERVE, FullDiskError, Storage
from pttt_ooc.site.shell.arrival import Arrival

BYTES_PER_SECOND = 20_000
"""As fast as an upload has to come, on average from its beginning to any moment."""

_COUNTED_SECONDS = 600.0  # the longest time by which the moment that counts is before the upload's end


@dataclass(eq=False)
class Flight:
    """One upload in flight.

    Attributes
    ----------
    team
        Number of the team.
    ahead
        Uploads of the same team that were in flight when this one began.
    arrival
        How its request comes.
    promised
        Bytes of the disk that it may still use.
    size
        Bytes that are in the file.
    """

    team: int
    ahead: int
    arrival: Arrival
    promised: int = 0
    size: int = 0
    _late: float = 0.0

    @property
    def begun_at(self) -> float:
        """The beginning that counts for deadlines: the earliest one after which all that has come was fast enough.

        That is at :data:`BYTES_PER_SECOND` on average up to each byte, and within ten minutes. So nobody gains time by
        beginning early and sending the file, or its last byte, late.
        """
        return self.arrival.begun_at + self._late

    def come(self) -> None:
        """Note that something has come, before it is written."""
        arrival = self.arrival
        self._late = max(self._late, arrival.waited - self.size / BYTES_PER_SECOND, arrival.elapsed - _COUNTED_SECONDS)

    def wrote(self, size: int) -> None:
        """Count bytes that are in the file, and no longer promised."""
        self.size += size
        self.promised = max(0, self.promised - size)


class InFlight:
    """All uploads in flight of one web server."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._flights: set[Flight] = set()

    def __len__(self) -> int:
        return len(self._flights)

    @contextmanager
    def begin(self, team: int, arrival: Arrival) -> Iterator[Flight]:
        """An upload of a team, in flight until the block ends."""
        flight = Flight(team, sum(other.team == team for other in self._flights), arrival)
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
