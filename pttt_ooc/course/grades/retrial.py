"""Judging submissions again, here and now, to tell what would change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from pttt_ooc.course.data.models import Fact
from pttt_ooc.course.data.rules import AGENTS, STRATEGIES
from pttt_ooc.course.data.settings import read_settings
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.course.grades.gradebook import settle
from pttt_ooc.course.grades.rehearsals import JudgeRow
from pttt_ooc.course.grades.rejudging import NOUNS, enter_verdict, find_judged, verdict_of
from pttt_ooc.disk.resources import cores
from pttt_ooc.errors import CourseError

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
    from pttt_ooc.course.strategies.verdicts import verdict_on

    settings, fact, storage = read_settings(data), session.get(Fact, "value"), Storage(data)
    if fact is None:
        raise CourseError("The value of the game is not known yet; start `pttt serve` once.")
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
        Opens what judges; None: as the worker of the kind does.
    on_progress
        Called before each submission with the number of those that are judged, and of all.

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
