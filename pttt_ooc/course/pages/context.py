"""The state that all requests share: settings, files, database, and the value of the game."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated

from anyio import CapacityLimiter
from sqlalchemy.orm import Session

from pttt_ooc.course.data import standings
from pttt_ooc.course.data.assignments import check_open, settle_assignments, veil
from pttt_ooc.course.data.caching import Cache
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.game_directory import directory_of, make_game
from pttt_ooc.course.data.limits import InFlight, Limits, Quota, check_limits, quota
from pttt_ooc.course.data.memberships import was_brought_in
from pttt_ooc.course.data.models import Submission, Team
from pttt_ooc.course.data.rules import STRATEGIES
from pttt_ooc.course.data.settings import CourseSettings, read_settings
from pttt_ooc.course.data.standings import Standing
from pttt_ooc.course.data.storage import Handout, Incoming, Storage, find_handout
from pttt_ooc.course.people import teams
from pttt_ooc.course.strategies.submissions import accept
from pttt_ooc.course.strategies.value import GameValue, stored_value
from pttt_ooc.disk.rights import private
from pttt_ooc.pipeline.files.zipped_array import other_player
from pttt_ooc.site.shell.parts import state_of

log = logging.getLogger("pttt.course.web")
HERE = Path(__file__).parent
"""The directory of the templates and of what the pages load."""


@dataclass
class Course:
    """The web server's side of a course.

    Attributes
    ----------
    taking
        Limits how many files are stored at the same time, as the disk is the bottleneck.
    """

    settings: CourseSettings
    storage: Storage
    database: Database
    secret: bytes
    cache: Cache = field(default_factory=Cache)
    taking: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(2))
    in_flight: InFlight = field(init=False)
    _further: dict[str, Course] = field(default_factory=dict)
    _opening: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.in_flight = InFlight(self.storage)

    @classmethod
    def open(cls, data: Path) -> Course:
        """The course in `data`.

        Raises
        ------
        PtttError
            If it cannot be opened.
        """
        settings, storage = read_settings(data), Storage(data)
        database = Database.of(data, settings.database_url, settings.game)
        teams.add_baseline(database)
        settle_assignments(database, data)
        return cls(settings, storage, database, storage.secret())

    def of_game(self, game: str) -> Course:
        """The side of a further game, with its own directory; raises what :meth:`open` raises."""
        with self._opening:
            if game not in self._further:
                with private():
                    make_game(self.database, self.storage.data, game)
                    self._further[game] = Course.open(directory_of(self.storage.data, game))
            return self._further[game]

    def game_value(self) -> GameValue | None:
        """The value of the game, once it is known."""
        return stored_value(self.database)

    def leaderboard(self, session: Session) -> list[Standing]:
        """The public leaderboard as it is now; see :func:`~pttt_ooc.course.data.standings.leaderboard`.

        Its figures, ranks and teams are of now; other columns of its submissions may be of an earlier moment.
        """

        def make() -> dict[str, list[Standing]]:
            return {"rows": standings.leaderboard(session, until=veil(session))}

        rows: list[Standing] = self.cache.current("leaderboard", standings.revision(session), make)["rows"]
        return rows

    @property
    def handout(self) -> Handout | None:
        """The starter kit, once it is made."""
        return find_handout(self.storage.kit)

    @property
    def limits(self) -> Limits:
        """How many strategies a team may submit; a file of the other player does not count."""
        counted = Submission.detail.not_in([other_player(player) for player in (0, 1)])
        s = self.settings
        hourly, daily = s.submissions_per_hour, s.submissions_per_day
        return Limits("submissions", hourly, s.waiting_per_team, counted, daily, partial(was_brought_in, Submission))

    def check_limits(self, team: Team, in_flight: int, at: float) -> None:
        """See ``check_limits``; for strategies, which an assignment must take at `at`."""
        with self.database.reading() as session:
            check_open(session, STRATEGIES, team, at)
            check_limits(session, Submission, team, self.limits, in_flight)

    def quota(self, session: Session, team: Team) -> Quota:
        """How many strategies the team may submit now."""
        return quota(session, Submission, team, self.limits)

    def take(self, team: Team, player: int, incoming: Incoming) -> tuple[Submission, bool]:
        """Make a submission of a received strategy; raises what :func:`accept` raises."""
        submission, new = accept(self.database, self.limits, team, player, incoming)
        facts = {"submission": submission.id, "team": team.name, "player": player, "bytes": incoming.size, "new": new}
        log.info("received", extra=facts)
        return submission, new


UsedCourse = Annotated[Course, state_of("course")]
