"""The page that compares the runs of a sweep, and a table with the same data for other programs.

It reads only manifests and convergence: it searches no game and opens no solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pttt_ooc.disk.files import atomic_write_text
from pttt_ooc.disk.manifests import read_manifest
from pttt_ooc.errors import ConfigError
from pttt_ooc.pipeline.show.comparison import RunFacts, common_gap, comparison_rows
from pttt_ooc.pipeline.show.pages import render_page
from pttt_ooc.pipeline.show.pictures import comparison_figure, inline_svg
from pttt_ooc.pipeline.show.tables import csv_text
from pttt_ooc.pipeline.stages.comparison import CONVERGENCE, run_facts
from pttt_ooc.pipeline.stages.directories import manifest_of
from pttt_ooc.pipeline.stages.stage_context import Facts, check_product
from pttt_ooc.pipeline.sweeps.pipeline import PAGE, TABLE

_TEMPLATE = "sweep_report.html.j2"
_TIMES = ("seconds", "cpu_seconds", "elapsed_seconds")
_SOLVED = ("iteration", *_TIMES, "nashconv", "value_lower", "value_upper", "stopped_by")  # of the manifest "solve"
_EVALUATED = ("exploitability_0", "exploitability_1")


@dataclass(frozen=True)
class SweepRun:
    """One run of a sweep.

    Attributes
    ----------
    counts
        Counts of its game by the stage "enumerate": ``infosets_0``, ...
    facts
        The convergence of its gap.
    solved, evaluated
        The manifests of the stages "solve" and "evaluate".
    """

    counts: Facts
    facts: RunFacts
    solved: Facts
    evaluated: Facts

    def columns(self) -> dict[str, Any]:
        """A row of the table."""
        usage, memory = self.solved["usage"], self.solved["memory"]
        return {
            "game": self.solved["game"],
            "symmetry": self.solved["symmetry"],
            "algorithm": self.facts.algorithm,
            "precision": self.facts.precision,
            **{key: self.solved["result"][key] for key in _SOLVED},
            **{key: self.evaluated["solution"][key] for key in _EVALUATED},
            "budget_mb": memory["budget_mb"],
            "peak_anonymous_mb": usage["peak_anonymous_mb"],
            "threads": usage["threads"],
        }


def read_run(directory: Path) -> SweepRun:
    """Read the manifests and the convergence of a run.

    Raises
    ------
    StoreError
        If a manifest is missing, or the convergence does not match its manifest.
    """
    manifests = {
        stage: read_manifest(manifest_of(directory, stage), stage) for stage in ("enumerate", "solve", "evaluate")
    }
    solved = manifests["solve"]
    check_product(directory, "solve", solved, CONVERGENCE)
    name = f"{solved['settings']['algorithm']}, {solved['settings']['precision']}"
    return SweepRun(manifests["enumerate"]["counts"], run_facts(directory, name, solved), solved, manifests["evaluate"])


def compare(directories: Sequence[Path], into: Path) -> None:
    """Write the page and the table.

    Parameters
    ----------
    directories
        The directories of the runs' results, game by game.
    into
        An existing directory.

    Raises
    ------
    PtttError
        If there is no run, one is incomplete, or the disk cannot be written to.
    """
    if not directories:
        raise ConfigError("The sweep has no runs; name games in sweep.games, as examples/sweep.yaml does.")
    runs = [read_run(directory) for directory in directories]
    atomic_write_text(into / TABLE, csv_text([run.columns() for run in runs]))
    atomic_write_text(into / PAGE, page_text(runs))


def page_text(runs: Sequence[SweepRun]) -> str:
    """The page; the same runs give the same text."""
    games: dict[str, list[SweepRun]] = {}
    for run in runs:
        games.setdefault(run.solved["game"], []).append(run)
    sections = [_section(game, cells) for game, cells in games.items()]
    names = list(dict.fromkeys(run.facts.name for run in runs))
    settings = runs[0].solved["settings"]
    return render_page(_TEMPLATE, "pipeline.sweeps", sections=sections, names=names, settings=settings)


def _section(game: str, runs: Sequence[SweepRun]) -> dict[str, Any]:
    """The section of one game."""
    facts = [run.facts for run in runs]
    curves = {each.name: each.rows for each in facts}
    panels = [
        inline_svg(comparison_figure(curves, x), f"{game}-{x}", f"Gaps of {len(runs)} runs of {game} over {x}")
        for x in ("iteration", "seconds")
    ]
    rows = [{**line, **run.columns()} for line, run in zip(comparison_rows(facts), runs, strict=True)]
    value = (max(row["value_lower"] for row in rows), min(row["value_upper"] for row in rows))
    uniform = runs[0].evaluated["uniform"]["nashconv"]
    return {
        **{"game": game, "counts": runs[0].counts, "panels": panels, "rows": rows, "value": value},
        **{"uniform": uniform, "common_gap": common_gap(facts), "best": {row["name"]: row for row in rows}},
    }
