"""Submissions that are judged again, strategies and agents: putting them back into the queue, asking for a dry run.

No numerics: the worker of each kind judges.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from sqlalchemy import delete, func, or_, select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.agents_tables import Agent, AgentMatch
from pttt_ooc.course.data.audit import note
from pttt_ooc.course.data.models import (
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
from pttt_ooc.course.data.rules import AGENTS, STRATEGIES
from pttt_ooc.course.data.standings import touch
from pttt_ooc.course.data.term_tables import Rejudgement
from pttt_ooc.course.grades.exports import lines
from pttt_ooc.errors import CourseError

Row: TypeAlias = Submission | Agent
_TABLES: Mapping[str, type[Row]] = {STRATEGIES: Submission, AGENTS: Agent}
NOUNS: Mapping[str, str] = {STRATEGIES: "submission", AGENTS: "agent"}
"""What one of a kind that is judged again is called, before its number."""


def table_of(kind: str) -> type[Row]:
    """The table of a kind; CourseError if it is not judged again."""
    if kind not in _TABLES:
        raise CourseError(f"Only {' and '.join(_TABLES)} are judged again, not {kind[:40]}.")
    return _TABLES[kind]


def row_of(session: Session, kind: str, number: int) -> Row | None:
    """A submission of a kind that is judged again; CourseError if the kind is not."""
    found: Row | None = session.get(table_of(kind), number)  # type: ignore[assignment]
    return found


def find_judged(session: Session, numbers: Iterable[int], kind: str = STRATEGIES) -> list[Row]:
    """The submissions with these numbers, each once; CourseError if one is missing or has no verdict yet."""
    found = []
    for number in dict.fromkeys(numbers):
        row = row_of(session, kind, number)
        if row is None:
            raise CourseError(f"There is no {NOUNS[kind]} {number}.")
        if row.unfinished:
            raise CourseError(f"{NOUNS[kind].capitalize()} {number} has no verdict yet; it will be judged anyway.")
        found.append(row)
    return found


def verdict_of(row: Row) -> str:
    """A verdict in words."""
    if isinstance(row, Agent):
        return f"accepted, {100 * (row.score or 0.0):.4g} %" if row.status == ACCEPTED else f"rejected: {row.message}"
    if row.status == ACCEPTED:
        return f"accepted, {row.exploitability:.9g}"
    return f"rejected: {row.note}"


def enter_verdict(row: Row, verdict: Mapping[str, Any]) -> None:
    """Write a verdict into a row, in a transaction that is taken back."""
    for name, value in verdict.items():
        setattr(row, name, value)


def begin_again(session: Session, numbers: Sequence[int], by: str, kind: str = STRATEGIES) -> list[int]:
    """Put submissions back into the queue; returns the numbers of all that are judged again.

    With an accepted strategy, all accepted ones of its team for the same player are: until they have verdicts, the team
    has no best, and then the right one, whatever has changed.  An agent's matches against others are played again.

    Raises
    ------
    CourseError
        If there is no such submission, or it has no verdict yet.
    """
    rows = find_judged(session, numbers, kind)
    agents = [row for row in rows if isinstance(row, Agent)]
    found = _agents_again(session, agents) if kind == AGENTS else _strategies_again(session, rows)
    note(session, by, "rejudge", **{"submissions" if kind == STRATEGIES else kind: found})
    _record(session, found, by, kind, dry_run=False)
    return found


def _strategies_again(session: Session, rows: Iterable[Row]) -> list[int]:
    wanted = {row.id: row for row in rows if isinstance(row, Submission)}
    for row in list(wanted.values()):
        if row.status == ACCEPTED:
            same = select(Submission).where(Submission.team_id == row.team_id, Submission.player == row.player)
            wanted |= {other.id: other for other in session.scalars(same.where(Submission.status == ACCEPTED))}
    if any(row.team.name == BASELINE for row in wanted.values()):
        raise CourseError(f"The strategies of {BASELINE} are the baseline, and are not judged again.")
    for number, row in wanted.items():
        row.status, row.attempts, row.progress, row.note, row.detail = QUEUED, 0, 0.0, "", ""
        row.best = row.improved = False
        row.exploitability = row.best_response = row.before = row.finished_at = None
        row.changed_at = time.time()
        session.execute(delete(Entry).where(or_(Entry.first_id == number, Entry.second_id == number)))
    touch(session)
    return sorted(wanted)


def _agents_again(session: Session, rows: Sequence[Agent]) -> list[int]:
    for row in rows:
        row.status, row.attempts, row.progress, row.score, row.results = QUEUED, 0, 0.0, None, []
        row.message = row.detail = row.printed = ""
        row.load_seconds = row.slowest = 0.0
        row.changed_at = time.time()
        of_it = or_(AgentMatch.first_id == row.id, AgentMatch.second_id == row.id)
        session.execute(delete(AgentMatch).where(of_it))
    return sorted(row.id for row in rows)


def _record(session: Session, numbers: Sequence[int], by: str, kind: str, dry_run: bool) -> Rejudgement:
    made = Rejudgement(at=time.time(), by=by, kind=kind, dry_run=dry_run, numbers=list(numbers), verdicts=[], grades=[])
    session.add(made)
    session.flush()
    return made


def ask_for_rehearsal(session: Session, numbers: Sequence[int], by: str, kind: str = STRATEGIES) -> Rejudgement:
    """Let the worker tell what would change, once its queue is empty; see :mod:`pttt_ooc.course.grades.rehearsals`.

    Raises
    ------
    CourseError
        If there is nothing to judge, or a submission is missing or has no verdict yet.
    """
    found = [row.id for row in find_judged(session, numbers, kind)]
    if not found:
        raise CourseError("No submission is chosen; choose at least one.")
    note(session, by, "rejudge, dry run", **{"submissions" if kind == STRATEGIES else kind: found})
    return _record(session, found, by, kind, dry_run=True)


def all_numbers(session: Session, team: int | None = None, kind: str = STRATEGIES) -> list[int]:
    """The numbers of all of a kind with a verdict, the baseline's apart; of one team, if it is named."""
    table = table_of(kind)
    query = select(table.id).join(Team, Team.id == table.team_id).where(*OF_STUDENTS)
    query = query.where(table.status.in_((ACCEPTED, REJECTED)))
    return list(session.scalars((query if team is None else query.where(Team.id == team)).order_by(table.id)))


def done_of(session: Session, one: Rejudgement) -> int:
    """How many submissions of a rejudgement have a verdict."""
    if one.dry_run:
        return len(one.verdicts)
    numbers, table = [int(number) for number in one.numbers], table_of(one.kind)
    unfinished = select(func.count()).where(table.id.in_(numbers), table.status.in_(UNFINISHED))
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
        "kind": one.kind,
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
    return [f"~ {name}: {_points_text(before.get(name))} → {_points_text(after.get(name))} points" for name in names]


def points_now(session: Session) -> dict[str, float | None]:
    """The points of each team and assignment, by their names."""
    return {f"{line.team.own_name}, {line.assignment.name}": line.points for line in lines(session)}


def _points_text(points: float | None) -> str:
    return "–" if points is None else f"{points:g}"
