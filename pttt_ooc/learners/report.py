"""The page *Comparison*: findings, a table and a figure of the exact gaps of several runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pttt_ooc.disk.files import atomic_write_bytes, atomic_write_text
from pttt_ooc.disk.numbers import duration
from pttt_ooc.errors import StoreError
from pttt_ooc.learners.findings import Runs, brief, findings_of, half_gap
from pttt_ooc.learners.loop import Row
from pttt_ooc.learners.runs import read_run
from pttt_ooc.pipeline.show.pages import render_page
from pttt_ooc.pipeline.show.pictures import PALETTE, figure_bytes

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
                "gaps": {seconds: "–" if gap is None else f"{gap:.2e}" for seconds, gap in gaps.items()},
                "last": f"{last['nashconv'] / 2:.2e}",
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
