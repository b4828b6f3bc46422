"""Numbers, times and pictures of the pages, ready for the templates.

Pictures are SVG elements with classes: the page's policy allows no inline styles, and colours follow its scheme.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass

from pttt_ooc.grader.models import Submission
from pttt_ooc.report import decimals

STEPS = 5
"""Shades on either side of the middle of the matrix's scale."""


def utc(seconds: float | None) -> str:
    """A time for people; the page's script turns it into their own."""
    return "" if seconds is None else f"{_date(seconds):%d %b %H:%M:%S} UTC"


def iso(seconds: float | None) -> str:
    """A time for machines."""
    return "" if seconds is None else f"{_date(seconds):%Y-%m-%dT%H:%M:%SZ}"


def _date(seconds: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC)


def size(count: int) -> str:
    """A number of bytes for people."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} bytes"


def shade(value: float, middle: float, extent: float) -> int:
    """Step of the colour scale, from -STEPS to STEPS, of a value that is at most `extent` from the middle."""
    if extent <= 0:
        return 0
    return max(-STEPS, min(STEPS, round((value - middle) / extent * STEPS)))


def opacity(probability: float, most: float) -> str:
    """Of a square's colour; the likeliest square has 0.75, as in the report."""
    return f"{0.75 * probability / most:.3f}" if most > 0 else "0"


# ---------------------------------------------------------------------------------------------
# How a team's best came down


@dataclass(frozen=True)
class Tick:
    """A line across the chart, or a mark below it."""

    at: float
    label: str


@dataclass(frozen=True)
class Line:
    """One player's steps: an SVG path, its points, and what they are (for those who hear the page)."""

    player: int
    path: str
    points: Sequence[tuple[float, float]]
    spoken: str


@dataclass(frozen=True)
class Chart:
    """A chart in a box of `width` by `height`, its inside beginning at `left` and ending above `bottom`."""

    width: float
    height: float
    left: float
    bottom: float
    lines: Sequence[Line]
    across: Sequence[Tick]
    below: Sequence[Tick]


def chart(history: Sequence[Submission], now: float, width: float = 640, height: float = 240) -> Chart | None:
    """The team's best exploitability over time, logarithmic, a line for each player; None without a history.

    Parameters
    ----------
    history
        Improvements of one team, in any order.
    """
    rows = sorted((s for s in history if s.exploitability is not None and s.finished_at), key=lambda s: s.id)
    if not rows:
        return None
    floor = 1e-6  # the value of the game is not known better: less is as good as zero
    figures = [max(s.exploitability or 0.0, floor) for s in rows]
    low, high = math.log10(min(figures)), math.log10(max(figures))
    margin = max(0.08 * (high - low), 0.1)
    low, high = low - margin, high + margin
    left, right, top, bottom = 76.0, width - 14, 12.0, height - 28
    begin, end = min(s.finished_at or now for s in rows), max(now, max(s.finished_at or now for s in rows))
    span = max(end - begin, 1.0)

    def x(seconds: float) -> float:
        return round(left + 6 + (right - left - 6) * (seconds - begin) / span, 1)

    def y(figure: float) -> float:
        return round(top + (bottom - top) * (high - math.log10(max(figure, floor))) / (high - low), 1)

    lines = []
    for player in (0, 1):
        mine = [s for s in rows if s.player == player]
        if not mine:
            continue
        points = [(x(s.finished_at or now), y(s.exploitability or 0.0)) for s in mine]
        path = f"M{points[0][0]} {points[0][1]}" + "".join(f"H{a}V{b}" for a, b in points[1:]) + f"H{x(end)}"
        spoken = ", ".join(f"{decimals(s.exploitability)} on {utc(s.finished_at)}" for s in mine)
        lines.append(Line(player, path, points, f"Player {player}: {spoken}."))
    across = [Tick(y(v), f"{v:.6g}") for v in _levels(low, high)]
    below = [Tick(x(begin), _short(begin, span))] + ([Tick(x(end), _short(end, span))] if end - begin > 1 else [])
    return Chart(width, height, left, bottom, lines, across, below)


def _levels(low: float, high: float) -> list[float]:
    """Round figures between two powers of ten."""
    factors = (1.0,) if high - low > 2.5 else (1.0, 2.0, 5.0)
    found = [f * 10.0**e for e in range(math.floor(low), math.ceil(high) + 1) for f in factors]
    inside = [v for v in found if low <= math.log10(v) <= high]
    if len(inside) >= 2:
        return inside
    middle = 10 ** ((low + high) / 2)
    return [float(f"{v:.2g}") for v in (10 ** (low + 0.2 * (high - low)), middle, 10 ** (low + 0.8 * (high - low)))]


def _short(seconds: float, span: float) -> str:
    return f"{_date(seconds):%d %b}" if span > 2 * 86400 else f"{_date(seconds):%d %b %H:%M} UTC"
