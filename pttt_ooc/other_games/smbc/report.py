"""Stage "report": one page about a solved match, and its pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pttt_ooc.disk.files import atomic_write_bytes, atomic_write_text
from pttt_ooc.disk.numbers import decimals
from pttt_ooc.other_games.smbc.pipeline import sources
from pttt_ooc.other_games.smbc.rules import BOARD, GOALS, SQUARES
from pttt_ooc.other_games.smbc.vocabulary import numbers_of
from pttt_ooc.pipeline.show.pages import render_page
from pttt_ooc.pipeline.show.pictures import (
    LABEL,
    PALETTE,
    board_figure,
    comparison_figure,
    draw_board,
    figure_bytes,
    inline_svg,
    new_figure,
    style,
)
from pttt_ooc.pipeline.stages.stage_context import Facts, contents, digests, inputs, stage

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

PAGE, PICTURES = "report.html", ("values.svg", "opening.svg", "convergence.svg")
TEMPLATE = "smbc_report.html.j2"
_LOSSES = 8  # lines of the table


def run(directory: Path, all_equilibria: bool = False) -> None:
    """Write ``report.html`` and its pictures from the manifests of the earlier stages.

    Parameters
    ----------
    all_equilibria
        Whether to include the stage "equilibria".

    Raises
    ------
    StoreError
        If a manifest is missing, or a file cannot be written.
    """
    with stage("report", directory, [PAGE, *PICTURES], sources=sources) as facts:
        before = inputs(directory, "solve", "findings", *["equilibria"] * all_equilibria)
        facts.update(made_from=digests(before), settings={"all_equilibria": all_equilibria})
        found = before["findings"]
        points = found["winning_score"]
        values = {scores: one["value"] for scores, one in found["rounds"].items()}
        figures = {
            "values": values_figure(values, points),
            "opening": opening_figure(found["shown"][0]["opening"]),
            "convergence": comparison_figure(found["curves"], "iteration"),
        }
        for name, figure in figures.items():
            atomic_write_bytes(directory / f"{name}.svg", figure_bytes(figure, "svg"))
        labels = {"values": "Values of all scores", "convergence": "NashConv of the last round over iterations"}
        svgs = {name: inline_svg(figures[name], name, label) for name, label in labels.items()}
        boards = opening_boards(found["shown"][0]["opening"])
        context = {**_context(before), "svgs": svgs, "boards": boards}
        atomic_write_text(directory / PAGE, render_page(TEMPLATE, "other_games.smbc", **context))


def _context(before: dict[str, Facts]) -> dict[str, Any]:
    import yaml

    solve, found = before["solve"], before["findings"]
    configuration = {**solve["settings"], **found["settings"], "all_equilibria": "equilibria" in before}
    points = range(found["winning_score"])
    return {
        "found": found,
        "equilibria": before["equilibria"]["shown"] if "equilibria" in before else (),
        "roundings": sorted(found["study"]["rounding"]["rounds"].items()),
        "open_values": [same(one["open_pairs"]) for one in found["shown"]],
        "solve": solve,
        "goals": GOALS,
        "points": points,
        "losses": found["losses"][:_LOSSES],
        "numbers_of": numbers_of,
        "table": [[found["rounds"][f"{mine}-{other}"] for other in points] for mine in points],
        "worst_round": max(facts["exploitability"] for facts in found["rounds"].values()),
        "last_gaps": {name: rows[-1] for name, rows in found["curves"].items()},
        "spent": {name: facts["usage"] for name, facts in before.items()},
        "yaml": yaml.safe_dump({"smbc": configuration}, sort_keys=False),
        "digests": contents(before),
    }


def same(table: list[list[float]]) -> float | None:
    """The number that all entries of a table have, or None."""
    entries = {f"{entry:.4f}" for row in table for entry in row}
    return table[0][0] if len(entries) == 1 else None


# ---------------------------------------------------------------------------------------------
# Pictures


def values_figure(values: Mapping[str, float], winning_score: int) -> Figure:
    """A heat map of the values of all scores, for the round's first player.

    Parameters
    ----------
    values
        By scores such as ``"4-3"``: the points of the first and of the second player.
    """
    from matplotlib.patches import Rectangle

    with style():
        figure = new_figure(4.2, 0.66 * winning_score + 0.5)
        axes = figure.add_subplot()
        for scores, value in values.items():
            mine, other = map(int, scores.split("-"))
            colour = PALETTE["shade"] if value > 0 else PALETTE["warm"]
            axes.add_patch(Rectangle((other, mine), 1, 1, facecolor=colour, alpha=0.8 * abs(value), linewidth=0))
            axes.add_patch(Rectangle((other, mine), 1, 1, fill=False, edgecolor=PALETTE["line"], linewidth=1))
            axes.text(other + 0.5, mine + 0.5, decimals(value, 4), ha="center", va="center", fontsize=10.5)
        ticks = [point + 0.5 for point in range(winning_score)]
        axes.set_xticks(ticks, [str(point) for point in range(winning_score)])
        axes.set_yticks(ticks, [str(point) for point in range(winning_score)])
        axes.set(xlim=(0, winning_score), ylim=(winning_score, 0))
        axes.set_xlabel("points of the second player", fontsize=LABEL)
        axes.set_ylabel("points of the first player", fontsize=LABEL)
        axes.tick_params(length=0, labelsize=LABEL)
        for side in axes.spines.values():
            side.set_visible(False)
        figure.tight_layout(pad=0.5)
        return figure


def opening_figure(opening: Sequence[Mapping[str, Any]]) -> Figure:
    """The first player's openings, a board for each goal.

    Parameters
    ----------
    opening
        See :func:`pttt_ooc.other_games.smbc.findings_stage.opening`.
    """
    with style():
        figure = new_figure(2.1 * len(GOALS), 2.4)
        for goal, name in enumerate(GOALS):
            axes = figure.add_subplot(1, len(GOALS), goal + 1)
            draw_board(axes, BOARD, 0, "|", _chances(opening, goal), digits=3)
            axes.set_title(f"goal: {name}", fontsize=LABEL)
        figure.tight_layout()
        return figure


def opening_boards(opening: Sequence[Mapping[str, Any]]) -> dict[str, Markup]:
    """The same for the page: a board for each goal, by its name."""
    return {
        name: inline_svg(
            board_figure(BOARD, 0, "|", _chances(opening, goal), 3), f"opening{goal}", f"Opening, goal: {name}"
        )
        for goal, name in enumerate(GOALS)
    }


def _chances(opening: Sequence[Mapping[str, Any]], goal: int) -> list[float]:
    """The probability of each square with a goal."""
    chances = [0.0] * SQUARES
    for way in opening:
        for square in way["squares"]:
            chances[square] = way["chances"][goal] / len(way["squares"])
    return chances
