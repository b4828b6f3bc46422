"""What the worker finds out before it judges: the value of the course's game, and the order of the rows of submissions.

Exploitability is measured against the value.  It comes from the settings, or from the package, or, for a small game,
from solving it: the best responses to the solution prove an interval.  The order cannot change once a strategy has been
accepted.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from pttt_ooc.config import solving_command
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.models import ACCEPTED, BASELINE, Fact, Submission, Team
from pttt_ooc.course.data.settings import SETTINGS, CourseSettings
from pttt_ooc.course.data.standings import touch
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.errors import CourseError
from pttt_ooc.games.rules.catalogue import reference_value
from pttt_ooc.options import DATA
from pttt_ooc.pipeline.stages.normal_form import row_orders
from pttt_ooc.pipeline.stages.strategy_store import strategies_of
from pttt_ooc.types import Interval


def solution_store(settings: CourseSettings, storage: Storage) -> Path:
    """The store of the solution, which may be missing.

    It is the one in the settings, or the worker's own of a small game, or the workflow's.
    """
    places = [settings.solution] if settings.solution else [d / settings.game / "full" for d in (storage.index, DATA)]
    stores = [strategies_of(Path(place)) for place in places]
    return next((store for store in stores if store.is_dir()), stores[-1])


def solution_note(settings: CourseSettings, storage: Storage, shown: bool) -> str:
    """A sentence that says whether students see the solution; empty if the settings say that there is none."""
    store = solution_store(settings, storage)
    if settings.solution == "none":
        return ""
    if not store.is_dir():
        made = f"; `{solving_command(settings.game)}` makes one" if settings.solution is None else ""
        return f"Teams cannot see where their strategies lose, as there is no solution in {store.parent}{made}."
    if shown:
        return f"Students see the solution in {store.parent}; without `show_solution` in course.yaml they do not."
    return f"Students do not see the solution in {store.parent}; `show_solution: true` in course.yaml shows it."


log = logging.getLogger("pttt.course.worker")
SMALL = 100_000  # infosets of both players
_NARROW = {
    "algorithm": "pdcfr+",
    "target_nashconv": 1e-6,
    "max_iterations": 5_000,
    "max_minutes": 3,
    "precision": "float64",
}
_SOLVED = "as the best responses to this course's own solution prove"


@dataclass(frozen=True)
class GameValue:
    """An interval, and its origin."""

    interval: Interval
    source: str


def told_value(settings: CourseSettings) -> GameValue | None:
    """The value from the settings or the package; None if neither has it."""
    if settings.game_value is not None:
        return GameValue(settings.game_value, "as the instructors have set it")
    known = reference_value(settings.rules)
    return None if known is None else GameValue(known, "as a certificate of this package proves")


def check_value_is_known(settings: CourseSettings) -> None:
    """Raise a CourseError if the value of the game is unknown and too costly to compute."""
    if sum(settings.infosets) > SMALL and told_value(settings) is None:
        raise CourseError(
            f"The value of {settings.game} is not known to this package, and the game is too big to be solved in "
            f"passing: `{solving_command(settings.game)}` finds an interval; write it into {SETTINGS} as game_value."
        )


def stored_value(database: Database) -> GameValue | None:
    """The current value; None until a worker has stored one."""
    with database.reading() as session:
        fact = session.get(Fact, "value")
        return None if fact is None else GameValue((fact.value[0], fact.value[1]), fact.value[2])


def find_value(
    settings: CourseSettings,
    database: Database,
    storage: Storage,
    threads: int,
    settle: Callable[[Session, Path, str], None],
) -> GameValue:
    """The value; the game is solved if necessary, which takes seconds.

    If it has changed, the exploitabilities of all submissions are corrected, and grades with them.

    Parameters
    ----------
    settle
        See :class:`pttt_ooc.course.data.worker_process.Grading`.

    Raises
    ------
    CourseError
        If the game is too big to be solved.
    """
    check_value_is_known(settings)
    before = stored_value(database)
    value = told_value(settings)
    if value is None:
        value = before if before and before.source == _SOLVED else _solve_game(settings, storage, threads)
    if value != before:
        with database.writing() as session:
            session.merge(Fact(name="value", value=[*value.interval, value.source]))
            _renew(session, before.interval if before else value.interval, value.interval)
            touch(session)
            if before:
                settle(session, storage.data, "the value of the game is known better, or set anew")
    return value


def _solve_game(settings: CourseSettings, storage: Storage, threads: int) -> GameValue:
    from pttt_ooc.config import SolveConfig, check_section
    from pttt_ooc.disk.manifests import read_manifest
    from pttt_ooc.pipeline.stages import solve
    from pttt_ooc.pipeline.stages.directories import manifest_of
    from pttt_ooc.pipeline.stages.preparation import prepare_index

    log.info("solving the game once, for its value", extra={"game": settings.game})
    with open(os.devnull, "w", encoding="ascii") as nowhere, redirect_stderr(nowhere):  # output for a terminal
        directory = prepare_index(storage.index, settings.game, "full")
        solve.run(settings.game, "full", check_section(SolveConfig, _NARROW), directory, threads)
    result = read_manifest(manifest_of(directory, "solve"), "solve")["result"]
    low, high = (min(1.0, max(-1.0, float(result[key]))) for key in ("value_lower", "value_upper"))
    return GameValue((low, high), _SOLVED)


def _renew(session: Session, old: Interval, new: Interval) -> None:
    """Recompute all exploitabilities from the middle of the new interval."""
    for player, sign in ((0, 1), (1, -1)):
        shift = sign * (sum(new) - sum(old)) / 2
        session.execute(
            update(Submission)
            .where(Submission.player == player, Submission.best_response.is_not(None))
            .values(exploitability=Submission.best_response + sign * sum(new) / 2, before=Submission.before + shift)
        )


_FACT = "rows"


def check_orders(data: Path, settings: CourseSettings) -> None:
    """Raise an InfosetFileError if a file of the settings is missing, or its first byte shows that it is not a list."""
    from pttt_ooc.library.api.strategy_names import check_infosets_file  # numerics, which a default order does not need

    for file in settings.orders(data):
        if file is not None:
            check_infosets_file(file)


def settle_orders(database: Database, storage: Storage, settings: CourseSettings) -> None:
    """Record the order of rows; if it has changed, the strategies of the baseline, to be made anew, and the house go.

    Raises
    ------
    CourseError
        If teams have accepted strategies in another order.
    """
    orders = row_orders(*settings.orders(storage.data))
    baseline = select(Team.id).where(or_(Team.name == BASELINE, Team.house))
    with database.writing() as session:
        fact = session.get(Fact, _FACT)
        if orders == (fact.value if fact else [None, None]):
            return
        others = Submission.team_id.not_in(baseline), Submission.status == ACCEPTED
        if session.scalar(select(Submission.id).where(*others).limit(1)) is not None:
            raise CourseError(
                f"The lists of infosets in {storage.data / SETTINGS} are not those that accepted strategies follow; "
                "put the former ones back, or start a new course with another --data."
            )
        old = list(session.scalars(select(Submission).where(Submission.team_id.in_(baseline))))
        for submission in old:
            session.delete(submission)
        session.merge(Fact(name=_FACT, value=orders))
        touch(session)
    for submission in old:
        storage.upload(submission.file).unlink(missing_ok=True)
