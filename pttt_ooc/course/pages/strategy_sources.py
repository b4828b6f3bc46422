"""The strategies that somebody may look at: the team's own, the baseline, and the solution, unless it is hidden."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from sqlalchemy import select

from pttt_ooc.course.data.models import ACCEPTED, Submission
from pttt_ooc.course.pages.context import Course
from pttt_ooc.course.people.accounts import Staff
from pttt_ooc.course.strategies import submissions
from pttt_ooc.course.strategies.game_facts import solution_store
from pttt_ooc.disk.files import digest
from pttt_ooc.site.explore.sources import SOLUTION, Source, uniform, with_run
from pttt_ooc.site.shell.shell import Account

_MOST = 100  # most submissions of a team, the latest first


class SubmittedSources:
    """The :class:`~pttt_ooc.site.explore.sources.Sources` of a course.

    Parameters
    ----------
    shown
        Returns whether students see the solution.
    """

    def __init__(self, course: Course, shown: Callable[[], bool]) -> None:
        self._course, self._shown = course, shown

    @property
    def course(self) -> Course:
        """The course that has the submissions."""
        return self._course

    def list_sources(self, account: Account | None) -> Sequence[Source]:
        """The solution, the baseline, and the accepted submissions of the team that is signed in.

        Students see the solution if `course.yaml` says so, people with rights always.
        """
        seen = isinstance(account, Staff) or self._shown()
        solution = [self.solution] if seen and self.place.is_dir() else []
        return [*solution, uniform(), *(self._own(account) if account else [])]

    def open_to_play(self) -> Sequence[Source]:
        """What everybody may play against: the solution if it is shown, the baseline, and opened submissions."""
        with self._course.database.reading() as session:
            found = submissions.list_open(session)
        opened = [replace(self.source(s), label=f"{s.team.name}, submission {s.id}") for s in found]
        return [*self.list_sources(None), *opened]

    @property
    def place(self) -> Path:
        """The store of the solution, which may be missing."""
        return solution_store(self._course.settings, self._course.storage)

    @property
    def hidden(self) -> bool:
        """Whether students do not see the solution."""
        return not self._shown()

    @cached_property
    def solution(self) -> Source:
        """The course's solution, which must exist; its content is read once."""
        return with_run(Source(SOLUTION, "Solution", str(self.place.parent.absolute()), digest(self.place)))

    def _own(self, account: Account) -> list[Source]:
        chosen = select(Submission).where(Submission.team_id == account.id, Submission.status == ACCEPTED)
        with self._course.database.reading() as session:
            found = list(session.scalars(chosen.order_by(Submission.id.desc()).limit(_MOST)))
        return [self.source(submission) for submission in found]

    def source(self, submission: Submission) -> Source:
        """An accepted submission as a source."""
        best = ", your best" if submission.best else ""
        label = f"Submission {submission.id} (player {submission.player}{best})"
        path = str(self._course.storage.upload(submission.file).absolute())
        order = self._orders[submission.player]
        content = submission.digest if order is None else f"{submission.digest}-{order[1]}"
        infosets = None if order is None else order[0]
        return Source(f"s{submission.id}", label, path, content, (submission.player,), infosets=infosets)

    @cached_property
    def _orders(self) -> list[tuple[str, str] | None]:
        """The course's own lists of infosets, each with the digest of its content, which is read once."""
        orders = self._course.settings.orders(self._course.storage.data)
        return [None if file is None else (str(file.absolute()), digest(file)) for file in orders]
