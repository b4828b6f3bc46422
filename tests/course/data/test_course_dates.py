"""Deadlines and late days, against a model that reads a clock minute by minute."""

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pttt_ooc.course.data.dates import (
    CLOSED,
    LATE,
    OPEN,
    PLANNED,
    Dates,
    day_end,
    days_late,
    instant,
    instant_text,
    late_cost,
    readable_instant,
    zone_of,
)
from pttt_ooc.errors import CourseError

ROME, NEW_YORK, LORD_HOWE = (ZoneInfo(name) for name in ("Europe/Rome", "America/New_York", "Australia/Lord_Howe"))
MINUTE = 60.0


class Clock:
    """The clock on a wall for a few days: what it shows in each minute."""

    def __init__(self, begin, zone, days=6):
        self.minutes = [begin + MINUTE * n for n in range(days * 24 * 60)]
        self.readings = [datetime.fromtimestamp(at, UTC).astimezone(zone).replace(tzinfo=None) for at in self.minutes]

    def last_showing(self, reading):
        """The last minute in which it shows a time; if it never does, as if it had not been put forward."""
        found = [at for at, seen in zip(self.minutes, self.readings, strict=True) if seen == reading]
        if found:
            return found[-1]
        jump = next(n for n, seen in enumerate(self.readings) if seen > reading)
        return self.minutes[jump - 1] + (reading - self.readings[jump - 1]).total_seconds()


@pytest.mark.parametrize(
    "zone, around",
    [
        (ROME, datetime(2027, 3, 26)),
        (ROME, datetime(2027, 10, 29)),
        (NEW_YORK, datetime(2027, 3, 12)),
        (NEW_YORK, datetime(2027, 11, 5)),
        (LORD_HOWE, datetime(2027, 4, 2)),  # half an hour
        (LORD_HOWE, datetime(2027, 10, 1)),
        (ROME, datetime(2027, 6, 1)),
    ],
)
def test_late_days_end_when_the_clock_says_so(zone, around):
    draw = random.Random(1)
    clock = Clock(around.replace(tzinfo=UTC).timestamp() - 86400, zone)
    for due in [*(draw.choice(clock.minutes[1440:2880]) for _ in range(12)), *clock.minutes[1440:2880:97]]:
        reading = datetime.fromtimestamp(due, zone).replace(tzinfo=None)
        ends = [due, *(clock.last_showing(reading + timedelta(days=n)) for n in (1, 2, 3))]
        assert [day_end(due, n, zone) for n in range(4)] == ends
        for at in [*ends, *(end + 1 for end in ends[:3]), *(draw.uniform(due - 9e3, ends[3]) for _ in range(5))]:
            assert days_late(at, due, zone) == next(n for n in range(4) if at <= ends[n])


def test_a_late_day_has_23_or_25_hours_when_the_clock_changes():
    spring, autumn = instant("2027-03-27 23:55", ROME), instant("2027-10-30 23:55", ROME)
    assert day_end(spring, 1, ROME) - spring == 23 * 3600
    assert day_end(autumn, 1, ROME) - autumn == 25 * 3600
    assert days_late(autumn + 24.5 * 3600, autumn, ROME) == 1


@pytest.mark.parametrize(
    "text, words",
    [
        ("2027-03-28 02:30", "There is no 2027-03-28 02:30 in Europe/Rome"),
        ("2027-10-31 02:30", "comes twice in Europe/Rome"),
        ("2027-02-25", "is not a time"),
        ("tomorrow", "is not a time"),
        ("2027-02-30 10:00", "is not a time"),
    ],
)
def test_times_that_are_none_are_refused(text, words):
    with pytest.raises(CourseError, match=words):
        instant(text, ROME)


def test_times_are_read_as_they_are_written():
    for text in ("2027-02-25 23:55", "2027-10-31 02:30+01:00", "2027-10-31 02:30+02:00", "2027-07-01 09:00:30"):
        at = instant(text, ROME)
        assert instant_text(at, ROME).replace("+0", "+0") == text and instant(instant_text(at, ROME), ROME) == at
    assert instant("2027-10-31 02:30+01:00", ROME) - instant("2027-10-31 02:30+02:00", ROME) == 3600
    assert readable_instant(instant("2027-02-25 23:55", ROME), ROME) == "Thu 25 Feb 2027 23:55 CET"
    with pytest.raises(CourseError, match="no time zone 'Rome'"):
        zone_of("Rome")


def test_what_holds_at_the_dates_and_just_beside_them():
    dates = Dates(opens=100.0, due=200.0, closes=300.0, frozen=150.0, unveiled=400.0)
    for at, state in [(99.9, PLANNED), (100, OPEN), (200, OPEN), (200.1, LATE), (300, LATE), (300.1, CLOSED)]:
        assert dates.state(at) == state and dates.takes(at) == (state in (OPEN, LATE))
    assert [dates.is_frozen(at) for at in (149.9, 150, 399.9, 400)] == [False, True, True, False]
    assert Dates().state(0) == OPEN and Dates(due=5.0).state(6) == CLOSED and not Dates().is_frozen(9)
    assert Dates(frozen=1.0).is_frozen(1e9)


def test_an_extension_moves_the_end_by_clock_hours():
    due, closes = instant("2027-03-26 23:55", ROME), instant("2027-03-27 23:55", ROME)
    moved = Dates(due=due, closes=closes).with_extension(instant("2027-03-28 23:55", ROME), ROME)
    assert (
        instant_text(moved.due, ROME) == "2027-03-28 23:55" and instant_text(moved.closes, ROME) == "2027-03-29 23:55"
    )
    same = Dates(due=due, closes=closes)
    assert same.with_extension(None, ROME) is same and same.with_extension(due - 1, ROME) is same


@pytest.mark.parametrize(
    "dates, words",
    [
        (Dates(opens=2, due=1), "opens must be before due"),
        (Dates(due=2, closes=1), "due must be before closes"),
        (Dates(closes=1), "closes needs due"),
        (Dates(unveiled=1), "unveiled needs frozen"),
        (Dates(frozen=2, unveiled=2), "frozen must be before unveiled"),
    ],
)
def test_dates_in_the_wrong_order_are_told(dates, words):
    assert dates.problem() == words


def test_own_late_days_pay_first():
    assert (late_cost(0, 10, 5).spent, late_cost(0, 10, 5).factor) == (0, 1)
    assert (late_cost(3, 10, 2).spent, late_cost(3, 10, 2).factor) == (2, 0.9)
    assert late_cost(3, 50, 0).factor == 0 and late_cost(2, 25, 0).factor == 0.5
    assert Dates(due=1, closes=1).problem() is None
