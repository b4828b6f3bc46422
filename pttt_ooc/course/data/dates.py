"""Deadlines, late days and freezes: pure functions of instants (seconds since 1970 in UTC) and a time zone.

Late days are days of the calendar in the course's time zone: late day n ends at the clock time of the deadline, n days
later.  So a late day has 23 or 25 hours when the clock changes in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pttt_ooc.errors import CourseError

PLANNED, OPEN, LATE, CLOSED = "planned", "open", "late", "closed"
_EXAMPLE = "2027-02-25 23:55"


def zone_of(name: str) -> ZoneInfo:
    """A time zone by its name, such as Europe/Rome; CourseError if there is none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise CourseError(f"There is no time zone {name!r}; an example is Europe/Rome, another one UTC.") from None


def instant(text: str, zone: ZoneInfo) -> float:
    """The instant of a time, in the course's time zone unless the time has an offset of its own.

    Raises
    ------
    CourseError
        If it is not a time, or the clock never shows it on that day, or shows it twice.
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or len(text) < len(_EXAMPLE):
        raise CourseError(f"{text!r} is not a time; an example is {_EXAMPLE}.")
    if time.tzinfo is not None:
        return time.timestamp()
    first, second = (time.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    if first.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != time:
        raise CourseError(f"There is no {text} in {zone.key}: the clock is put forward then; choose another time.")
    if first.utcoffset() != second.utcoffset():
        offset = first.isoformat()
        raise CourseError(f"{text} comes twice in {zone.key}: the clock is put back then; write {offset}, for example.")
    return first.timestamp()


def instant_text(at: float, zone: ZoneInfo) -> str:
    """An instant as a text that :func:`instant` reads: without an offset, unless the clock shows it twice."""
    time = datetime.fromtimestamp(at, zone)
    twice = time.replace(fold=0).utcoffset() != time.replace(fold=1).utcoffset()
    sure = time if twice else time.replace(tzinfo=None)
    return sure.isoformat(sep=" ", timespec="seconds" if time.second or time.microsecond else "minutes")


def readable_instant(at: float, zone: ZoneInfo) -> str:
    """An instant for people, with the time zone."""
    time = datetime.fromtimestamp(at, zone)
    return f"{time:%a %d %b %Y %H:%M} {time.tzname()}"


def day_end(due: float, days: int, zone: ZoneInfo) -> float:
    """When late day number `days` ends; 0: the deadline itself.

    If the clock shows this time twice, the second one is meant; if it never shows it, the clock is read as if it had
    not been put forward.
    """
    return move_instant(due, timedelta(days=days), zone) if days else due


def move_instant(at: float, by: timedelta, zone: ZoneInfo) -> float:
    """An instant moved by a difference of clock times; see :func:`day_end`."""
    wanted = datetime.fromtimestamp(at, zone).replace(tzinfo=None) + by
    first, second = (wanted.replace(tzinfo=zone, fold=fold).timestamp() for fold in (0, 1))
    return max(first, second)


def days_late(at: float, due: float | None, zone: ZoneInfo) -> int:
    """Late days that have begun at an instant; 0 until the deadline, inclusive, or without one."""
    if due is None or at <= due:
        return 0
    days = max(1, math.ceil((at - due) / 86400) - 1)
    while at > day_end(due, days, zone):
        days += 1
    return days


@dataclass(frozen=True)
class Dates:
    """The dates of an assignment; None: there is no such date.

    Attributes
    ----------
    opens, due, closes
        From when files are taken, until when without a reduction, and until when at all.  Without `closes`, the
        deadline is the end.
    frozen, unveiled
        Between these instants, public standings stay as they were.
    """

    opens: float | None = None
    due: float | None = None
    closes: float | None = None
    frozen: float | None = None
    unveiled: float | None = None

    @property
    def end(self) -> float | None:
        """Until when files are taken."""
        return self.due if self.closes is None else self.closes

    def state(self, at: float) -> str:
        """What holds at an instant: :data:`PLANNED`, :data:`OPEN`, :data:`LATE` or :data:`CLOSED`."""
        if self.opens is not None and at < self.opens:
            return PLANNED
        if self.end is not None and at > self.end:
            return CLOSED
        return LATE if self.due is not None and at > self.due else OPEN

    def takes(self, at: float) -> bool:
        """Whether what is handed in at an instant counts."""
        return self.state(at) in (OPEN, LATE)

    def is_frozen(self, at: float) -> bool:
        """Whether public standings are frozen at an instant."""
        return self.frozen is not None and self.frozen <= at and (self.unveiled is None or at < self.unveiled)

    def with_extension(self, until: float | None, zone: ZoneInfo) -> Dates:
        """The dates of a team with an extension: the deadline is `until`, and the end moves by as many clock hours."""
        if until is None or self.due is None or until <= self.due:
            return self
        by = datetime.fromtimestamp(until, zone).replace(tzinfo=None) - datetime.fromtimestamp(self.due, zone).replace(
            tzinfo=None
        )
        closes = None if self.closes is None else move_instant(self.closes, by, zone)
        return replace(self, due=until, closes=closes)

    def problem(self) -> str | None:
        """What is wrong with the order of the dates; None: nothing."""
        for first, second in (("opens", "due"), ("due", "closes"), ("opens", "closes"), ("frozen", "unveiled")):
            a, b = getattr(self, first), getattr(self, second)
            if a is not None and b is not None and (a > b or (a == b and first != "due")):
                return f"{first} must be before {second}"
        if self.closes is not None and self.due is None:
            return "closes needs due"
        if self.unveiled is not None and self.frozen is None:
            return "unveiled needs frozen"
        return None


@dataclass(frozen=True)
class LateCost:
    """What late days cost.

    Attributes
    ----------
    spent
        Free late days that are used up.
    factor
        The share of the points that is left, from 0 to 1.
    """

    spent: int
    factor: float


def late_cost(days: int, percent: float, own: int) -> LateCost:
    """The cost of late days: `own` free days pay first, each further day costs `percent` of the points."""
    spent = min(days, own)
    return LateCost(spent, max(0.0, 1 - percent / 100 * (days - spent)))
