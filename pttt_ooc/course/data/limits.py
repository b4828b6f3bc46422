"""How much a team may submit: files an hour and a day, files without a verdict, and uploads in flight.

Uploads in flight belong to the web server's event loop, so that no locks are needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, or_, select, true
from sqlalchemy.orm import Session

from pttt_ooc.course.data.models import UNFINISHED, Judged, Team
from pttt_ooc.course.data.storage import RESERVE, FullDiskError, Storage
from pttt_ooc.errors import CourseError
from pttt_ooc.site.shell.arrival import Arrival

HOUR, DAY = 3600.0, 86400.0
_UNCOUNTED = 2  # times the hourly limit: the limit for all files, also for those that do not count


class SubmissionError(CourseError):
    """A team cannot do this with a submission now.

    Parameters
    ----------
    status
        The status of HTTP that goes with the sentence.
    wait
        Seconds after which another try makes sense; 0 if that is not known.
    """

    def __init__(self, sentence: str, status: int = 429, wait: float = 0) -> None:
        super().__init__(sentence)
        self.status, self.wait = status, wait


@dataclass(frozen=True)
class Limits:
    """How many files of a kind a team may submit.

    Attributes
    ----------
    files
        What they are called: ``submissions``.
    hourly
        Within an hour.
    waiting
        Without a verdict.
    counted
        The condition for a file to count among those of the hour and of the day; None: all count.
    daily
        Within 24 hours; None: as many as the hours allow.
    brought
        For a team's number, the condition for another team's file to count as its own; None: no file does.
    """

    files: str
    hourly: int
    waiting: int
    counted: ColumnElement[bool] | None = None
    daily: int | None = None
    brought: Callable[[int], ColumnElement[bool]] | None = None

    def of(self, table: type[Judged], team: Team) -> ColumnElement[bool]:
        """The condition for a file to count as one of a team's."""
        own = table.team_id == team.id
        return own if self.brought is None else or_(own, self.brought(team.id))


@dataclass(frozen=True)
class _Window:
    """At most so many files within so many seconds."""

    most: int
    seconds: float
    words: str
    counted: ColumnElement[bool] | None


@dataclass(frozen=True)
class Quota:
    """What a team may still submit: how many of this hour's files and of its places in the queue are left.

    Attributes
    ----------
    daily
        How many of the day's files are left; None: there is no such limit.
    wait
        Seconds until the next file can be made, or until one of this hour's stops counting; 0 if there are none.
    """

    hourly: int
    places: int
    wait: float
    daily: int | None = None

    @property
    def left(self) -> int:
        """How many files the team may make now, if the queue has places for them."""
        return self.hourly if self.daily is None else min(self.hourly, self.daily)


def quota(session: Session, table: type[Judged], team: Team, limits: Limits) -> Quota:
    """What `team` may submit now."""
    now = time.time()
    found = _windows(session, table, team, limits, now)
    left = [(window.most - len(times), window, times) for window, times in found]
    least = {seconds: min(n for n, window, _ in left if window.seconds == seconds) for seconds in {HOUR, *_days(left)}}
    waits = [times[-1] + window.seconds - now for n, window, times in left if times and n <= 0]
    hour = [times[-1] + HOUR - now for n, window, times in left if times and window.seconds == HOUR]
    places = max(0, limits.waiting - _waiting(session, table, team))
    return Quota(least[HOUR], places, max(waits or hour[:1], default=0.0), least.get(DAY))


def _days(left: list[tuple[int, _Window, list[float]]]) -> set[float]:
    return {window.seconds for _, window, _ in left if window.seconds == DAY}


def hold(session: Session, team: Team) -> None:
    """Lock the team's row until the transaction ends, so that two uploads cannot both take the last place.

    SQLite has no such lock and needs none: it lets one session write at a time.
    """
    session.execute(select(Team.id).where(Team.id == team.id).with_for_update())


def check_limits(session: Session, table: type[Judged], team: Team, limits: Limits, in_flight: int = 0) -> None:
    """Raise a SubmissionError if `team` may not submit now, while `in_flight` other files of it are being received."""
    waiting = _waiting(session, table, team) + in_flight
    if waiting >= limits.waiting:
        coming = f" or are being received ({in_flight})" if in_flight else ""
        raise SubmissionError(
            f"{waiting} {limits.files} of {team.name} still wait for a verdict{coming}; wait for one of them.", wait=5
        )
    now = time.time()
    for window, times in _windows(session, table, team, limits, now):
        if times and len(times) + in_flight >= window.most:
            wait = times[-1] + window.seconds - now
            raise SubmissionError(
                f"{team.name} has made {len(times) + in_flight} {limits.files} within {window.words}, which is the "
                f"limit; the next one can be made in {in_words(wait)}.",
                wait=wait,
            )


def in_words(seconds: float) -> str:
    """A time to wait, in whole minutes or hours, rounded up."""
    minutes = int(seconds // 60) + 1
    return f"{minutes} min" if minutes < 100 else f"{-(-minutes // 60)} h"


def _waiting(session: Session, table: type[Judged], team: Team) -> int:
    """Number of the team's files without a verdict."""
    return session.scalar(select(func.count()).where(table.team_id == team.id, table.status.in_(UNFINISHED))) or 0


def _windows(
    session: Session, table: type[Judged], team: Team, limits: Limits, now: float
) -> list[tuple[_Window, list[float]]]:
    """The limits, each with its :func:`_recent`: for files that count, and for all files, since all are kept."""
    wanted = [_Window(limits.hourly, HOUR, "an hour", limits.counted)]
    if limits.counted is not None:
        wanted.append(_Window(_UNCOUNTED * limits.hourly, HOUR, "an hour", None))
    if limits.daily is not None:
        wanted.append(_Window(limits.daily, DAY, "24 hours", limits.counted))
    return [(one, _recent(session, table, limits.of(table, team), one, now)) for one in wanted]


def _recent(
    session: Session, table: type[Judged], own: ColumnElement[bool], window: _Window, now: float
) -> list[float]:
    """When the team submitted the files that count in the window before `now`, latest first, at most as many as it may.

    Times in the future, from before a clock was put back, do not count: the team would have to wait for them.
    """
    at = table.received_at
    counted = true() if window.counted is None else window.counted
    query = select(at).where(own, at > now - window.seconds, at <= now, counted)
    return list(session.scalars(query.order_by(at.desc()).limit(window.most)))


# ---------------------------------------------------------------------------------------------
# Uploads in flight


BYTES_PER_SECOND = 20_000
"""How fast an upload has to come, on average from its beginning to any moment."""

_COUNTED_SECONDS = 600.0  # the beginning that counts is at most this long before the upload's end


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
        How its request arrives.
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
        """The beginning that counts for deadlines: the earliest moment from which the upload was always fast enough.

        Fast enough means :data:`BYTES_PER_SECOND` on average up to each byte, and ten minutes in all. So nobody gains
        time by beginning early and sending the file, or its last byte, late.
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
