"""The report of the arena: claims in one table, series, times and trainings as figures, ratings with intervals."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pttt_ooc.disk.files import atomic_write_text
from pttt_ooc.other_games.arena.experiments.claims_table import columns, judge, single
from pttt_ooc.other_games.arena.experiments.significance import Mean, Units
from pttt_ooc.other_games.arena.experiments.trainings import share, stretches
from pttt_ooc.pipeline.show.pages import render_page
from pttt_ooc.pipeline.show.pictures import PALETTE, inline_svg, new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEMPLATE = "arena_report.html.j2"
_VARIED = re.compile(r"(\w+)=\{\}")
_COLOURS = ("accent", "warm", "muted", "ink")


def write(results: Sequence[Path], page: Path) -> None:
    """Write the page from the files of results: of experiments, of round robins and of trainings."""
    read = [json.loads(file.read_text(encoding="utf-8")) for file in results]
    robins = [one for one in read if "standings" in one]
    experiments = [one for one in read if "matches" in one]
    series = [one for one in experiments if one["values"] is not None and one["test"] != "trainings"]
    timed = [one for one in experiments if one["values"] is None and one["test"] == "none"]
    judged, trained = single(experiments), [one for one in read if "trainings" in one]
    context = {
        "claims": [columns(one, verdict) for one, verdict in zip(judged, judge(judged), strict=True)],
        "trainings": [
            (one, share_of(one), inline_svg(curve_figure(one), one["name"], one["claim"])) for one in trained
        ],
        "series": [(one, inline_svg(series_figure(one), one["name"], one["claim"])) for one in series],
        "robins": [(one, inline_svg(ratings_figure(one), one["name"], "Ratings")) for one in robins],
        "times": inline_svg(times_figure(timed), "times", "Time of a move by its number") if timed else None,
    }
    atomic_write_text(page, render_page(TEMPLATE, "other_games.arena", **context))


def series_figure(one: Mapping[str, Any]) -> Figure:
    """The score with its interval, or the time of a move, against the number that varies in a series."""
    with style():
        figure = new_figure(6, 3.4)
        axes = figure.add_subplot()
        matches = sorted(one["matches"], key=lambda match: float(match["value"]))
        values = [float(match["value"]) for match in matches]
        if one["test"] == "time":
            times = [match["mean_of_agent_0"]["processor_milliseconds"] for match in matches]
            axes.plot(values, times, color=PALETTE["accent"], marker="o")
            axes.set(ylabel="milliseconds", yscale="log")
        else:
            units = [Units.of(match) for match in matches]
            rates = [one.rate for one in units]
            below = [one.rate - one.interval[0] for one in units]
            above = [one.interval[1] - one.rate for one in units]
            axes.errorbar(values, rates, yerr=[below, above], color=PALETTE["accent"], marker="o", capsize=3)
            axes.axhline(0.5, color=PALETTE["line"], linewidth=1)
            axes.set(ylabel="score", ylim=(0, 1))
        axes.set_xlabel(varying_option(one["agents"]))
        if min(values) > 0 and max(values) > 10 * min(values):
            axes.set_xscale("log")
        else:
            axes.set_xticks(values, [f"{value:g}" for value in values])
        figure.tight_layout()
        return figure


def share_of(one: Mapping[str, Any]) -> Mean:
    """The share of player 1 in percent, draws included, of each training."""
    return Mean(tuple(100 * share(row["curve"][-1]) for row in one["trainings"]))


def curve_figure(one: Mapping[str, Any]) -> Figure:
    """The share of player 1, draws included, since the last point of the curve, for each training."""
    with style():
        figure = new_figure(6, 3.4)
        axes = figure.add_subplot()
        for row in one["trainings"]:
            points = stretches(row["curve"])
            axes.plot([point[0] for point in points], [100 * share(point) for point in points], color=PALETTE["accent"])
        axes.axhline(50, color=PALETTE["line"], linewidth=1)
        axes.set(xlabel="games", ylabel="player 1, %", xscale="log", ylim=(0, 100))
        figure.tight_layout()
        return figure


def varying_option(agents: Sequence[str]) -> str:
    """The name of the option that varies in a series."""
    match = _VARIED.search(",".join(agents))
    return match.group(1) if match else "{}"


def times_figure(timed: Sequence[Mapping[str, Any]]) -> Figure:
    """Mean processor time of a move, by the number of the turn."""
    with style():
        figure = new_figure(7, 3.6)
        axes = figure.add_subplot()
        for colour, one in zip(_COLOURS * len(timed), timed, strict=False):
            turns = one["matches"][0]["turns_of_agent_0"]
            points = zip(turns["turn"], turns["processor_milliseconds"], turns["moves"], strict=True)
            marks = [(turn + 1, time) for turn, time, moves in points if moves >= 10 or moves == max(turns["moves"])]
            axes.plot(*zip(*marks, strict=True), color=PALETTE[colour], label=one["agents"][0])
        axes.set(xlabel="number of the move", ylabel="milliseconds", yscale="log")
        axes.legend(frameon=False, fontsize=9)
        figure.tight_layout()
        return figure


def ratings_figure(robin: Mapping[str, Any]) -> Figure:
    """Ratings with their intervals, the strongest agent on top."""
    with style():
        rows = robin["standings"]
        figure = new_figure(7, 0.8 + 0.32 * len(rows))
        axes = figure.add_subplot()
        places = [-place for place in range(len(rows))]
        points, errors = [row["points"] for row in rows], [row["error"] for row in rows]
        axes.errorbar(points, places, xerr=errors, color=PALETTE["accent"], marker="o", linestyle="none", capsize=3)
        axes.set_yticks(places, [row["agent"] for row in rows], fontsize=9)
        axes.set(xlabel="rating (Elo)", ylim=(-len(rows) + 0.5, 0.5))
        axes.grid(True, axis="x", color=PALETTE["line"], linewidth=0.5)
        figure.tight_layout()
        return figure
