"""Rounds of the double oracle with a row for each, saved so that a run goes on after a kill.

================ =========================================================================
``state.npz``    see :mod:`pttt_ooc.exact.double_oracle.saved_state`
``rounds.jsonl`` a row for each round, with those of the runs before
================ =========================================================================
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path

from pttt_ooc.disk.files import explain_errors, remove
from pttt_ooc.errors import StoreError
from pttt_ooc.exact.double_oracle.oracle import EXACT, DoubleOracle, Round
from pttt_ooc.exact.double_oracle.saved_state import SavedState, version
from pttt_ooc.pipeline.show.rounds import round_line
from pttt_ooc.pipeline.stages.stage_context import Facts, tell

ROUNDS = "rounds.jsonl"
_LINE_SECONDS = 2.0  # between two lines of progress


def state_directory(work: Path, prefix: str, start: str, what: str, log: Path | None = None) -> Path:
    """Where rounds are saved: a directory named by what they begin with and by the code that they come from.

    If nothing is saved there but there are others of the same prefix, a sentence tells why these rounds begin again.

    Parameters
    ----------
    work
        The directory of all states.
    start
        Names what the rounds begin with.
    what
        That in words, for the sentence: "solution".
    """
    first, second = (hashlib.blake2b(text.encode(), digest_size=6).hexdigest() for text in (start, version()))
    state = work / f"{prefix}{first}-{second}"
    for other in [] if state.exists() else sorted(work.glob(f"{prefix}*")):
        is_older = other.name.startswith(f"{prefix}{first}-") or "-" not in other.name.removeprefix(prefix)
        reason = "version of this program" if is_older else what
        tell(f"The rounds begin again: {other} is of another {reason}, and is deleted at the end.", log)
    return state


def forget_states(work: Path, prefix: str, kept: Path | None = None) -> None:
    """Delete saved rounds, but not those of one state."""
    with explain_errors(f"delete saved rounds in {work}"):
        for each in work.glob(f"{prefix}*"):
            if each != kept:
                remove(each)


def play_rounds(
    oracle: DoubleOracle, state: Path, most_seconds: float, rows: list[Facts], log: Path | None, gap: float = EXACT
) -> None:
    """Play rounds until the gap is reached or the time is over, and add a row for each, of earlier runs too.

    Parameters
    ----------
    state
        The directory of the saved state; made if missing.
    most_seconds
        Seconds of this run and of those before it, together.
    rows
        Receives the rows.

    Raises
    ------
    MemoryBudgetError
        If a round does not fit into the oracle's memory; the rounds before are saved.
    StoreError
        If the state is damaged or cannot be written.
    """
    with SavedState(state, oracle) as saved, explain_errors(f"write to {state}"):
        rows += _earlier(state / ROUNDS, oracle)
        before, begun = (rows[-1]["seconds"] if rows else 0.0), time.monotonic()
        spoken = begun
        with open(state / ROUNDS, "w", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(row)}\n" for row in rows)
            while not has_ended(oracle, gap) and (not rows or rows[-1]["seconds"] < most_seconds):
                last = oracle.round(gap)  # if it does not fit, it stops in the middle: the saved state is older
                rows.append(_row(last, before + time.monotonic() - begun))
                file.write(f"{json.dumps(rows[-1])}\n")
                file.flush()
                os.fsync(file.fileno())  # a saved state never has more rounds than there are rows
                saved.save(has_ended(oracle, gap) or rows[-1]["seconds"] >= most_seconds)
                if has_ended(oracle, gap) or time.monotonic() - spoken > _LINE_SECONDS:
                    spoken = time.monotonic()
                    tell(round_line(last, rows[-1]["seconds"]), log)


def has_ended(oracle: DoubleOracle, gap: float = EXACT) -> bool:
    """Whether the last round has reached a gap, by default that of an equilibrium, exact to rounding."""
    return oracle.last is not None and oracle.last.is_equilibrium(gap)


def _earlier(file: Path, oracle: DoubleOracle) -> list[Facts]:
    """The rows of the rounds that were restored."""
    if oracle.last is None:
        return []
    try:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()[: oracle.last.number]]
    except (OSError, ValueError) as error:
        raise StoreError(f"{file} is damaged ({error}); delete {file.parent} to begin again.") from error
    tell(f"Going on after round {oracle.last.number}.")
    return rows


def _row(last: Round, seconds: float) -> Facts:
    """A row of ``rounds.jsonl``, with the keys of ``convergence.jsonl`` where these have the same meaning."""
    low, high = last.interval
    return {
        "iteration": last.number,
        "seconds": seconds,
        "restricted_seconds": last.program_seconds,
        "response_seconds": last.response_seconds,
        "nashconv": last.nashconv,
        "value_lower": low,
        "value_upper": high,
        "sequences": list(last.sequences),
        "support": list(last.support),
        "visited": list(last.visited),
        "added": last.added,
    }
