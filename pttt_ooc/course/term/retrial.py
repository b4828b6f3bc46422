"""Judging strategies again, to tell what would change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from pttt_ooc.course.kinds.strategies.assessor import Assessor, open_assessor
from pttt_ooc.course.kinds.strategies.validation import Refusal
from pttt_ooc.course.models import ACCEPTED, REJECTED, Fact, Submission
from pttt_ooc.course.settings import read_settings
from pttt_ooc.course.storage import Storage
from pttt_ooc.course.term.gradebook import settle
from pttt_ooc.course.term.rejudging import judged, verdict_of
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


def rehearse(
    session: Session,
    data: Path,
    numbers: Sequence[int],
    assess: OpenAssessor = opened,
    on_progress: Callable[[int, int], None] = lambda count, total: None,
) -> list[Retrial]:
    """Judge submissions here, and write verdicts and grades in a transaction that the caller takes back.

    Parameters
    ----------
    on_progress
        Called before each submission with the number of those that are judged, and of all.

    Raises
    ------
    GraderError
        If there is no such submission, or it has no verdict yet.
    """
    rows, told = judged(session, numbers), []
    storage = Storage(data)
    with assess(data, session) as assessor:
        for count, row in enumerate(rows):
            on_progress(count, len(rows))
            before = verdict_of(row)
            enter_verdict(row, verdict_now(assessor, storage, row))
            told.append(Retrial(row.id, before, verdict_of(row)))
    session.flush()
    settle(session, data, "rehearsal")
    return told


def verdict_now(
    assessor: Assessor, storage: Storage, row: Submission, on_progress: Callable[[float], None] = lambda share: None
) -> dict[str, Any]:
    """The verdict that a submission would get now, as columns.

    Raises
    ------
    OSError, StoreError
        If its file is lost.
    """
    try:
        strategy = assessor.read(storage.upload(row.file), row.player, on_progress)
        found = assessor.assess(strategy, on_progress)
    except Refusal as refusal:
        return {
            "status": REJECTED,
            "note": refusal.note[:500],
            "detail": refusal.detail[:1000],
            "exploitability": None,
        }
    figure = found.exploitability(assessor.game_value)
    return {"status": ACCEPTED, "note": "", "detail": "", "exploitability": figure}


def enter_verdict(row: Submission, verdict: Mapping[str, Any]) -> None:
    """Write a verdict into a row, in a transaction that is taken back."""
    for name, value in verdict.items():
        setattr(row, name, value)
