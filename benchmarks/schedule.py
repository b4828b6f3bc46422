"""How an iteration would scale over threads, by simulation of its schedule from measured times.

Some iterations run on one thread, cut into runs of views as for more threads, and each run is timed.  Then the schedule
is simulated: each thread takes the next run of a slice when it is free, woken ones a little later than the first, and
the next slice begins when all are done.  One thread does the work between runs.  The simulation assumes that a run
takes as long beside others as alone.  Real machines share caches and memory, so they scale less well.

    python -m benchmarks.schedule --game pttt-abrupt --data data
"""

from __future__ import annotations

import argparse
import heapq
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks import measures
from pttt_ooc.cfr.solving.solve_run import solve
from pttt_ooc.cfr.sweep.engine import Engine
from pttt_ooc.config import SolveConfig
from pttt_ooc.games.rules.catalogue import named_game

HANDOVER = 20e-6  # seconds to wake another thread
THREADS = (1, 2, 4, 8, 16, 32)


@dataclass
class Iteration:
    """Times of one iteration on one thread.

    Attributes
    ----------
    slices
        For each time that runs are handed out, the seconds of each run, in that order.
    seconds
        Of the whole iteration.
    """

    slices: list[list[float]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def between(self) -> float:
        """Seconds outside of all runs."""
        return max(0.0, self.seconds - sum(map(sum, self.slices)))


class Recorder(Engine):
    """An engine that cuts views into runs as for `threads`, runs them all on one, and notes how long each takes."""

    def __init__(self, engine: Engine, threads: int) -> None:
        super().__init__(engine.index, engine.timings, engine.dtype.type, threads)
        self.now = Iteration()

    def _call(self, calls: list[tuple[Any, ...]]) -> None:
        spent = []
        for kernel, *arguments in calls:
            begun = time.perf_counter()
            kernel(*arguments)
            spent.append(time.perf_counter() - begun)
        self.now.slices.append(spent)


def simulated(iteration: Iteration, threads: int, handover: float = HANDOVER) -> float:
    """Seconds that an iteration would take on this many threads."""
    total = iteration.between
    for runs in iteration.slices:
        if threads == 1 or len(runs) == 1:
            total += sum(runs)  # nothing is handed over
            continue
        free = [k * handover for k in range(threads)]
        for run in runs:
            heapq.heappush(free, heapq.heappop(free) + run)
        total += max(free)
    return total


def longest(iteration: Iteration) -> float:
    """Seconds that an iteration would take with unlimited threads: the longest run of each slice counts."""
    return iteration.between + sum(max(runs) for runs in iteration.slices)


def undisturbed(iterations: Sequence[Iteration]) -> Iteration:
    """An iteration with the shortest time of every run over some iterations: other work only adds time."""
    same = zip(*[iteration.slices for iteration in iterations], strict=True)
    slices = [[min(times) for times in zip(*runs, strict=True)] for runs in same]
    return Iteration(slices, sum(map(sum, slices)) + min(iteration.between for iteration in iterations))


def record(engine: Engine, threads: int, iterations: int, data: Path) -> list[Iteration]:
    """The second half of some iterations of the default rule, timed run by run."""
    recorder, found, begun = Recorder(engine, threads), list[Iteration](), time.perf_counter()

    def on_progress(row: dict[str, Any]) -> None:
        nonlocal begun
        recorder.now.seconds = time.perf_counter() - begun
        found.append(recorder.now)
        recorder.now, begun = Iteration(), time.perf_counter()

    config = SolveConfig(
        max_iterations=iterations, max_minutes=1e9, target_nashconv=0, evaluate_every=1e9, commit_seconds=1e9
    )
    data.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="benchmark-", dir=data) as name:
        solve(recorder, config, Path(name) / "work", "benchmark", on_progress)
    recorder.close()
    return found[iterations // 2 : -1]  # an evaluation follows the last one


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.schedule", description=__doc__.split("\n")[0])
    parser.add_argument("--game", default="pttt-abrupt", metavar="NAME", help="the game (default: %(default)s)")
    parser.add_argument("--iterations", type=int, default=20, metavar="N", help="at least 4 (default: %(default)s)")
    parser.add_argument("--data", type=Path, default=Path("data"), metavar="DIR", help="where the stages' products are")
    options = parser.parse_args(arguments)
    if options.iterations < 4:
        parser.error("at least 4 iterations are needed")
    game = named_game(options.game)
    with measures.prepared(
        options.data, game.name, "full", np.float32, lambda text: print(text, file=sys.stderr)
    ) as one:
        found = {threads: undisturbed(record(one, threads, options.iterations, options.data)) for threads in THREADS}
    alone = simulated(found[1], 1)
    for threads, iteration in found.items():
        seconds = simulated(iteration, threads)
        figures = {"seconds": seconds, "speedup": alone / seconds, "efficiency": alone / seconds / threads}
        figures |= {"all_runs": simulated(iteration, 1), "longest_runs": longest(iteration)}
        print(json.dumps({"threads": threads} | {name: round(figure, 4) for name, figure in figures.items()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
