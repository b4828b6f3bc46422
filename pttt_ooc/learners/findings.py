"""Sentences about the runs of a comparison; computed from their rows, for any game and any runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pttt_ooc.disk.numbers import join_words
from pttt_ooc.learners.loop import Row

Runs = Mapping[str, tuple[dict[str, Any], list[Row]]]
"""Manifest and rows of each run, by its name."""
SHORT = 1.0  # seconds; no power of time is fitted to a shorter run
STEEP = 4.0  # a gap that falls faster than time to the power of minus this has ended; no power of time describes it
STILL = 0.1  # a gap that falls more slowly than time to the power of minus this counts as constant


def brief(seconds: float) -> str:
    """Seconds as text: a whole number, or two digits if less than ten."""
    return f"{seconds:.0f}" if seconds >= 9.5 else f"{seconds:.2g}"


def half_gap(rows: Sequence[Row], axis: str, most: float) -> float | None:
    """Half of NashConv at the last evaluation with `axis` at most `most`; None if there was none."""
    before = [row["nashconv"] for row in rows if row[axis] <= most]
    return before[-1] / 2 if before else None


def exponent(rows: Sequence[Row]) -> float | None:
    """The power of time with which the gap falls in the last three quarters of the run, by least squares.

    None if there are fewer than three evaluations, or the run was shorter than :data:`SHORT`.
    """
    end = rows[-1]["seconds"]
    if end < SHORT:
        return None
    late = [row for row in rows if row["seconds"] >= end / 4 and row["seconds"] > 0 and row["nashconv"] > 0]
    if len(late) < 3:
        return None
    x, y = ([math.log(row[key]) for row in late] for key in ("seconds", "nashconv"))
    middle = sum(x) / len(x)
    spread = sum((a - middle) ** 2 for a in x)
    return sum((a - middle) * b for a, b in zip(x, y, strict=True)) / spread if spread else None


def _ranking(runs: Runs, axis: str, most: float) -> str:
    """Runs with their gaps, the lowest first."""
    gaps = {name: half_gap(rows, axis, most) for name, (_, rows) in runs.items()}
    found = sorted((gap, name) for name, gap in gaps.items() if gap is not None)
    return ", ".join(f"{name} {gap:.2g}" for gap, name in found)


def findings_of(runs: Runs, uniform: float) -> list[str]:
    """Sentences about runs of one game.

    Parameters
    ----------
    runs
        At least one; each has been evaluated.
    uniform
        Half of NashConv of uniform play.
    """
    lasts = {name: rows[-1] for name, (_, rows) in runs.items()}
    gap, best = min((row["nashconv"] / 2, name) for name, row in lasts.items())
    found = [f"The lowest gap at the end is {gap:.2g}, by {best} after {brief(lasts[best]['seconds'])} seconds."]
    worse = [name for name, row in lasts.items() if row["nashconv"] / 2 >= uniform]
    if worse:
        found.append(f"No better than uniform play ({uniform:.3f}) at the end: {join_words(worse)}.")
    else:
        found.append(f"All runs end below uniform play ({uniform:.3f}).")
    if len(runs) > 1:
        shortest = min(row["seconds"] for row in lasts.values())
        found.append(
            f"At {brief(shortest)} seconds, when all were still running: {_ranking(runs, 'seconds', shortest)}."
        )
        fewest = min(row["states"] for row in lasts.values())
        found.append(
            f"By {fewest:.2g} touched states, the fewest that a run ended with: {_ranking(runs, 'states', fewest)}. "
            "Runs that are not named had not been evaluated by then."
        )
    return [*found, *_slopes(runs), *_averages(lasts), _value(runs)]


def _slopes(runs: Runs) -> list[str]:
    """Which gaps still fall, and which are constant."""
    slopes = {name: exponent(rows) for name, (_, rows) in runs.items()}
    sorted_slopes = sorted((slope, name) for name, slope in slopes.items() if slope is not None)
    steep = [name for slope, name in sorted_slopes if slope < -STEEP]
    falling = [f"{name} {slope:.1f}" for slope, name in sorted_slopes if -STEEP <= slope <= -STILL]
    still = [name for slope, name in sorted_slopes if slope > -STILL]
    found = []
    if steep:
        found.append(f"The gap fell at once to its last value: {join_words(steep)}.")
    if falling:
        found.append(
            "In the last three quarters of a run, its gap is proportional to time to the power of: "
            f"{', '.join(falling)}."
        )
    if still:
        found.append(f"The gap hardly falls any more: {join_words(still)}.")
    return found


def _averages(lasts: Mapping[str, Row]) -> list[str]:
    """The gaps of averages and of last iterates."""
    both = {name: row for name, row in lasts.items() if "last_nashconv" in row}
    if not both:
        return []
    parts = [f"{name} {row['nashconv'] / 2:.2g} against {row['last_nashconv'] / 2:.2g}" for name, row in both.items()]
    return [f"The average against the last iterate: {', '.join(parts)}."]


def _value(runs: Runs) -> str:
    """Bounds of the value: the best response to any strategy gives one."""
    rows = [row for _, rows in runs.values() for row in rows]
    upper, above = min((row["best_response_0"], name) for name, (_, rows) in runs.items() for row in rows)
    lower = max(-row["best_response_1"] for row in rows)
    below = next(name for name, (_, rows) in runs.items() for row in rows if -row["best_response_1"] == lower)
    return (
        f"The value of the game is between {lower:.5f}, which player 0's strategy of {below} gets against everybody, "
        f"and {upper:.5f}, the most that anybody gets against player 1's of {above}."
    )
