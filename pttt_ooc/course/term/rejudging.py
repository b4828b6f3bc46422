"""Submissions of strategies that are judged again: putting them back into the queue, or asking for a dry run.

No numerics: the worker judges.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import delete, func, or_, select
from sqlalchemy.orm import Session

from pttt_ooc.course.models import (
    ACCEPTED,
    BASELINE,
    OF_STUDENTS,
    QUEUED,
    REJECTED,
    UNFINISHED,
    Entry,
    Submission,
    Team,
)
from pttt_ooc.course.standings import touch
from pttt_ooc.course.term.audit import note
from pttt_ooc.course.term.exports import lines
from pttt_ooc.course.term.tables import Rejudgement
from pttt_ooc.errors import GraderError


def judged(session: Session, numbers: Iterable[int]) -> list[Submission]:
    """The submissions with these numbers, each once; GraderError if one is missing or has no verdict yet."""
    found = []
    for number in dict.fromkeys(numbers):
        row = session.get(Submission, number)
        if row is None:
            raise GraderError(f"There is no submission {number}.")
        if row.unfinished:
            raise GraderError(f"Submission {number} has no verdict yet; it will be judged anyway.")
        found.append(row)
    return found


def verdict_of(row: Submission) -> str:
    """A verdict in words."""
    if row.status == ACCEPTED:
        return f"accepted, {row.exploitability:.9g}"
    return f"rejected: {row.note}"


def begin_again(session: Session, numbers: Sequence[int], by: str) -> list[int]:
    """Put submissions back into the queue; returns the numbers of all that are judged again.

    With an accepted one, all accepted ones of its team for the same player are: until they have verdicts, the team has
    no best, and then the right one, whatever has changed.

    Raises
    ------
    GraderError
        If there is no such submission, or it has no verdict yet.
    """
    wanted = {row.id: row for row in judged(session, numbers)}
    for row in list(wanted.values()):
        if row.status == ACCEPTED:
            same = select(Submission).where(Submission.team_id == row.team_id, Submission.player == row.player)
            wanted |= {other.id: other for other in session.scalars(same.where(Submission.status == ACCEPTED))}
    if any(row.team.name == BASELINE for row in wanted.values()):
        raise GraderError(f"The strategies of {BASELINE} are the baseline, and are not judged again.")
    for number, row in wanted.items():
        row.status, row.attempts, row.progress, row.note, row.detail = QUEUED, 0, 0.0, "", ""
        row.best = row.improved = False
        row.exploitability = row.best_response = row.before = row.finished_at = None
        row.changed_at = time.time()
        session.execute(delete(Entry).where(or_(Entry.first_id == number, Entry.second_id == number)))
    touch(session)
    note(session, by, "rejudge", submissions=sorted(wanted))
    _record(session, sorted(wanted), by, dry_run=False)
    return sorted(wanted)


def _record(session: Session, numbers: Sequence[int], by: str, dry_run: bool) -> Rejudgement:
    made = Rejudgement(at=time.time(), by=by, dry_run=dry_run, numbers=list(numbers), verdicts=[], grades=[])
    session.add(made)
    session.flush()
    return made


def ask_for_rehearsal(session: Session, numbers: Sequence[int], by: str) -> Rejudgement:
    """Let the worker tell what would change, once its queue is empty; see :mod:`pttt_ooc.course.term.rehearsals`.

    Raises
    ------
    GraderError
        If there is nothing to judge, or a submission is missing or has no verdict yet.
    """
    found = [row.id for row in judged(session, numbers)]
    if not found:
        raise GraderError("No submission is chosen; choose at least one.")
    note(session, by, "rejudge, dry run", submissions=found)
    return _record(session, found, by, dry_run=True)


def all_numbers(session: Session, team: int | None = None) -> list[int]:
    """The numbers of all strategies with a verdict, the baseline's apart; of one team, if it is named."""
    query = select(Submission.id).join(Team, Team.id == Submission.team_id).where(*OF_STUDENTS)
    query = query.where(Submission.status.in_((ACCEPTED, REJECTED)))
    return list(session.scalars((query if team is None else query.where(Team.id == team)).order_by(Submission.id)))


def done_of(session: Session, one: Rejudgement) -> int:
    """How many submissions of a rejudgement have a verdict."""
    if one.dry_run:
        return len(one.verdicts)
    numbers = [int(number) for number in one.numbers]
    unfinished = select(func.count()).where(Submission.id.in_(numbers), Submission.status.in_(UNFINISHED))
    return len(numbers) - (session.scalar(unfinished) or 0)


def rejudgements(session: Session, limit: int | None = None) -> list[Rejudgement]:
    """All rejudgements, the latest first."""
    return list(session.scalars(select(Rejudgement).order_by(Rejudgement.id.desc()).limit(limit)))


def facts_of(session: Session, one: Rejudgement) -> dict[str, Any]:
    """A rejudgement as JSON."""
    return {
        "number": one.id,
        "at": one.at,
        "by": one.by,
        "dry_run": one.dry_run,
        "done": done_of(session, one),
        "total": len(one.numbers),
        "submissions": one.numbers,
        "verdicts": [{name: entry[name] for name in ("number", "before", "after")} for entry in one.verdicts],
        "grades": one.grades,
        "trouble": one.trouble,
        "finished_at": one.finished_at,
    }


def changed_points(before: Mapping[str, float | None], after: Mapping[str, float | None]) -> list[str]:
    """A line for each grade that differs; see :func:`points_now`."""
    names = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
    return [f"~ {name}: {_shown(before.get(name))} → {_shown(after.get(name))} points" for name in names]


def points_now(session: Session) -> dict[str, float | None]:
    """The points of each team and assignment, by their names."""
    return {f"{line.team.own_name}, {line.assignment.name}": line.points for line in lines(session)}


def _shown(points: float | None) -> str:
    return "–" if points is None else f"{points:g}"
