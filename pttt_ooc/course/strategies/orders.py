"""The order of the rows of all submissions: it cannot change once a strategy has been accepted."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import or_, select

from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.models import ACCEPTED, BASELINE, Fact, Submission, Team
from pttt_ooc.course.data.settings import SETTINGS, CourseSettings
from pttt_ooc.course.data.standings import touch
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.errors import CourseError
from pttt_ooc.pipeline.stages.normal_form import row_orders

_FACT = "rows"


def check_orders(data: Path, settings: CourseSettings) -> None:
    """Raise an InfosetFileError if a file of the settings is missing, or its first byte shows that it is no list."""
    from pttt_ooc.library.api.strategy_names import check_infosets_file  # numerics, which a default order does without

    for file in settings.orders(data):
        if file is not None:
            check_infosets_file(file)


def settle_orders(database: Database, storage: Storage, settings: CourseSettings) -> None:
    """Record the order of rows; if it has changed, the baseline's files are removed, to be made in the new order.

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
