"""Stage "report" of the wing: one page about a run, with the proven interval over time."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from pttt_ooc.disk.files import atomic_write_bytes, atomic_write_text
from pttt_ooc.exact.double_oracle.oracle import EXACT
from pttt_ooc.games.rules.catalogue import EXACT_VALUES, named_game
from pttt_ooc.pipeline.frontier.needs import size_sentence
from pttt_ooc.pipeline.frontier.pipeline import PAGE, PICTURE, sources
from pttt_ooc.pipeline.show.pages import render_page
from pttt_ooc.pipeline.show.pictures import (
    LABEL,
    PALETTE,
    figure_bytes,
    inline_svg,
    log_ticks,
    new_figure,
    opening_board,
    style,
)
from pttt_ooc.pipeline.stages.directories import EQUILIBRIUM
from pttt_ooc.pipeline.stages.pictured import PlannedPictures, openings_of
from pttt_ooc.pipeline.stages.saved_rounds import ROUNDS
from pttt_ooc.pipeline.stages.stage_context import contents, digests, inputs, stage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = Mapping[str, Any]
_LEAST_SECONDS = 1e-2  # earlier rounds are drawn there
_MOST_ROWS = 24  # lines of the table
_LEAST_WIDTH = 1e-13  # a narrower interval is drawn as this one: it is rounding


def run(directory: Path) -> None:
    """Write the page and its picture from the rows of the rounds.

    Raises
    ------
    StoreError
        If the rounds are missing or were changed, or a file cannot be written.
    """
    with stage("report", directory, [PAGE, PICTURE], sources) as facts:
        before = inputs(directory, "solve")
        facts.update(made_from=digests(before))
        rows = [json.loads(line) for line in (directory / ROUNDS).read_text(encoding="utf-8").splitlines()]
        name = before["solve"]["settings"]["game"]
        game = named_game(name)
        openings = openings_of(PlannedPictures(game, directory / EQUILIBRIUM), game)
        atomic_write_bytes(directory / PICTURE, figure_bytes(interval_figure({"": rows}), "svg"))
        labels = (
            f"The proven interval of {name} over seconds",
            f"The width of the proven interval of {name} over seconds",
        )
        context = {
            "game": game,
            "proven": EXACT_VALUES.get(name),
            "boards": [opening_board(game, one.player, one.probabilities) for one in openings],
            "settings": before["solve"]["settings"],
            "result": before["solve"]["result"],
            "is_exact": before["solve"]["result"]["nashconv"] <= EXACT,
            "size": size_sentence(game),
            "rows": told_rows(rows),
            "count": len(rows),
            "parts": [sum(row[part] for row in rows) for part in ("restricted_seconds", "response_seconds")],
            "pictures": [inline_svg(*shown) for shown in zip(panels(rows), ("interval", "width"), labels, strict=True)],
            "yaml": yaml.safe_dump({"frontier": before["solve"]["settings"]}, sort_keys=False),
            "digests": contents(before),
        }
        atomic_write_text(directory / PAGE, render_page("frontier_report.html.j2", "pipeline.frontier", **context))


def told_rows(rows: Sequence[Row], most: int = _MOST_ROWS) -> list[Row]:
    """The rounds that a table shows: those in which the interval has become narrower by a third, and the last one."""
    found: list[Row] = []
    for row in rows:
        if not found or width_of(row) < width_of(found[-1]) * 2 / 3:
            found.append(row)
    if rows and found[-1] is not rows[-1]:
        found.append(rows[-1])
    return found if len(found) <= most else [*found[: most // 2], *found[-(most - most // 2) :]]


def width_of(row: Row) -> float:
    """The width of a round's proven interval, at least that of rounding."""
    return max(float(row["value_upper"]) - float(row["value_lower"]), _LEAST_WIDTH)


def interval_figure(curves: Mapping[str, Sequence[Row]]) -> Figure:
    """The proven interval over seconds, and its width beside it; one curve for each name.

    Parameters
    ----------
    curves
        Rows with ``seconds``, ``value_lower`` and ``value_upper``, by the names of runs; a single one may be nameless.
    """
    return _figure(curves, (_draw_interval, _draw_width), 8.4)


def panels(rows: Sequence[Row]) -> list[Figure]:
    """The same for one run as two figures, which a narrow page shows one below the other."""
    return [_figure({"": rows}, (draw,), 3.7) for draw in (_draw_interval, _draw_width)]


def _figure(
    curves: Mapping[str, Sequence[Row]], draws: Sequence[Callable[[Any, Any, Any], None]], inches: float
) -> Figure:
    with style():
        figure = new_figure(inches, 3.1 + 0.16 * len(curves))
        times = [second for rows in curves.values() for second in _seconds(rows)]
        for number, draw in enumerate(draws, 1):
            axes = figure.add_subplot(1, len(draws), number)
            for (name, rows), colour in zip(curves.items(), ("accent", "warm", "ink", "shade", "muted"), strict=False):
                draw(axes, rows, {"color": PALETTE[colour], "label": name or None})
            axes.set_xscale("log")
            log_ticks(axes.xaxis, max(times) / min(times))
            axes.set_xlabel("seconds", fontsize=LABEL)
            axes.tick_params(labelsize=LABEL)
            axes.grid(True)
        if any(curves):
            figure.axes[0].legend(
                loc="upper left", bbox_to_anchor=(0, -0.2), fontsize=LABEL, frameon=False, ncols=2, borderaxespad=0
            )
        figure.tight_layout(pad=0.5)
        return figure


def _draw_interval(axes: Any, rows: Sequence[Row], line: dict[str, Any]) -> None:
    low, high = ([row[end] for row in rows] for end in ("value_lower", "value_upper"))
    axes.fill_between(_seconds(rows), low, high, step="post", color=line["color"], alpha=0.25, linewidth=0)
    axes.step(_seconds(rows), low, where="post", linewidth=1.2, **line)
    axes.step(_seconds(rows), high, where="post", linewidth=1.2, color=line["color"])
    axes.set_title("the value is in", fontsize=LABEL, loc="left", color=PALETTE["muted"])


def _draw_width(axes: Any, rows: Sequence[Row], line: dict[str, Any]) -> None:
    axes.step(_seconds(rows), [width_of(row) for row in rows], where="post", linewidth=1.6, color=line["color"])
    axes.set_title("width of this interval", fontsize=LABEL, loc="left", color=PALETTE["muted"])
    axes.set_yscale("log")


def _seconds(rows: Sequence[Row]) -> list[float]:
    return [max(row["seconds"], _LEAST_SECONDS) for row in rows]
