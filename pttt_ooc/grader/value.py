"""The value of the grader's game, against which exploitability is measured.

It comes from the settings, or from what the package knows, or, for a small game, from solving it: the best
responses to the solution prove an interval.  It is never guessed.
"""

from __future__ import annotations

import logging
import os
from contextlib import redirect_stderr
from dataclasses import dataclass

import numpy as np

from pttt_ooc import inputs
from pttt_ooc.config import SolveConfig
from pttt_ooc.errors import GraderError
from pttt_ooc.evaluate import Interval, reference_value
from pttt_ooc.grader.database import Database
from pttt_ooc.grader.models import Fact
from pttt_ooc.grader.settings import SETTINGS, Settings
from pttt_ooc.grader.storage import Storage
from pttt_ooc.manifests import read_manifest
from pttt_ooc.stages import solve
from pttt_ooc.stages.common import manifest_of

log = logging.getLogger("pttt.grader.worker")
SMALL = 100_000  # infosets of both players
_NARROW = SolveConfig(
    algorithm="pdcfr+", target_nashconv=1e-6, max_iterations=5_000, max_minutes=3, precision="float64"
)


@dataclass(frozen=True)
class GameValue:
    """An interval, and where it is from."""

    interval: Interval
    source: str


def check_value_is_known(settings: Settings, database: Database) -> None:
    """Raise a GraderError if the value of the game is not known and too much work to find."""
    if stored_value(settings, database) is None and sum(settings.infosets) > SMALL:
        raise GraderError(
            f"The value of {settings.game} is not known to this package, and the game is too big to be solved in "
            f"passing: `pttt solve --game {settings.game}` finds an interval; write it into {SETTINGS} as game_value."
        )


def stored_value(settings: Settings, database: Database) -> GameValue | None:
    """The value, if nothing has to be computed for it."""
    if settings.game_value is not None:
        return GameValue(settings.game_value, "the grader's settings")
    known = reference_value(settings.rules)
    if known is not None:
        return GameValue(known, "exact best responses to a long solve, by this package")
    with database.reading() as session:
        fact = session.get(Fact, "value")
        return None if fact is None else GameValue((fact.value[0], fact.value[1]), "solved by this grader")


def find_value(settings: Settings, database: Database, storage: Storage, threads: int) -> GameValue:
    """The value, found by solving the game if need be, which takes seconds.

    Raises
    ------
    GraderError
        If the game is too big for that.
    """
    check_value_is_known(settings, database)
    known = stored_value(settings, database)
    if known is not None:
        return known
    log.info("solving the game once, for its value", extra={"game": settings.game})
    with open(os.devnull, "w", encoding="ascii") as nowhere, redirect_stderr(nowhere):  # what is meant for a terminal
        directory = inputs.prepared(storage.index, settings.game, "full")
        solve.run(settings.game, "full", _NARROW, directory, threads)
    result = read_manifest(manifest_of(directory, "solve"), "solve")["result"]
    bounds = [float(np.clip(result[key], -1, 1)) for key in ("value_lower", "value_upper")]
    with database.writing() as session:
        session.merge(Fact(name="value", value=bounds))
    return GameValue((bounds[0], bounds[1]), "solved by this grader")
