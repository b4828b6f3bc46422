"""The convergence curve of a run, with a mark for each snapshot: SVG elements, both axes logarithmic.

Elements have classes, as the page's policy allows no inline styles and colours follow its scheme.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pttt_ooc.disk.numbers import gap
from pttt_ooc.site.explore.address import Address
from pttt_ooc.site.explore.sources import Snapshot, Source

WIDE, NARROW = (640.0, 160.0), (344.0, 170.0)
"""Widths and heights: a phone gets its own curve, so that letters keep their size."""

_LETTER = 7.6  # the largest width of a digit in a label
_TOP, _BOTTOM, _RIGHT = 14.0, 26.0, 18.0


@dataclass(frozen=True)
class Tick:
    """A line across the picture, with its label."""

    at: float
    label: str


@dataclass(frozen=True)
class Mark:
    """A snapshot on the curve.

    Attributes
    ----------
    x, y
        Its position.
    iteration, gap
        See :class:`~pttt_ooc.site.explore.sources.Snapshot`; the gap as text.
    address
        The page of the snapshot.
    chosen
        Whether the page shows it now.
    """

    x: float
    y: float
    iteration: int
    gap: str
    address: Address
    chosen: bool


@dataclass(frozen=True)
class Curve:
    """A picture in a box of `width` by `height`, its inside between `left` and `right`, `top` and `bottom`."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    path: str
    marks: Sequence[Mark]
    across: Sequence[Tick]
    along: Sequence[Tick]


@dataclass(frozen=True)
class Run:
    """The run that a strategy comes from, as a page shows it.

    Attributes
    ----------
    label
        The label of the source.
    curves
        The curves in the sizes :data:`WIDE` and :data:`NARROW`.
    chosen
        The position of the shown snapshot among the marks.
    """

    label: str
    curves: tuple[Curve, Curve]
    chosen: int

    @property
    def marks(self) -> Sequence[Mark]:
        """All snapshots, the earliest first."""
        return self.curves[0].marks


def run_of(sources: Sequence[Source], address: Address) -> Run | None:
    """The run of the first strategy with snapshots; None if there is none.

    The last snapshot is the strategy itself: its address has no iteration.
    """
    for source in sources:
        if source.snapshots and (address.iteration is None or source.has(address.iteration)):
            iterations = [one.iteration for one in source.snapshots]
            chosen = len(iterations) - 1 if address.iteration is None else iterations.index(address.iteration)
            wide, narrow = (_curve(source, address, chosen, *box) for box in (WIDE, NARROW))
            return Run(source.label, (wide, narrow), chosen)
    return None


def _curve(source: Source, address: Address, chosen: int, width: float, height: float) -> Curve:
    points = [(t, g) for t, g in source.curve if t > 0 and g > 0]
    points = points or [(one.iteration, 1.0) for one in source.snapshots]  # a gap of 0 has no logarithm
    least = min(g for _, g in points)
    last = source.snapshots[-1].iteration
    low, high = _axis_ends(least, max(g for _, g in points))
    levels = [(v, _label(v)) for v in _levels(low, high)]
    left = 12 + _LETTER * max(len(label) for _, label in levels)
    right, bottom, span = width - _RIGHT, height - _BOTTOM, math.log10(max(last, 2))

    def x(iteration: int) -> float:
        return round(left + 8 + (right - left - 8) * math.log10(iteration) / span, 1)

    def y(level: float) -> float:
        share = (high - math.log10(max(level, least))) / (high - low)
        return round(_TOP + (bottom - _TOP) * share, 1)

    def mark(number: int, one: Snapshot) -> Mark:
        target = address.to(iteration=None if number + 1 == len(source.snapshots) else one.iteration)
        return Mark(x(one.iteration), y(one.gap), one.iteration, gap(one.gap), target, number == chosen)

    path = "M" + "L".join(f"{x(t)} {y(g)}" for t, g in points)
    marks = [mark(number, one) for number, one in enumerate(source.snapshots)]
    across = [Tick(y(v), label) for v, label in levels]
    along = [Tick(x(t), str(t)) for t in _round_iterations(last)]
    return Curve(width, height, round(left, 1), right, _TOP, bottom, path, marks, across, along)


def _axis_ends(least: float, most: float) -> tuple[float, float]:
    """Logarithms of the ends of an axis that includes two levels."""
    low, high = math.log10(least), math.log10(most)
    margin = max(0.08 * (high - low), 0.1)
    return low - margin, high + margin


def _levels(low: float, high: float) -> list[float]:
    """Round levels between two powers of ten; at least one."""
    factors = (1.0,) if high - low > 2 else (1.0, 2.0, 5.0)
    levels = [f * 10.0**e for e in range(math.floor(low), math.ceil(high) + 1) for f in factors]
    inside = [v for v in levels if low <= math.log10(v) <= high]
    return inside or [10 ** ((low + high) / 2)]


def _label(level: float) -> str:
    return f"{level:.1g}".replace("e-0", "e-")


def _round_iterations(last: int) -> list[int]:
    """Powers of ten up to an iteration; if they are few, also their halves and fifths."""
    factors = (1,) if last >= 1000 else (1, 2, 5)
    powers = range(len(str(last)))
    return [f * 10**e for e in powers for f in factors if f * 10**e <= last]
