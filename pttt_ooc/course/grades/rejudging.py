"""Submissions that are judged again, strategies and agents: by the worker, as a dry run by the worker, or here and now.

No numerics are imported unless something is judged here.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from sqlalchemy import delete, func, or_, select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.agents_tables import Agent, AgentMatch
from pttt_ooc.course.data.audit import note
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.models import (
    ACCEPTED,
    BASELINE,
    OF_STUDENTS,
    QUEUED,
    REJECTED,
    UNFINISHED,
    Entry,
    Fact,
    Submission,
    Team,
)
from pttt_ooc.course.data.rules import AGENTS, STRATEGIES
from pttt_ooc.course.data.settings import read_settings
from pttt_ooc.course.data.standings import touch
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.course.data.term_tables import Rejudgement
from pttt_ooc.course.data.worker_process import Grading
from pttt_ooc.course.grades.exports import lines
from pttt_ooc.course.grades.gradebook import settle, settle_if_graded
from pttt_ooc.disk.resources import cores
from pttt_ooc.errors import CourseError, PtttError

Row: TypeAlias = Submission | Agent
_TABLES: Mapping[str, type[Row]] = {STRATEGIES: Submission, AGENTS: Agent}
NOUNS: Mapping[str, str] = {STRATEGIES: "submission", AGENTS: "agent"}
"""What a submission of each kind that can be judged again is called, before its number."""


def table_of(kind: str) -> type[Row]:
    """The table of a kind; CourseError if the kind cannot be judged again."""
    if kind not in _TABLES:
        raise CourseError(f"Only {' and '.join(_TABLES)} are judged again, not {kind[:40]}.")
    return _TABLES[kind]


def row_of(session: Session, kind: str, number: int) -> Row | None:
    """A submission; None if there is none; CourseError if its kind cannot be judged again."""
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

    With an accepted strategy, all accepted ones of its team for the same player are judged again: until they have
    verdicts, the team has no best, and then the right one, whatever has changed.  An agent's matches against others are
    played again.

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
    """Let the worker tell what would change, once its queue is empty; see :class:`Rehearsals`.

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
    """The numbers of all submissions of a kind with a verdict, but the baseline's; of one team, if it is named."""
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


log = logging.getLogger("pttt.course.worker")

JudgeRow = Callable[[Any], dict[str, Any]]
"""Returns the verdict that a submission would get now, as columns; OSError or PtttError if it cannot be judged."""


class Rehearsals:
    """The dry runs of a kind that are asked for.

    Parameters
    ----------
    data
        The directory of the course.
    judge
        May raise Stopped: the submission is judged again later.
    """

    def __init__(self, database: Database, data: Path, kind: str, judge: JudgeRow) -> None:
        self._database, self._data, self._kind, self._judge = database, data, kind, judge

    def step(self) -> bool:
        """Judge the next submission of the oldest dry run, or end it; returns whether there was one."""
        with self._database.reading() as session:
            waiting = select(Rejudgement).where(Rejudgement.dry_run, Rejudgement.finished_at.is_(None))
            found = session.scalar(waiting.where(Rejudgement.kind == self._kind).order_by(Rejudgement.id).limit(1))
            number = next(iter(found.numbers[len(found.verdicts) :]), None) if found else None
            row = row_of(session, self._kind, number) if number is not None else None
        if found is None:
            return False
        if number is None:
            self._end(found.id)
        else:
            self._enter(found.id, self._entry(number, row))
        return True

    def _entry(self, number: int, row: Row | None) -> dict[str, object]:
        """A submission's verdicts before and after, in words, and the new one as columns; None if there is none."""
        if row is None or row.unfinished:
            why = "removed meanwhile" if row is None else "it is being judged"
            return {"number": number, "before": why, "after": why, "verdict": None}
        before = verdict_of(row)
        try:
            verdict = self._judge(row)
        except (OSError, PtttError) as error:
            return {"number": number, "before": before, "after": f"it cannot be judged: {error}"[:300], "verdict": None}
        enter_verdict(row, verdict)  # the row is in no session any more
        return {"number": number, "before": before, "after": verdict_of(row), "verdict": verdict}

    def _enter(self, number: int, entry: dict[str, object]) -> None:
        with self._database.writing() as session:
            found = session.get(Rejudgement, number)
            if found is not None and found.finished_at is None:
                found.verdicts = [*found.verdicts, entry]

    def _end(self, number: int) -> None:
        trouble, grades = "", list[str]()
        with self._database.reading() as session:
            try:
                grades = self._grades(session, number)
            except CourseError as error:
                trouble = str(error)[:500]
            session.rollback()
        with self._database.writing() as session:
            found = session.get(Rejudgement, number)
            if found is not None:
                found.grades, found.trouble, found.finished_at = grades, trouble, time.time()
        log.info("a dry run is over", extra={"rejudgement": number, "grades": len(grades)})

    def _grades(self, session: Session, number: int) -> list[str]:
        """The grades that would change, found in a transaction that is taken back."""
        found = session.get(Rejudgement, number)
        before = points_now(session)
        for entry in found.verdicts if found else []:
            row = row_of(session, self._kind, entry["number"])
            if row is not None and not row.unfinished and entry["verdict"] is not None:
                enter_verdict(row, entry["verdict"])
        session.flush()
        settle(session, self._data, "rehearsal")
        return changed_points(before, points_now(session))


def _rehearse(database: Database, data: Path, kind: str, judge: JudgeRow) -> Callable[[], bool]:
    return Rehearsals(database, data, kind, judge).step


GRADING = Grading(settle_if_graded, _rehearse)
"""What workers need from the grades."""


OpenJudge = Callable[[Path, Session], AbstractContextManager[JudgeRow]]


@dataclass(frozen=True)
class Retrial:
    """The verdicts on a submission: the present one, and the one that it would get."""

    number: int
    before: str
    after: str
    noun: str = NOUNS[STRATEGIES]

    def __str__(self) -> str:
        """A line for people."""
        same = self.before == self.after
        return f"{'=' if same else '~'} {self.noun} {self.number}: {self.before}{'' if same else f' → {self.after}'}"


@contextmanager
def _strategies(data: Path, session: Session) -> Iterator[JudgeRow]:
    """Judges strategies as the worker of the course in `data` does."""
    from pttt_ooc.course.strategies.assessor import open_assessor
    from pttt_ooc.course.strategies.judging import verdict_on

    settings, fact, storage = read_settings(data), session.get(Fact, "value"), Storage(data)
    if fact is None:
        raise CourseError("The value of the game is not known yet; start `pttt course serve` once.")
    threads = settings.threads or cores()
    with open_assessor(settings, storage, (fact.value[0], fact.value[1]), threads) as assessor:
        yield partial(verdict_on, assessor, storage)


@contextmanager
def _agents(data: Path, session: Session) -> Iterator[JudgeRow]:
    """Judges agents as the worker of agents does."""
    from pttt_ooc.course.agents.verdicts import judge_of
    from pttt_ooc.extras import check_extra

    check_extra("extreme", "The kind agents")
    check_extra("arena", "The kind agents")
    yield judge_of(session, Storage(data), threading.Event())


_OPENED = {STRATEGIES: _strategies, AGENTS: _agents}


def rehearse(
    session: Session,
    data: Path,
    numbers: Sequence[int],
    kind: str = STRATEGIES,
    opened: OpenJudge | None = None,
    on_progress: Callable[[int, int], None] = lambda count, total: None,
) -> list[Retrial]:
    """Judge submissions here, and write verdicts and grades in a transaction that the caller takes back.

    Parameters
    ----------
    opened
        Opens the function that judges; None: the one of the kind's worker.
    on_progress
        Called before each submission: how many are judged, and how many there are.

    Raises
    ------
    CourseError
        If there is no such submission, or it has no verdict yet, or its file is lost.
    """
    rows, told = find_judged(session, numbers, kind), []
    with (opened or _OPENED[kind])(data, session) as judge:
        for count, row in enumerate(rows):
            on_progress(count, len(rows))
            before = verdict_of(row)
            enter_verdict(row, _verdict(judge, row, NOUNS[kind]))
            told.append(Retrial(row.id, before, verdict_of(row), NOUNS[kind]))
    session.flush()
    settle(session, data, "rehearsal")
    return told


def _verdict(judge: JudgeRow, row: Any, noun: str) -> dict[str, Any]:
    try:
        return judge(row)
    except OSError as error:
        raise CourseError(f"The file of {noun} {row.id} cannot be read: {error}.") from None
