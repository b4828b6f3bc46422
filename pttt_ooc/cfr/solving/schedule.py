"""The iterations at which a run is evaluated and ends, and the choice of a saved run to continue.

A continued solve must end with the bits of a fresh run.  So a configuration can use a saved run only if its own fresh
run would reach the same iteration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from pttt_ooc.config import SolveConfig
from pttt_ooc.disk.commits import ResumableState
from pttt_ooc.disk.numbers import gap
from pttt_ooc.disk.resources import MB
from pttt_ooc.disk.snapshot_record import Commit
from pttt_ooc.errors import StoreError

ENDS = ("target_nashconv", "max_iterations", "evaluate_every")  # keys that determine the last iteration of a run
KEEPS = ("snapshot_every", "snapshots_mb")  # keys that determine a run's snapshots
KEPT = 2  # saved runs besides the continued one
MOST_LOST = 150.0  # seconds, if a save takes less than a ninth of it
CHEAP_SECONDS = 600  # a saved run that took less time may be deleted in favour of another one


LEFT_OUT = range(2, 10)
"""Iterations whose gap is not computed.  An evaluation takes as long as two of them, and their gaps tell nobody
anything.  The first one tells how long an evaluation takes."""


def is_evaluated(iteration: int, factor: float) -> bool:
    """Whether the gap is computed after this iteration; see :func:`evaluations`."""
    return iteration not in LEFT_OUT and last_scheduled(iteration, factor) == iteration


def evaluations(factor: float) -> Iterator[int]:
    """The iterations whose gap is computed: those of a :func:`schedule` without :data:`LEFT_OUT`."""
    return (iteration for iteration in schedule(factor) if iteration not in LEFT_OUT)


def last_scheduled(iteration: int, factor: float) -> int:
    """The last iteration of a :func:`schedule` up to `iteration`."""
    *_, last = takewhile(lambda t: t <= iteration, schedule(factor))
    return last


def schedule(factor: float) -> Iterator[int]:
    """The iteration 1, and after each ``t`` the iteration ``max(t + 1, floor(t * factor))``."""
    following = 1
    while True:
        yield following
        following = max(following + 1, math.floor(following * factor))


def seconds_between_saves(saving: float) -> float:
    """The seconds from the end of a save to the next one, if no others are configured.

    Saving takes a twentieth of the time; up to a tenth, if otherwise more than :data:`MOST_LOST` seconds were lost at
    a kill.  It is never repeated within half a minute.

    Parameters
    ----------
    saving
        Seconds that the last save took; 0 if there was none.
    """
    return max(30.0, min(19 * saving, max(MOST_LOST, 9 * saving)))


def choose_run(
    config: SolveConfig, saved: Sequence[Commit], work: Path, usable: Callable[[Commit], bool] = lambda run: True
) -> tuple[Commit | None, Sequence[Commit]]:
    """The saved run that a configuration continues (None: it starts anew), and the other runs to keep.

    Parameters
    ----------
    saved
        Commits with the ``extra`` of the solver.
    work
        The work directory, for the message.
    usable
        Whether a saved run has all snapshots that the configuration keeps up to that iteration.

    Raises
    ------
    StoreError
        If more than `KEPT` runs would remain, and all of them took long.
    """
    base = max(
        (run for run in saved if is_on_the_way(config, run) and usable(run)),
        key=lambda run: run.iteration,
        default=None,
    )
    remaining = [run for run in saved if run is not base]
    while len(remaining) > KEPT:
        cheapest = min(remaining, key=lambda run: float(run.extra["seconds"]))
        if cheapest.extra["seconds"] > CHEAP_SECONDS:
            runs = "; ".join(f"iteration {run.iteration} ({_ends_of(run)})" for run in remaining)
            raise StoreError(
                f"This configuration goes on from none of the runs saved in {work}, and there is no room for one more: "
                f"{runs}; set these keys as they were, or delete {work} to start anew."
            )
        remaining.remove(cheapest)
    return base, remaining


def is_on_the_way(config: SolveConfig, run: Commit) -> bool:
    """Whether a fresh run of this configuration is known to reach the iteration of a saved run."""
    if run.iteration > config.max_iterations:
        return False
    gaps = {row["iteration"]: row["nashconv"] for row in run.extra["rows"]}
    looks = takewhile(lambda t: t < run.iteration, evaluations(config.evaluate_every))
    return config.target_nashconv == 0 or all(t in gaps and not is_reached(config, gaps[t]) for t in looks)


def is_reached(config: SolveConfig, nashconv: float) -> bool:
    """Whether a gap is small enough for a configuration; a target of 0 is never reached."""
    return config.target_nashconv > 0 and nashconv <= config.target_nashconv


def start_sentences(state: ResumableState, config: SolveConfig) -> Iterator[str]:
    """Sentences for the user: the iteration at which a solve starts, and the other runs that are kept."""
    at = state.iteration
    yield f"Continuing from iteration {at}." if at else "Starting from the first iteration."
    for run in state.kept:
        others = [key for key in KEEPS if key in run.extra and run.extra[key] != getattr(config, key)]
        yield (
            f"The run to iteration {run.iteration} is kept in {state.path} ({state.nbytes / MB:.1f} MB); "
            f"to go on from there, set {_ends_of(run, *others)}."
        )


def end_sentence(stopped_by: str, iteration: int, nashconv: float, config: SolveConfig) -> str:
    """A sentence for the user if a run ended before its target: the limit, and what has been reached."""
    if stopped_by == "target_nashconv":
        return ""
    limit = f"{stopped_by}: {getattr(config, stopped_by):g}"
    later = ", since another one would end later" if stopped_by == "max_minutes" else ""
    return f"Stopped by {limit} after iteration {iteration}{later}; the gap is {gap(nashconv)}. A higher limit goes on."


def _ends_of(run: Commit, *others: str) -> str:
    return ", ".join(f"{key}: {_text(run.extra[key])}" for key in (*ENDS, *others))


def _text(value: float | None) -> str:
    return "null" if value is None else f"{value:g}"
