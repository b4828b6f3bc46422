"""The page *Comparison*: sentences, a table and a figure of the exact gaps of several runs.

The sentences are computed from the rows, for any game and any runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pttt_ooc.disk.files import atomic_write_bytes, atomic_write_text
from pttt_ooc.disk.numbers import duration, gap, join_words
from pttt_ooc.errors import StoreError
from pttt_ooc.learners.loop import Row
from pttt_ooc.learners.runs import read_run
from pttt_ooc.pipeline.show.pages import render_page
from pttt_ooc.pipeline.show.pictures import PALETTE, figure_bytes

Runs = Mapping[str, tuple[dict[str, Any], list[Row]]]
"""Manifest and rows of each run, by its name."""
SHORT = 1.0  # seconds; no power of time is fitted to a shorter run
STEEP = 4.0  # a gap that falls faster than time to the power of minus this drops to its end; no power fits it
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
    found = sorted((half, name) for name, half in gaps.items() if half is not None)
    return ", ".join(f"{name} {gap(half)}" for half, name in found)


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
    lowest, best = min((row["nashconv"] / 2, name) for name, row in lasts.items())
    found = [
        f"The lowest mean exploitability at the end is {gap(lowest)}, by {best} after "
        f"{brief(lasts[best]['seconds'])} seconds."
    ]
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
    parts = [f"{name} {gap(row['nashconv'] / 2)} against {gap(row['last_nashconv'] / 2)}" for name, row in both.items()]
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


AXES = {"seconds": "seconds of the processor", "iteration": "iterations", "states": "touched states"}
TIMES = (1, 10, 60, 600, 3600)  # seconds at which the table shows the gap, if a run was that long
_COLOURS = ("accent", "warm", "muted", "shade", "ink")
_STYLES = ("-", "--", ":", "-.")
LOWEST = 1e-6  # the lower end of the figure; the gap of an exact equilibrium is below it
FIGURE = "comparison.svg"
PAGE = "comparison.html"


def half_gap_at(rows: Sequence[Row], seconds: float) -> float | None:
    """Half of NashConv at the last evaluation by that time; None if the run ended much earlier, or began later.

    A run counts as long enough if it reached nine tenths of the time.
    """
    if not rows or rows[-1]["seconds"] < 0.9 * seconds:
        return None
    return half_gap(rows, "seconds", 1.02 * seconds)


def times_of(runs: Runs) -> list[int]:
    """The last three of :data:`TIMES` at which a run has a gap; none if all runs ended earlier."""
    times = [t for t in TIMES if any(half_gap_at(rows, t) is not None for _, rows in runs.values())]
    return times[-3:]


def table_of(runs: Runs) -> list[dict[str, Any]]:
    """A row of the table for each run, by names; numbers as text."""
    found = []
    for name, (manifest, rows) in runs.items():
        last = rows[-1]
        gaps = {seconds: half_gap_at(rows, seconds) for seconds in times_of(runs)}
        found.append(
            {
                "name": name,
                "algorithm": manifest["algorithm"],
                "source": manifest["source"],
                "settings": ", ".join(f"{key} {value}" for key, value in manifest["settings"].items()),
                "gaps": {seconds: "–" if half is None else gap(half) for seconds, half in gaps.items()},
                "last": gap(last["nashconv"] / 2),
                "seconds": brief(last["seconds"]),
                "iterations": f"{last['iteration']:,}",
                "states": f"{last['states']:.2e}",
                "gradients": f"{last['gradients']:,}",
                "value": f"{last['value']:+.5f}",
            }
        )
    return found


def figure_of(runs: Runs, uniform: float) -> Any:
    """Half of NashConv by time, iterations and touched states, log-log.

    Parameters
    ----------
    uniform
        Half of NashConv of uniform play, for a dashed line.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.6, 4.0 + 0.16 * math.ceil(len(runs) / 4)), dpi=150)
    for k, (x, label) in enumerate(AXES.items()):
        axes = figure.add_subplot(1, 3, k + 1)
        for i, (name, (_, rows)) in enumerate(runs.items()):
            points = [(row[x], row["nashconv"] / 2) for row in rows if row[x] > 0 and row["nashconv"] > 0]
            colour, style = PALETTE[_COLOURS[i % len(_COLOURS)]], _STYLES[i // len(_COLOURS) % len(_STYLES)]
            width = 1.2 * (1 + i // (len(_COLOURS) * len(_STYLES)))
            ends = tuple(zip(*points, strict=True)) or ((), ())
            axes.plot(*ends, color=colour, linestyle=style, linewidth=width, label=name)
        axes.axhline(uniform, color=PALETTE["line"], linewidth=1, linestyle=(0, (4, 3)))
        axes.set(xscale="log", yscale="log", xlabel=label)
        axes.set_ylim(bottom=max(axes.get_ylim()[0], LOWEST))
        axes.grid(True, color=PALETTE["line"], linewidth=0.5)
    figure.axes[0].set_ylabel("NashConv / 2")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=4, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0.05 + 0.04 * math.ceil(len(runs) / 4), 1, 1))
    return figure


def compare(directories: Sequence[Path], into: Path) -> None:
    """Write the page and its figure.

    Parameters
    ----------
    directories
        Of finished runs, in the order of the table.
    into
        An existing directory.

    Raises
    ------
    StoreError
        If there is no run, one is unfinished, or the runs are of different games.
    """
    runs = {}
    for directory in directories:
        manifest, rows = read_run(directory)
        runs[manifest["name"]] = (manifest, rows)
    games = sorted({manifest["game"] for manifest, _ in runs.values()})
    if len(games) != 1:
        runs_of = f"runs of {' and '.join(games)}" if games else "no run"
        raise StoreError(f"A comparison is of one game, but there are {runs_of}; name runs of one game.")
    uniform = next(manifest["uniform_nashconv"] for manifest, _ in runs.values()) / 2
    figure = figure_bytes(figure_of(runs, uniform), "svg")
    page = render_page(
        "comparison.html.j2",
        "learners",
        game=games[0],
        findings=findings_of(runs, uniform),
        rows=table_of(runs),
        times={seconds: duration(seconds) for seconds in times_of(runs)},
        uniform=uniform,
        figure=FIGURE,
    )
    atomic_write_bytes(into / FIGURE, figure)
    atomic_write_text(into / PAGE, page)
