"""Filters of all templates: times, sentences with code, query strings."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup


def utc(seconds: float | None) -> str:
    """A time for people, in UTC; the page's script converts it to local time."""
    return "" if seconds is None else f"{_date(seconds):%d %b %Y %H:%M:%S} UTC"


def iso(seconds: float | None) -> str:
    """A time for machines."""
    return "" if seconds is None else f"{_date(seconds):%Y-%m-%dT%H:%M:%SZ}"


def _date(seconds: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC)


def code(sentence: str) -> Markup:
    """A sentence in which what stands between backticks is code.

    Examples
    --------
    >>> code("`pttt solve` makes <one>.")
    Markup('<code>pttt solve</code> makes &lt;one&gt;.')
    """
    wraps = (Markup("{}"), Markup("<code>{}</code>"))
    return Markup().join(wraps[nth % 2].format(part) for nth, part in enumerate(sentence.split("`")))


def curve_path(values: Sequence[float], width: int = 1000, height: int = 200) -> str:
    """The curve of values from 0 to 1 in a picture of `width` by `height`, for the macro `chart`."""
    across = width / max(1, len(values) - 1)
    points = [f"{round(index * across, 1)} {round((1 - one) * height, 1)}" for index, one in enumerate(values)]
    return "M" + "L".join(points)


def query(**keys: Any) -> str:
    """The query string of an address; empty without keys."""
    present = {key: value for key, value in keys.items() if value is not None}
    return f"?{urlencode(present)}" if present else ""
