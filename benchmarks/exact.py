"""The lazy double oracle from the start to an exact pair, complete and reduced: ``python -m benchmarks.exact``.

Each run is a process of its own, which compiles its kernels first.  The figures are medians of several runs, in turns,
next to those of the first trial of the method, on another day and machine.
"""

from __future__ import annotations

import argparse
import copy
import json
import subprocess
import sys
import time
from functools import partial
from statistics import median
from typing import Any

from pttt_ooc.disk.resources import MB, peak_rss_bytes
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.games.rules.catalogue import named_game

TRIAL = {
    "pttt-abrupt": "14 s, 260, 0.2 GB",
    "dark-hex-3x3-abrupt": "2.2 s, 220",
    "pttt-classical": "0.1 s, 23",
    "dark-hex-3x3-classical": "0.03 s, 4",
    "pttt-2x4k3-abrupt": "3 s, 137",
    "pttt-2x5k3-abrupt": "234 s, 456, 0.22 GB",
}
"""Elapsed seconds on two cores, rounds and memory of the first trial: walks in C++, linear programs by HiGHS."""

VARIANTS = ("whole", "no clairvoyance", "no symmetry", "cold programs")


def one_run(name: str, variant: str, most_seconds: float) -> dict[str, Any]:
    """A run in this process, up to a limit of processor seconds."""
    game = copy.copy(named_game(name))  # other code in this process has the same game
    if variant == "no symmetry":
        game.__dict__["symmetries"] = (tuple(range(game.squares)),)  # a cached property
    _solve(DoubleOracle(named_game("mini-2x2k2-abrupt")), "", 1e9)  # loads the kernels
    begun, elapsed = time.process_time(), time.perf_counter()
    oracle = DoubleOracle(game, threads=2)
    responses = _solve(oracle, variant, begun + most_seconds)
    last = oracle.last
    assert last
    return {
        "seconds": time.process_time() - begun,
        "elapsed": time.perf_counter() - elapsed,
        "responses": responses,
        "rounds": last.number,
        "sequences": last.sequences,
        "support": last.support,
        "visited": last.visited,
        "nashconv": last.nashconv,
        "width": last.best_upper - last.best_lower,
        "value": (last.best_lower + last.best_upper) / 2,
        "settled": last.settled,
        "peak_mb": peak_rss_bytes() / MB,
    }


def _solve(oracle: DoubleOracle, variant: str, until: float) -> float:
    """Play rounds; returns the processor seconds of best responses, of all threads."""
    spent, responses = [0.0], oracle._responses

    def timed(*played: Any) -> Any:
        begun = time.process_time()
        found = responses(*played)
        spent.append(time.process_time() - begun)
        return found

    oracle._responses = timed  # type: ignore[method-assign]
    if variant == "no clairvoyance":
        for responder in oracle._responders:
            responder.face = partial(responder.face, bounded=False)  # type: ignore[method-assign]
    while not (oracle.last and oracle.last.settled) and time.process_time() < until:
        if variant == "cold programs":
            oracle._program.last = None
        oracle.round()
    return sum(spent)


def _child(name: str, variant: str, most_seconds: float) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.exact", "--one", name, variant, "--most", str(most_seconds)]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def main(arguments: list[str] | None = None) -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exact", description=__doc__)
    parser.add_argument("games", nargs="*", metavar="GAME", help="default: the games of the trial")
    parser.add_argument("--runs", type=int, default=3, help="runs of each game and variant")
    parser.add_argument("--variants", nargs="*", default=VARIANTS, choices=VARIANTS)
    parser.add_argument("--most", type=float, default=60, help="processor seconds after which a run is stopped")
    parser.add_argument("--one", nargs=2, metavar=("GAME", "VARIANT"), help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.one:
        print(json.dumps(one_run(*chosen.one, chosen.most)))
        return
    print(
        "| game | | processor s | of them responses | rounds | sequences | support | visited | MB | NashConv | trial |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name in chosen.games or TRIAL:
        found: dict[str, list[dict[str, Any]]] = {variant: [] for variant in chosen.variants}
        for _ in range(chosen.runs):
            for variant, runs in found.items():
                if not runs or runs[0]["settled"]:  # a run that was stopped is not repeated
                    runs.append(_child(name, variant, chosen.most))
        for variant, runs in found.items():
            print(_row(name, variant, runs), flush=True)


def _row(name: str, variant: str, runs: list[dict[str, Any]]) -> str:
    last = runs[-1]
    seconds, responses, peak = (median(run[key] for run in runs) for key in ("seconds", "responses", "peak_mb"))
    pairs = [" + ".join(f"{number:,}" for number in last[key]) for key in ("sequences", "support", "visited")]
    spent = f"{seconds:.1f}" if last["settled"] else f"stopped after {seconds:.0f}"
    gap, trial = f"{last['nashconv']:.1e}", TRIAL.get(name, "") if variant == "whole" else ""
    cells = [f"`{name}`", variant, spent, f"{responses:.1f}", str(last["rounds"]), *pairs, f"{peak:.0f}"]
    return f"| {' | '.join([*cells, gap, trial])} |"


if __name__ == "__main__":
    main()
