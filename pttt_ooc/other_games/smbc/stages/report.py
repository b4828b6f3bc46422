"""Stage "report": one page about a solved match, and its pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pttt_ooc.disk.files import atomic_write_bytes, atomic_write_text
from pttt_ooc.other_games.smbc.pipeline import sources
from pttt_ooc.other_games.smbc.rules import GOALS
from pttt_ooc.other_games.smbc.stages.pictures import opening_figure, values_figure
from pttt_ooc.other_games.smbc.vocabulary import numbers_of
from pttt_ooc.pipeline.show.pages import render_page
from pttt_ooc.pipeline.show.pictures import comparison_figure, figure_bytes, inline_svg
from pttt_ooc.pipeline.stages.stage_context import Facts, digests, inputs, stage

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
        labels = {
            "values": "Values of all scores",
            "opening": "The first player's opening, by goal",
            "convergence": "Exploitability of the last round over iterations",
        }
        svgs = {name: inline_svg(figure, name, labels[name]) for name, figure in figures.items()}
        atomic_write_text(directory / PAGE, render_page(TEMPLATE, "other_games.smbc", **_context(before), svgs=svgs))


def _context(before: dict[str, Facts]) -> dict[str, Any]:
    solve, found = before["solve"], before["findings"]
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
    }


def same(table: list[list[float]]) -> float | None:
    """The number that all entries of a table have, or None."""
    entries = {f"{entry:.4f}" for row in table for entry in row}
    return table[0][0] if len(entries) == 1 else None
