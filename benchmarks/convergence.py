"""Compare update rules by the gap that they reach, over iterations and over time.

A variant is an algorithm with changes to its authors' parameters, such as "dcfr,gamma=3" or
"sapcfr+,updates=simultaneous,precision=float64": keys of the section "solve" of config.yaml.

Each evaluation adds a line of JSON to DIR/benchmarks/NAME.jsonl.  Variants that already have as many iterations
there are skipped, so the same command continues after an interruption, and later runs may ask for more iterations
or variants.  The time spent on evaluations does not count; on a busy machine, processor seconds mean more than
elapsed ones.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import yaml
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.style import context
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from benchmarks.measures import prepared
from pttt_ooc.cfr.solving.solve_run import solve
from pttt_ooc.config import SolveConfig, check_section
from pttt_ooc.errors import PtttError
from pttt_ooc.games.rules.catalogue import named_game

Row = dict[str, Any]

VARIANTS = (
    *("cfr", "linear-cfr", "cfr+", "dcfr", "pcfr+", "pdcfr+", "sapcfr+", "sapdcfr+", "hs-dcfr", "hs-pcfr+"),
    *("dcfr,gamma=1", "dcfr,gamma=5", "pcfr+,gamma=1", "pcfr+,gamma=5"),
    *("dcfr,beta=-100", "dcfr,beta=0.5", "dcfr,alpha=2", "dcfr,alpha=3"),
    *("dcfr,gamma=3,restart_average=4", "dcfr,restart_average=2", "pcfr+,gamma=3,restart_average=4"),
    *("dcfr,updates=simultaneous", "pcfr+,updates=simultaneous"),
)
INK, MUTED, LINE = "#1f2933", "#66727f", "#c9d0d7"
COLOURS = ("#1d5f9e", "#b4541a", "#2f8f6b", "#7a4fa3", "#c09a1f", "#c2497e", "#4aa3c7", "#7d8b3a", "#8c5a3c")
STYLE = {
    **{"svg.fonttype": "path", "svg.hashsalt": "pttt-ooc", "font.size": 10, "text.color": INK},
    **{"axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": LINE, "axes.labelcolor": MUTED},
    **{"xtick.color": LINE, "ytick.color": LINE, "xtick.labelcolor": MUTED, "ytick.labelcolor": MUTED},
    **{"axes.grid": True, "grid.color": LINE, "grid.linewidth": 0.5},
}
FIRST = 30  # the picture leaves out the first iterations, which show little


def settings(variant: str, iterations: int, seconds: float, evaluate_every: float) -> SolveConfig:
    """The configuration of a variant, which ends only by its iterations or its seconds."""
    algorithm, *changes = variant.split(",")
    parts = [change.partition("=") for change in changes]
    content = {"algorithm": algorithm, **{key: yaml.safe_load(value or "''") for key, _, value in parts}}
    budgets = {"max_iterations": iterations, "max_minutes": seconds / 60, "target_nashconv": 0, "commit_seconds": 1e9}
    return check_section(SolveConfig, {**content, **budgets, "evaluate_every": evaluate_every}, f"variant {variant}")


class Recorder:
    """Writes the rows of one variant as the solver reports them."""

    def __init__(self, variant: str, file: Path) -> None:
        self.variant, self.file = variant, file
        self.spent: list[float] = []  # processor seconds of iterations without an evaluation
        self.mark = time.process_time()

    def __call__(self, row: Row) -> None:
        now = time.process_time()
        if "nashconv" in row:
            cpu = float(np.mean(self.spent)) * row["iteration"] if self.spent else None
            columns = {name: row[name] for name in ("iteration", "seconds", "nashconv")}
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"variant": self.variant, **columns, "cpu_seconds": cpu}) + "\n")
        else:
            self.spent.append(now - self.mark)
        self.mark = time.process_time()


def run(options: argparse.Namespace, file: Path) -> None:
    """Run all variants that are not in the file yet."""
    game = named_game(options.game)
    limits = (options.iterations, options.seconds, options.evaluate_every)
    configured = {variant: settings(variant, *limits) for variant in options.variants}
    for variant, config in configured.items():
        known = [row["iteration"] for row in read(file) if row["variant"] == variant]
        if max(known, default=0) >= options.iterations:
            continue
        write(file, [row for row in read(file) if row["variant"] != variant])
        dtype = np.dtype(config.precision).type
        _note(f"{variant} ...")
        aside = TemporaryDirectory(prefix="convergence-", dir=file.parent)
        with prepared(options.data, game.name, "full", dtype, _note, options.threads) as engine, aside as name:
            warm = config.model_copy(update={"max_iterations": 2, "evaluate_every": 1e9})
            solve(engine, warm, Path(name) / "warm", "warm")  # compiles, and touches the memory for the first time
            recorder = Recorder(variant, file)
            rows = solve(engine, config, Path(name) / "work", variant, recorder).rows
            _note(f"{variant}: {rows[-1]['nashconv']:.2e} after {rows[-1]['iteration']} iterations")


def read(file: Path) -> list[Row]:
    """All rows of a file; none if there is no such file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def write(file: Path, rows: Sequence[Row]) -> None:
    """Replace the content of a file by these rows."""
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _note(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


# ---------------------------------------------------------------------------------------------
# The picture


def draw(rows: Sequence[Row], variants: Sequence[str]) -> Figure:
    """The gap over iterations and over processor seconds, one curve for each variant."""
    found = [row for variant in variants for row in rows if row["variant"] == variant]
    drawn = [row for row in found if row["iteration"] >= FIRST and row["nashconv"] > 0]
    with context(["default", STYLE]):
        figure = Figure(figsize=(10, 4.6), dpi=150)
        panels = figure.subplots(1, 2, sharey=True)
        for axes, x in zip(panels, ("iteration", "cpu_seconds"), strict=True):
            _draw_panel(axes, drawn, x)
        lines, names = panels[0].get_legend_handles_labels()
        figure.tight_layout(rect=(0, 0, 0.7, 1))
        figure.legend(lines, names, loc="center left", bbox_to_anchor=(0.71, 0.5), frameon=False, fontsize=9)
        return figure


def _draw_panel(axes: Axes, rows: Sequence[Row], x: str) -> None:
    axes.set(xscale="log", yscale="log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel({"iteration": "iterations", "cpu_seconds": "processor seconds of iterations"}[x])
    if x == "iteration":
        axes.set_title("gap (NashConv)", fontsize=10, loc="left", color=MUTED)
    for place, variant in enumerate(dict.fromkeys(row["variant"] for row in rows)):
        mine = sorted((row for row in rows if row["variant"] == variant), key=lambda row: row["iteration"])
        axes.plot(
            *([row[x] for row in mine if row[x]], [row["nashconv"] for row in mine if row[x]]),
            color=COLOURS[place % len(COLOURS)],
            linestyle=("-", (0, (4, 2)), (0, (1, 1.5)))[place // len(COLOURS) % 3],
            linewidth=1.5,
            label=f"{variant}: {mine[-1]['nashconv']:.1e} after {mine[-1]['iteration']:,}",
        )


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks.convergence", description=__doc__, formatter_class=form)
    parser.add_argument("variants", nargs="*", metavar="VARIANT", help="default: all of the table in performance.md")
    parser.add_argument("--game", default="pttt-abrupt", metavar="NAME", help="the game (default: %(default)s)")
    parser.add_argument(
        "--iterations", type=int, default=217, metavar="N", help="of each variant (default: %(default)s)"
    )
    parser.add_argument("--seconds", type=float, default=1e9, metavar="S", help="of each variant, at most")
    parser.add_argument("--evaluate-every", type=float, default=1.2, metavar="F", help="factor between evaluations")
    parser.add_argument("--threads", type=int, metavar="N", help="default: all cores")
    parser.add_argument("--data", type=Path, default=Path("data"), metavar="DIR", help="(default: %(default)s)")
    parser.add_argument("--output", default="convergence", metavar="NAME", help="of the file (default: %(default)s)")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw what the file holds: an svg or png")
    options = parser.parse_args(arguments)
    options.variants = options.variants or list(VARIANTS)
    if options.iterations < 1 or options.seconds <= 0 or options.evaluate_every <= 1:
        parser.error("at least one iteration, some time, and a factor above 1 are needed")
    if Path(options.output).name != options.output:
        parser.error("--output takes a name, not a path: the file is written to DIR/benchmarks")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    options = _options(arguments)
    file = options.data / "benchmarks" / f"{options.output}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        run(options, file)
    except PtttError as error:
        print(error, file=sys.stderr)
        return 1
    rows = read(file)
    for variant in options.variants:
        chosen = [row for row in rows if row["variant"] == variant]
        if chosen:
            print(f"{variant:36} {chosen[-1]['iteration']:6d} iterations  {chosen[-1]['nashconv']:.2e}")
    if options.picture:
        metadata = {"Date": None} if options.picture.suffix == ".svg" else {}
        with context(["default", STYLE]):
            draw(rows, options.variants).savefig(
                options.picture, metadata=metadata, bbox_inches="tight", pad_inches=0.1
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
