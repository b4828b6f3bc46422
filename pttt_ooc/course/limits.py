"""How much a team may submit: files an hour, and files without a verdict, of each kind."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, func, select, true
from sqlalchemy.orm import Session

from pttt_ooc.course.models import UNFINISHED, Judged, Team
from pttt_ooc.errors import GraderError

HOUR = 3600.0
_UNCOUNTED = 2  # times the limit of an hour: the limit of all files, also of those that do not count


class SubmissionError(GraderError):
    """A team cannot do this with a submission now.

    Parameters
    ----------
    status
        The status of HTTP that goes with the sentence.
    wait
        Seconds after which it is worth another try; 0 if that is not known.
    """

    def __init__(self, sentence: str, status: int = 429, wait: float = 0) -> None:
        super().__init__(sentence)
        self.status, self.wait = status, wait


@dataclass(frozen=True)
class Limits:
    """How many files of a kind a team may submit.

    Attributes
    ----------
    files
        What they are called: ``submissions``.
    hourly
        Within an hour.
    waiting
        Without a verdict.
    counted
        The condition for a file to count among those of the hour; None: all count.
    """

    files: str
    hourly: int
    waiting: int
    counted: ColumnElement[bool] | None = None


@dataclass(frozen=True)
class Quota:
    """What a team may submit: of this hour's files and of its places in the queue, how many are left.

    Attributes
    ----------
    wait
        Seconds until one of this hour's files counts no more; 0 if there are none.
    """

    hourly: int
    places: int
    wait: float


def quota(session: Session, table: type[Judged], team: Team, limits: Limits) -> Quota:
    """What `team` may submit now."""
    now = time.time()
    left = {one.hourly - len(times): times for one, times in _hours(session, table, team, limits, now)}
    hourly, places = min(left), max(0, limits.waiting - _waiting(session, table, team))
    return Quota(hourly, places, left[hourly][-1] + HOUR - now if left[hourly] else 0.0)


def hold(session: Session, team: Team) -> None:
    """Lock the team's row until the transaction ends, so that two uploads cannot both take the last place.

    SQLite has no such lock and needs none: it lets one session write at a time.
    """
    session.execute(select(Team.id).where(Team.id == team.id).with_for_update())


def check_limits(session: Session, table: type[Judged], team: Team, limits: Limits, in_flight: int = 0) -> None:
    """Raise a SubmissionError if `team` may not submit now, while `in_flight` other files of it are being received."""
    waiting = _waiting(session, table, team) + in_flight
    if waiting >= limits.waiting:
        coming = f" or are being received ({in_flight})" if in_flight else ""
        raise SubmissionError(
            f"{waiting} {limits.files} of {team.name} still wait for a verdict{coming}; wait for one of them.", wait=5
        )
    now = time.time()
    for one, times in _hours(session, table, team, limits, now):
        if times and len(times) + in_flight >= one.hourly:
            wait = times[-1] + HOUR - now
            raise SubmissionError(
                f"{team.name} has made {len(times) + in_flight} {limits.files} within an hour, which is the limit; "
                f"the next one can be made in {int(wait // 60) + 1} min.",
                wait=wait,
            )


def _waiting(session: Session, table: type[Judged], team: Team) -> int:
    """Number of the team's files without a verdict."""
    return session.scalar(select(func.count()).where(table.team_id == team.id, table.status.in_(UNFINISHED))) or 0


def _hours(
    session: Session, table: type[Judged], team: Team, limits: Limits, now: float
) -> list[tuple[Limits, list[float]]]:
    """The limits of an hour, with :func:`_recent`: of what counts, and of all files, since all are kept."""
    everything = replace(limits, hourly=_UNCOUNTED * limits.hourly, counted=None)
    wanted = [limits] if limits.counted is None else [limits, everything]
    return [(one, _recent(session, table, team, one, now)) for one in wanted]


def _recent(session: Session, table: type[Judged], team: Team, limits: Limits, now: float) -> list[float]:
    """When the team has submitted what counts within the hour before `now`, latest first, as many as it may in an hour.

    Times to come, of a clock that has been put back since, do not count: the team would have to wait for them.
    """
    at = table.received_at
    counted = true() if limits.counted is None else limits.counted
    query = select(at).where(table.team_id == team.id, at > now - HOUR, at <= now, counted)
    return list(session.scalars(query.order_by(at.desc()).limit(limits.hourly)))
