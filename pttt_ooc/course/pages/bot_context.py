"""What all requests of a league share, and how bots are taken in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fastapi import HTTPException

from pttt_ooc.course.bots.league import League, league_directory
from pttt_ooc.course.bots.submissions import Bot, Bots
from pttt_ooc.course.data.assignments import check_open, settle_assignments
from pttt_ooc.course.data.models import Team
from pttt_ooc.course.data.rules import BOTS
from pttt_ooc.course.data.storage import Incoming
from pttt_ooc.course.pages.context import Course
from pttt_ooc.course.pages.uploads import Fields, Intake

_NAME = re.compile(r"[A-Za-z]\w{0,59}\.py", re.ASCII)


@dataclass
class OpenLeague:
    """The web server's side of a league; `name` None: the course's own, else a further one."""

    course: Course
    files: League
    bots: Bots
    name: str | None = None

    @classmethod
    def of(cls, course: Course, name: str | None = None) -> OpenLeague:
        """The league beside a course, or a further one; it must be there."""
        files = League(league_directory(course.storage.data, name))
        settle_assignments(course.database, course.storage.data)
        return cls(course, files, Bots(files), name)

    @property
    def base(self) -> str:
        """The beginning of its addresses."""
        return "/extreme" if self.name is None else f"/leagues/{self.name}"

    @property
    def intake(self) -> Intake[Bot]:
        """How bots are taken in."""
        return Intake(self.files.settings.largest_bytes, "the field file", self.check_limits, self.take)

    def check_limits(self, team: Team, ahead: int, at: float) -> None:
        """See :meth:`Bots.check_limits`; an assignment must take bots at `at`."""
        self._check_open(team, at)
        self.bots.check_limits(team, ahead)

    def _check_open(self, team: Team, begun_at: float) -> None:
        with self.course.database.reading() as session:
            check_open(session, BOTS, team, begun_at, further=self.name)

    def take(self, team: Team, fields: Fields, incoming: Incoming) -> tuple[Bot, bool]:
        """Keep a bot's file in the database; 400 if its name cannot be one of a bot."""
        try:
            self._check_open(team, incoming.begun_at)
            return self.bots.hand_in(team, _own_name(incoming.given), incoming.content(), incoming.begun_at)
        finally:
            incoming.discard()


def _own_name(given: str) -> str:
    name = re.split(r"[/\\]", given)[-1]
    if not _NAME.fullmatch(name):
        raise HTTPException(400, "A bot is a file whose name is like team39.py, in letters, digits and underscores.")
    return name
