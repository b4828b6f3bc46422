"""Measure the package's speed, next to a baseline and the memory's speed in the same run.

Compare the ratios, not figures of different runs or machines.  The full game takes some minutes and two
gigabytes of memory, most of them for the baseline.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import measures
from benchmarks.measures import Baseline, Row
from pttt_ooc.disk.files import atomic_write_text
from pttt_ooc.disk.resources import cores
from pttt_ooc.errors import PtttError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.pipeline.files.structure_store import read_pairs
from pttt_ooc.pipeline.stages.provenance import versions

LEGEND = """\
seconds: median, elapsed; cpu: of all processors together.
histories/s: all histories of the game ({histories:,}, those included at which it is over), divided by
  the seconds.  A walk over them all makes both players' gradients, so only rows that contain both have the figure;
  rows with symmetry need not look at most histories, but stand for all of them.
ratio: the baseline's seconds, divided by the row's.
floor: the row's seconds, divided by those it takes to read the reach and write the gradient just once, at
  {speed:.1f} GB/s: what copying a large array on all cores achieves (bytes read and bytes written, added up).
baseline: {visited:,} histories, on {threads} threads, spread evenly over the tree; scaled up to all histories.
solve: after {iterations} iterations of dcfr, the parts of the players' sequences that are reached are {reached}."""


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out the sweeps without symmetry; fewer iterations")
    parser.add_argument("--game", default="pttt-abrupt", metavar="NAME", help="the game (default: %(default)s)")
    parser.add_argument("--iterations", type=int, metavar="N", help="of the solve (default: 60; quick: 20)")
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="goes per median (default: %(default)s)")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path("data"),
        metavar="DIR",
        help="where the stages' products are, or else are made (default: %(default)s)",
    )
    parser.add_argument("--output", metavar="NAME", help="also write the figures to DIR/benchmarks/NAME.json")
    options = parser.parse_args(arguments)
    if options.iterations is None:
        options.iterations = 20 if options.quick else 60
    if options.iterations < 4 or options.repeats < 1:
        parser.error("at least 4 iterations and 1 repeat are needed")
    if options.output and Path(options.output).name != options.output:
        parser.error("--output takes a name, not a path: the file is written to DIR/benchmarks")
    return options


def measure(options: argparse.Namespace, note: Callable[[str], None]) -> dict[str, Any]:
    """Run all measurements; the result is JSON."""
    game = named_game(options.game)
    load = os.getloadavg()[0]
    rows: list[Row] = []
    with measures.prepared(options.data, game.name, "full", np.float32, note) as engine:
        note("Copying memory ...")
        speed = measures.memory_speed(options.repeats)
        note("Walking over histories ...")
        pairs = read_pairs(options.data / game.name / "full" / "views.zarr", game.name)
        baseline = Baseline(game, pairs)
        baseline.measure(options.repeats)
        note("Symmetric gradients ...")
        rows += measures.sweeps(engine, "symmetric gradient", measures.uniform_reaches(engine), options.repeats)
        note(f"Solving, {options.iterations} iterations ...")
        solve = measures.solving(engine, options.iterations, options.data)
        rows += measures.sweeps(engine, "the same inside a solve", solve.reaches, options.repeats)
        rows += solve.rows
        note("Evaluating ...")
        rows.append(measures.evaluating(engine, solve.strategies, options.repeats))
    if not options.quick:
        with measures.prepared(options.data, game.name, "none", np.float32, note) as engine:
            note("Gradients without symmetry ...")
            reaches = measures.uniform_reaches(engine)
            rows += measures.sweeps(engine, "gradient without symmetry", reaches, options.repeats)
    note("Walking over histories once more ...")
    baseline.measure(options.repeats)  # the machine's other load may have changed meanwhile
    return {
        "game": game.name,
        "histories": baseline.histories,
        "cores": cores(),
        "load_before": round(load, 2),
        "memory_bytes_per_second": speed,
        "baseline": {"histories": baseline.visited, "threads": baseline.threads},
        "solve": {"iterations": options.iterations, "reached_sequences": solve.reached()},
        "repeats": options.repeats,
        "rows": [_figures(row, baseline, speed) for row in [baseline.row(), *rows]],
        "versions": versions(),
    }


def _figures(row: Row, baseline: Baseline, speed: float) -> dict[str, Any]:
    whole = row.sweeps == 2
    return {
        **asdict(row),
        "histories_per_second": baseline.histories / row.seconds if whole else None,
        "ratio": baseline.row().seconds / row.seconds if whole else None,
        "floor": row.seconds * speed / row.memory if row.memory else None,
    }


def show(result: dict[str, Any]) -> None:
    """Print the figures as a table."""
    table = Table(box=None, pad_edge=False)
    table.add_column("", no_wrap=True)
    for heading in ("seconds", "cpu", "histories/s", "ratio", "floor"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in result["rows"]:
        cells = [f"{row['seconds']:.4g}", f"{row['cpu_seconds']:.4g}"]
        cells += _cell(row["histories_per_second"], ".3g"), _cell(row["ratio"], ",.1f"), _cell(row["floor"], ",.1f")
        table.add_row(row["name"], *cells)
    print(f"{result['game']}, {result['cores']} cores, load {result['load_before']} before the run\n")
    Console(width=None if sys.stdout.isatty() else 140, highlight=False).print(table)
    values = {
        "histories": result["histories"],
        "speed": result["memory_bytes_per_second"] / 1e9,
        "visited": result["baseline"]["histories"],
        "threads": result["baseline"]["threads"],
        "iterations": result["solve"]["iterations"],
        "reached": " and ".join(f"{part:.1%}" for part in result["solve"]["reached_sequences"]),
    }
    print("\n" + LEGEND.format(**values))


def _cell(number: float | None, form: str) -> str:
    return "" if number is None else format(number, form)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    options = _options(arguments)
    try:
        result = measure(options, lambda sentence: print(sentence, file=sys.stderr, flush=True))
        show(result)
        if options.output:
            file = options.data / "benchmarks" / f"{options.output}.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            atomic_write_text(file, json.dumps(result, indent=2) + "\n")
    except PtttError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
