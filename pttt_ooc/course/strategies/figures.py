"""Numbers and pictures of the pages, ready for the templates.

Pictures are SVG elements with classes: the page's policy allows no inline styles, and colours follow its scheme.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pttt_ooc.course.data.models import Submission
from pttt_ooc.disk import numbers
from pttt_ooc.disk.numbers import NOISE, decimals, interval


def opacity(probability: float, most: float) -> str:
    """Opacity of a square's colour; the likeliest square has 0.75, as in the report."""
    return f"{0.75 * probability / most:.3f}" if most > 0 else "0"


# ---------------------------------------------------------------------------------------------
# The value of the game, with the digits that are known
_MOST_DECIMALS = 8  # of a figure on the leaderboard
_EXACT = 1e-9  # an interval as narrow as this is a number: best responses are computed in double precision


def known_value(bounds: Sequence[float]) -> str:
    """The value in words: "is −1", or "lies in [0.5501, 0.5503]" with two digits of the interval's width."""
    low, high = bounds
    if high - low < _EXACT:
        number = decimals((low + high) / 2, 9).rstrip("0").rstrip(".")
        return f"is {number}" if low == high else f"is {number} to nine decimals"
    return f"lies in {interval(bounds, 1 + math.ceil(-math.log10(high - low)))}"


def uncertainty(bounds: Sequence[float]) -> str:
    """Half the interval's width, rounded up to one digit: the error bound of a figure; empty if it is a number."""
    half = (bounds[1] - bounds[0]) / 2
    if 2 * half < _EXACT:
        return ""
    unit = 10.0 ** math.floor(math.log10(half))
    return f"{math.ceil(round(half / unit, 6)) * unit:.1g}".replace("e-0", "e-")


def exploitability(figure: float | None, bounds: Sequence[float] | None = None, digits: int = 5) -> str:
    """A figure with as many decimals as are known.

    Parameters
    ----------
    bounds
        The interval of the game's value; None if there is none yet.
    """
    half = (bounds[1] - bounds[0]) / 2 if bounds else 0.0
    return numbers.exploitability(figure, digits, half if 2 * half >= _EXACT else 0.0)


def exploitability_with_error(figure: float, bounds: Sequence[float] | None) -> str:
    """A figure with seven decimals, or with as many as are known and its error bound."""
    half = (bounds[1] - bounds[0]) / 2 if bounds else 0.0
    if bounds is None or half < 5e-8:
        return exploitability(figure, bounds, 7)
    return f"{exploitability(figure, bounds, max(1, min(7, math.ceil(-math.log10(half)))))} ± {uncertainty(bounds)}"


def column_of(figures: Mapping[int, float], ranks: Mapping[int, int], bounds: Sequence[float] | None) -> dict[int, str]:
    """A column of the leaderboard: each team's figure, with more decimals where different ranks would look alike.

    Parameters
    ----------
    figures, ranks
        By the numbers of teams.
    """
    texts: dict[int, str] = {}
    again = set(figures)
    for digits in range(5, _MOST_DECIMALS + 1):
        texts |= {team: exploitability(figures[team], bounds, digits) for team in again}
        ranked = defaultdict(set)
        for team, text in texts.items():
            ranked[text].add(ranks[team])
        again = {team for team, text in texts.items() if len(ranked[text]) > 1}
    return texts


# ---------------------------------------------------------------------------------------------
# The scale of a verdict


@dataclass(frozen=True)
class Mark:
    """A place on the scale, in percent of its width, and how a label there is anchored."""

    at: float
    anchor: str


@dataclass(frozen=True)
class Scale:
    """An exploitability between perfect play, at the left end, and uniform play.

    Attributes
    ----------
    own, uniform, ahead
        This strategy, uniform play, and the next better team's best; None: there is none.
    """

    own: Mark
    uniform: Mark | None
    ahead: Mark | None


def scale(own: float, uniform: float | None, ahead: float | None) -> Scale:
    """The scale of an exploitability; it ends at the largest of the figures.

    Parameters
    ----------
    own, uniform, ahead
        See :class:`Scale`.
    """
    longest = max(own, uniform or 0.0, NOISE)

    def mark(figure: float) -> Mark:
        share = max(figure, 0.0) / longest
        anchor = "start" if share < _NEAR else "end" if share > 1 - _NEAR else "middle"
        return Mark(round(_MARGIN + (100 - 2 * _MARGIN) * share, 2), anchor)

    return Scale(mark(own), None if uniform is None else mark(uniform), None if ahead is None else mark(ahead))


_MARGIN = 2.0  # percent of the scale's width at both ends
_NEAR = 0.25  # of the scale: a label nearer to an end than this stays inside

# ---------------------------------------------------------------------------------------------
# The history of a team's best


@dataclass(frozen=True)
class Tick:
    """A line across the chart, with its figure beside it."""

    at: float
    label: str


@dataclass(frozen=True)
class Line:
    """One player's steps: an SVG path, its points, and a summary for screen readers."""

    player: int
    path: str
    points: Sequence[tuple[float, float]]
    spoken: str


@dataclass(frozen=True)
class Chart:
    """A chart in a box of `width` by `height`, its inside beginning at `left` and ending above `bottom`.

    It spans the time from `begin` to `end`, seconds since 1970.
    """

    width: float
    height: float
    left: float
    bottom: float
    begin: float
    end: float
    lines: Sequence[Line]
    across: Sequence[Tick]


WIDE, NARROW = (640.0, 240.0), (344.0, 220.0)
"""Widths and heights of charts: a phone gets a chart of its own, so that letters keep their size."""

_MOST_LEVELS = 6  # decades of a chart that have a level each
_LETTER = 7.6  # width of a digit in a label, at most
_FLOOR = NOISE  # end of the logarithmic scale: less counts as zero


def charts(history: Sequence[Submission], now: float) -> tuple[Chart, Chart] | None:
    """The :data:`WIDE` and the :data:`NARROW` chart of a team's best; None without a history."""
    rows = sorted((s for s in history if s.exploitability is not None and s.finished_at), key=lambda s: s.id)
    return (_chart(rows, now, *WIDE), _chart(rows, now, *NARROW)) if rows else None


def _chart(rows: Sequence[Submission], now: float, width: float, height: float) -> Chart:
    """The team's best exploitability over time, logarithmic, a line for each player."""
    figures = [max(s.exploitability or 0.0, _FLOOR) for s in rows]
    low, high = math.log10(min(figures)), math.log10(max(figures))
    margin = max(0.08 * (high - low), 0.1)
    low, high = low - margin, high + margin
    if min(figures) <= _FLOOR:  # the scale ends there, and has at least a decade above
        low, high = math.log10(_FLOOR), max(high, math.log10(_FLOOR) + 1.1)
    levels = [(v, _label(v)) for v in _levels(low, high)]
    left, right = 16 + _LETTER * max(len(label) for _, label in levels), width - 14
    top, bottom = 12.0, height - 12
    begin, end = min(s.finished_at or now for s in rows), max(now, max(s.finished_at or now for s in rows))
    span = max(end - begin, 1.0)

    def x(seconds: float) -> float:
        return round(left + 6 + (right - left - 6) * (seconds - begin) / span, 1)

    def y(figure: float) -> float:
        return round(top + (bottom - top) * (high - math.log10(max(figure, _FLOOR))) / (high - low), 1)

    lines = []
    for player in (0, 1):
        mine = [s for s in rows if s.player == player]
        if not mine:
            continue
        points = [(x(s.finished_at or now), y(s.exploitability or 0.0)) for s in mine]
        path = f"M{points[0][0]} {points[0][1]}" + "".join(f"H{a}V{b}" for a, b in points[1:]) + f"H{x(end)}"
        first, last = exploitability(mine[0].exploitability), exploitability(mine[-1].exploitability)
        spoken = first if len(mine) == 1 else f"from {first} to {last} in {len(mine)} steps"
        lines.append(Line(player, path, points, f"Player {player}: {spoken}."))
    across = [Tick(y(v), label) for v, label in levels]
    return Chart(width, height, round(left, 1), bottom, begin, end, lines, across)


def _label(level: float) -> str:
    """The label of a level."""
    if level <= 1.01 * _FLOOR:
        return f"≤{_FLOOR:.0e}".replace("e-0", "e-")
    return f"{level:.6g}".replace("e-0", "e-")


def _levels(low: float, high: float) -> list[float]:
    """Round figures between two powers of ten."""
    factors = (1.0,) if high - low > 2.5 else (1.0, 2.0, 5.0)
    step = math.ceil((high - low) / _MOST_LEVELS)
    exponents = range(math.floor(low / step) * step, math.ceil(high) + 1, step)
    levels = [f * 10.0**e for e in exponents for f in factors]
    inside = [v for v in levels if low - 1e-9 <= math.log10(v) <= high]
    if len(inside) >= 2:
        return inside
    middle = 10 ** ((low + high) / 2)
    return [float(f"{v:.2g}") for v in (10 ** (low + 0.2 * (high - low)), middle, 10 ** (low + 0.8 * (high - low)))]
