"""Small pictures for pages, as plain paths of SVG: boards, values, results, a curve.  No numerics are needed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pttt_ooc.disk.numbers import decimals

CELL = 10
"""Width and height of a square in a picture."""

_LARGEST = 0.75  # opacity of the likeliest square, as in the report
_ROW, _BAR, _LENGTH = 10, 7, 60  # of a picture of results: height of a row, of its bar, and its length
_CURVE = (60, 20)  # width and height of a curve


@dataclass(frozen=True)
class Shape:
    """A path.

    Attributes
    ----------
    kind
        Its class: ``shade`` and ``other`` are filled, by `opacity`; ``lines``, ``x``, ``o`` and ``curve`` are drawn.
    path
        The attribute ``d``.
    """

    kind: str
    path: str
    opacity: float = 1.0


@dataclass(frozen=True)
class Miniature:
    """A picture.

    Attributes
    ----------
    label
        What it shows, in words.
    """

    label: str
    width: float
    height: float
    shapes: tuple[Shape, ...]


def _rectangle(x: float, y: float, width: float, height: float) -> str:
    return f"M{x:g} {y:g}h{width:g}v{height:g}H{x:g}z"


def _lines(rows: int, columns: int, cell: float = CELL, x: float = 0, y: float = 0) -> Shape:
    down = "".join(f"M{x + cell * i:g} {y:g}v{cell * rows:g}" for i in range(columns + 1))
    across = "".join(f"M{x:g} {y + cell * i:g}h{cell * columns:g}" for i in range(rows + 1))
    return Shape("lines", down + across)


def shaded_board(rows: int, columns: int, probabilities: Sequence[float], label: str) -> Miniature:
    """A board whose squares are shaded by probabilities; the likeliest is darkest."""
    most = max(probabilities, default=0.0) or 1.0
    shapes = [
        Shape(
            "shade", _rectangle(CELL * (i % columns), CELL * (i // columns), CELL, CELL), round(_LARGEST * p / most, 3)
        )
        for i, p in enumerate(probabilities)
        if p > 0
    ]
    told = "; ".join(f"square {i} {decimals(p, 3)}" for i, p in enumerate(probabilities))
    return Miniature(f"{label}: {told}", CELL * columns, CELL * rows, (*shapes, _lines(rows, columns)))


def values_table(values: Sequence[Sequence[float]], label: str) -> Miniature:
    """A table of values: those above 0 in one colour, those below in the other; the largest is darkest."""
    largest = max((abs(one) for row in values for one in row), default=0.0) or 1.0
    shapes = [
        Shape(
            "shade" if one > 0 else "other",
            _rectangle(CELL * j, CELL * i, CELL, CELL),
            round(_LARGEST * abs(one) / largest, 3),
        )
        for i, row in enumerate(values)
        for j, one in enumerate(row)
    ]
    columns = len(values[0]) if values else 0
    return Miniature(label, CELL * columns, CELL * len(values), (*shapes, _lines(len(values), columns)))


def results_bars(results: Sequence[tuple[int, int, int]], label: str) -> Miniature:
    """A bar for each match: the share that was won, drawn (left empty) and lost."""
    shapes: list[Shape] = []
    for number, (won, drawn, lost) in enumerate(results):
        total, y = max(1, won + drawn + lost), _ROW * number
        at, end = _LENGTH * won / total, _LENGTH * lost / total
        shapes += [
            Shape("shade", _rectangle(0, y, round(at, 2), _BAR)),
            Shape("other", _rectangle(round(_LENGTH - end, 2), y, round(end, 2), _BAR)),
            Shape("lines", _rectangle(0, y, _LENGTH, _BAR)),
        ]
    return Miniature(label, _LENGTH, max(_BAR, _ROW * len(results) - _ROW + _BAR), tuple(shapes))


def nested_boards(boards: Iterable[tuple[Sequence[str], str]], label: str) -> Miniature:
    """Boards of boards, side by side.

    Parameters
    ----------
    boards
        For each, nine texts of nine marks (``x``, ``o`` or ``-``), one for each small board, and the nine owners.
    """
    small, step, shapes, left = 3, 10, list[Shape](), 0.0
    for marks, owners in boards:
        paths = {"x": "", "o": ""}
        for board, text in enumerate(marks):
            x, y = left + step * (board % 3), step * (board // 3)
            if owners[board] in paths:
                kind = "shade" if owners[board] == "x" else "other"
                shapes.append(Shape(kind, _rectangle(x, y, 3 * small, 3 * small), 0.6))
            shapes.append(_lines(3, 3, small, x, y))
            for cell, mark in enumerate(text):
                at = (x + small * (cell % 3), y + small * (cell // 3))
                if mark in paths:
                    paths[mark] += (_cross if mark == "x" else _ring)(*at, small)
        shapes += [Shape(mark, path) for mark, path in paths.items() if path]
        left += 3 * step + small
    return Miniature(label, max(left - small - 1, 1), 3 * step - 1, tuple(shapes))


def _cross(x: float, y: float, size: float) -> str:
    a, b = 0.25 * size, 0.5 * size
    return f"M{x + a:g} {y + a:g}l{b:g} {b:g}M{x + a + b:g} {y + a:g}l{-b:g} {b:g}"


def _ring(x: float, y: float, size: float) -> str:
    r = 0.28 * size
    return f"M{x + size / 2 - r:g} {y + size / 2:g}a{r:g} {r:g} 0 1 0 {2 * r:g} 0a{r:g} {r:g} 0 1 0 {-2 * r:g} 0"


def curve(values: Sequence[float], label: str, logarithmic: bool = False) -> Miniature | None:
    """A curve of values at equal steps, the smallest below; None with fewer than two values.

    Parameters
    ----------
    logarithmic
        Whether heights are logarithms; values that are not positive are left out.
    """
    found = [math.log10(one) for one in values if one > 0] if logarithmic else list(values)
    if len(found) < 2:
        return None
    width, height = _CURVE
    low, high = min(found), max(found)
    across, scale = (width - 2) / (len(found) - 1), (height - 4) / ((high - low) or 1.0)
    points = [f"{1 + across * i:.1f} {height - 2 - scale * (one - low):.1f}" for i, one in enumerate(found)]
    return Miniature(label, width, height, (Shape("curve", "M" + "L".join(points)),))
