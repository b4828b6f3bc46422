"""Judging strategies again: what would change, and putting them back into the queue."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import delete, or_, select
from sqlalchemy.orm import Session

from pttt_ooc.course.kinds.strategies.assessor import Assessor, open_assessor
from pttt_ooc.course.kinds.strategies.validation import Refusal
from pttt_ooc.course.models import ACCEPTED, BASELINE, QUEUED, REJECTED, Entry, Fact, Submission
from pttt_ooc.course.settings import read_settings
from pttt_ooc.course.standings import touch
from pttt_ooc.course.storage import Storage
from pttt_ooc.course.term.audit import note
from pttt_ooc.course.term.gradebook import settle
from pttt_ooc.disk.resources import cores
from pttt_ooc.errors import GraderError

OpenAssessor = Callable[[Path, Session], AbstractContextManager[Assessor]]


@dataclass(frozen=True)
class Retrial:
    """The verdicts on a submission: the present one, and the one that it would get."""

    number: int
    before: str
    after: str

    def __str__(self) -> str:
        """A line for people."""
        same = self.before == self.after
        return f"{'=' if same else '~'} submission {self.number}: {self.before}{'' if same else f' → {self.after}'}"


@contextmanager
def opened(data: Path, session: Session) -> Iterator[Assessor]:
    """The assessor of the course in `data`, as the worker has it."""
    settings, fact = read_settings(data), session.get(Fact, "value")
    if fact is None:
        raise GraderError("The value of the game is not known yet; start `pttt serve` once.")
    threads = settings.threads or cores()
    with open_assessor(settings, Storage(data), (fact.value[0], fact.value[1]), threads) as assessor:
        yield assessor


def rehearse(session: Session, data: Path, numbers: Sequence[int], assess: OpenAssessor = opened) -> list[Retrial]:
    """Judge submissions here, and write verdicts and grades in a transaction that the caller takes back.

    Raises
    ------
    GraderError
        If there is no such submission, or it has no verdict yet.
    """
    rows, told = _judged(session, numbers), []
    storage = Storage(data)
    with assess(data, session) as assessor:
        for row in rows:
            before = _verdict(row)
            try:
                strategy = assessor.read(storage.upload(row.file), row.player, lambda share: None)
                found = assessor.assess(strategy, lambda share: None)
                row.status, row.note, row.detail = ACCEPTED, "", ""
                row.exploitability = found.exploitability(assessor.game_value)
            except Refusal as refusal:
                row.status, row.note, row.detail = REJECTED, refusal.note[:500], refusal.detail[:1000]
                row.exploitability = None
            told.append(Retrial(row.id, before, _verdict(row)))
    session.flush()
    settle(session, data, "rehearsal")
    return told


def _judged(session: Session, numbers: Iterable[int]) -> list[Submission]:
    found = []
    for number in dict.fromkeys(numbers):
        row = session.get(Submission, number)
        if row is None:
            raise GraderError(f"There is no submission {number}.")
        if row.unfinished:
            raise GraderError(f"Submission {number} has no verdict yet; it will be judged anyway.")
        found.append(row)
    return found


def _verdict(row: Submission) -> str:
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
    wanted = {row.id: row for row in _judged(session, numbers)}
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
    return sorted(wanted)
