"""At which iterations a run is evaluated and ends, and which saved run a configuration goes on from.

A solve that goes on must end with the bits of a fresh run.  So a saved run serves only a configuration whose own fresh
run would come to the same iteration without having ended before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from pttt_ooc.config import SolveConfig
from pttt_ooc.disk.commits import ResumableState
from pttt_ooc.disk.resources import MB
from pttt_ooc.disk.snapshot_record import Commit
from pttt_ooc.errors import StoreError

ENDS = ("target_nashconv", "max_iterations", "evaluate_every")  # keys that decide at which iteration a run ends
KEEPS = ("snapshot_every", "snapshots_mb")  # keys that decide what a run keeps on the way
KEPT = 2  # saved runs besides the one that goes on
CHEAP_SECONDS = 600  # a saved run that took less time may be deleted for another one


def is_scheduled(iteration: int, factor: float) -> bool:
    """Whether the gap is to be computed after this iteration: see :func:`last_scheduled`."""
    return last_scheduled(iteration, factor) == iteration


def last_scheduled(iteration: int, factor: float) -> int:
    """The last iteration of a :func:`schedule` that is not after `iteration`."""
    *_, last = takewhile(lambda t: t <= iteration, schedule(factor))
    return last


def schedule(factor: float) -> Iterator[int]:
    """It starts at 1; after iteration ``t`` comes ``max(t + 1, floor(t * factor))``."""
    following = 1
    while True:
        yield following
        following = max(following + 1, math.floor(following * factor))


def choose_run(
    config: SolveConfig, saved: Sequence[Commit], work: Path, usable: Callable[[Commit], bool] = lambda run: True
) -> tuple[Commit | None, Sequence[Commit]]:
    """Of saved runs, the one that a configuration goes on from (None: it starts anew), and those to keep besides.

    Parameters
    ----------
    saved
        With the ``extra`` that the solver commits.
    work
        The work directory, for the message.
    usable
        Whether all is there that the configuration keeps until a saved run's iteration.

    Raises
    ------
    StoreError
        If there would be more than `KEPT` to keep, and all of them took long.
    """
    base = max(
        (run for run in saved if is_on_the_way(config, run) and usable(run)),
        key=lambda run: run.iteration,
        default=None,
    )
    kept = [run for run in saved if run is not base]
    while len(kept) > KEPT:
        cheapest = min(kept, key=lambda run: float(run.extra["seconds"]))
        if cheapest.extra["seconds"] > CHEAP_SECONDS:
            runs = "; ".join(f"iteration {run.iteration} ({_ends_of(run)})" for run in kept)
            raise StoreError(
                f"This configuration goes on from none of the runs saved in {work}, and there is no room for one more: "
                f"{runs}; set these keys as they were, or delete {work} to start anew."
            )
        kept.remove(cheapest)
    return base, kept


def is_on_the_way(config: SolveConfig, run: Commit) -> bool:
    """Whether a fresh run of this configuration comes to the iteration of a saved run, as far as is known."""
    if run.iteration > config.max_iterations:
        return False
    gaps = {row["iteration"]: row["nashconv"] for row in run.extra["rows"]}
    looks = takewhile(lambda t: t < run.iteration, schedule(config.evaluate_every))
    return config.target_nashconv == 0 or all(t in gaps and not is_reached(config, gaps[t]) for t in looks)


def is_reached(config: SolveConfig, nashconv: float) -> bool:
    """Whether a gap is small enough for a configuration; a target of 0 is never reached."""
    return config.target_nashconv > 0 and nashconv <= config.target_nashconv


def start_sentences(state: ResumableState, config: SolveConfig) -> Iterator[str]:
    """Sentences for a person: from which iteration a solve goes on, and which runs are kept besides."""
    at = state.iteration
    yield f"Continuing from iteration {at}." if at else "Starting from the first iteration."
    for run in state.kept:
        others = [key for key in KEEPS if key in run.extra and run.extra[key] != getattr(config, key)]
        yield (
            f"The run to iteration {run.iteration} is kept in {state.path} ({state.nbytes / MB:.1f} MB); "
            f"to go on from there, set {_ends_of(run, *others)}."
        )


def _ends_of(run: Commit, *others: str) -> str:
    return ", ".join(f"{key}: {_shown(run.extra[key])}" for key in (*ENDS, *others))


def _shown(value: float | None) -> str:
    return "null" if value is None else f"{value:g}"
