"""Filters that all templates have: times and ends of addresses."""

from __future__ import annotations

import datetime
from typing import Any
from urllib.parse import urlencode


def utc(seconds: float | None) -> str:
    """A time for people; the page's script turns it into their own."""
    return "" if seconds is None else f"{_date(seconds):%d %b %Y %H:%M:%S} UTC"


def iso(seconds: float | None) -> str:
    """A time for machines."""
    return "" if seconds is None else f"{_date(seconds):%Y-%m-%dT%H:%M:%SZ}"


def _date(seconds: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC)


def query(**keys: Any) -> str:
    """The end of an address, of the keys that are given; empty without one."""
    given = {key: value for key, value in keys.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""
