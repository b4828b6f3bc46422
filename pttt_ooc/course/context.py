"""What all requests share: the settings, the files, the database, and what is known of the game."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from anyio import CapacityLimiter, to_thread

from pttt_ooc.course import teams
from pttt_ooc.course.caching import Cache
from pttt_ooc.course.database import Database
from pttt_ooc.course.kinds.strategies.value import GameValue, stored_value
from pttt_ooc.course.models import Submission, Team
from pttt_ooc.course.settings import Settings, read_settings
from pttt_ooc.course.storage import Incoming, Storage
from pttt_ooc.course.submissions import Quota, accept, check_limits, quota
from pttt_ooc.course.uploads_in_flight import InFlight
from pttt_ooc.web.parts import state_of

log = logging.getLogger("pttt.grader.web")


@dataclass
class Grader:
    """The web server's side of a grader."""

    settings: Settings
    storage: Storage
    database: Database
    secret: bytes
    cache: Cache = field(default_factory=Cache)
    taking: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(2))
    in_flight: InFlight = field(init=False)

    def __post_init__(self) -> None:
        self.in_flight = InFlight(self.storage)

    @classmethod
    def open(cls, data: Path) -> Grader:
        """The grader in `data`.

        Raises
        ------
        PtttError
            If it cannot be opened.
        """
        settings, storage = read_settings(data), Storage(data)
        database = Database.of(data, settings.database_url, settings.game)
        teams.add_baseline(database)
        return cls(settings, storage, database, storage.secret())

    def game_value(self) -> GameValue | None:
        """The value of the game, once it is known."""
        return stored_value(self.database)

    def check_limits(self, team: Team, ahead: int) -> None:
        """Raise a LimitError if the team may not submit now, while `ahead` other files of it are being received."""
        with self.database.reading() as session:
            check_limits(session, team, self.settings, ahead)

    def quota(self, team: Team) -> Quota:
        """What the team may submit now."""
        with self.database.reading() as session:
            return quota(session, team, self.settings)

    async def submit(self, team: Team, player: int, incoming: Incoming) -> tuple[Submission, bool]:
        """As :meth:`take`, in a thread; only a few run at the same time, as the disk is the limit."""
        return await to_thread.run_sync(self.take, team, player, incoming, limiter=self.taking)

    def take(self, team: Team, player: int, incoming: Incoming) -> tuple[Submission, bool]:
        """Make a submission of a file that has come in, which the worker then finds; errors as :func:`accept`."""
        submission, new = accept(self.database, self.settings, team, player, incoming)
        facts = {"submission": submission.id, "team": team.name, "player": player, "bytes": incoming.size, "new": new}
        log.info("received", extra=facts)
        return submission, new


UsedGrader = Annotated[Grader, state_of("grader")]
