"""What all requests share: settings, files, database, the value of the game, who asks, and who may see a verdict."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

from anyio import CapacityLimiter
from fastapi import Depends, HTTPException, Request
from fastapi import Path as InPath
from fastapi.responses import FileResponse
from sqlalchemy import ColumnElement, true
from sqlalchemy.orm import Session

from pttt_ooc.course.data import standings
from pttt_ooc.course.data.assignments import further_games, settle_assignments, veil
from pttt_ooc.course.data.caching import Cache
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.game_directory import directory_of, make_game, mirror_teams
from pttt_ooc.course.data.limits import InFlight, Limits, Quota, quota
from pttt_ooc.course.data.memberships import was_brought_in
from pttt_ooc.course.data.models import Judged, Submission, Team
from pttt_ooc.course.data.settings import CourseSettings, read_settings
from pttt_ooc.course.data.standings import Comparison, Standing, is_shown
from pttt_ooc.course.data.storage import Handout, Storage, find_handout
from pttt_ooc.course.data.term_tables import Pair
from pttt_ooc.course.people import teams
from pttt_ooc.course.people.accounts import Staff
from pttt_ooc.course.strategies.figures import scale
from pttt_ooc.course.strategies.game_facts import GameValue, stored_value
from pttt_ooc.disk.permissions import private
from pttt_ooc.pipeline.files.zipped_array import other_player
from pttt_ooc.site.service.pulse import read_sign
from pttt_ooc.site.shell.accounts import bearer, signed_in
from pttt_ooc.site.shell.parts import state_of
from pttt_ooc.site.shell.shell import Account

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
        """The `Course` of a further game, with its own directory; raises what :meth:`open` raises."""
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

        Its figures, ranks and teams are current; other columns of its submissions may be older.
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
        """How many strategies a team may submit; a file for the wrong player does not count."""
        counted = Submission.detail.not_in([other_player(player) for player in (0, 1)])
        s = self.settings
        hourly, daily = s.submissions_per_hour, s.submissions_per_day
        return Limits("submissions", hourly, s.waiting_per_team, counted, daily, partial(was_brought_in, Submission))

    def quota(self, session: Session, team: Team) -> Quota:
        """How many strategies the team may submit now."""
        return quota(session, Submission, team, self.limits)


UsedCourse = Annotated[Course, state_of("course")]


def game_course(course: Course, game: str) -> Course:
    """The `Course` of a further game, with the course's teams; 404 if no assignment names the game."""
    with course.database.reading() as session:
        known = further_games(session)
    if game not in known:
        raise HTTPException(404, f"No assignment of this course has the further game {game}.")
    own = course.of_game(game)
    mirror_teams(course.database, own.database)
    return own


def _team_of_token(account: Annotated[Account, Depends(bearer)]) -> Team:
    if not isinstance(account, Team):
        raise HTTPException(403, "This is for teams; your token is an instructor’s or assistant’s.")
    return account


def _team_signed_in(request: Request, account: Annotated[Account | None, Depends(signed_in)]) -> Team | None:
    request.state.account = account
    return account if isinstance(account, Team) else None


def needed_team(request: Request, team: Team | None, otherwise: str) -> Team:
    """The team that is signed in; 401 with the sentence `otherwise` if nobody is, 403 for a person without a team."""
    if team is None and reader(request, team) is None:
        raise HTTPException(401, otherwise)
    if team is None:
        raise HTTPException(403, "This is for teams, and you are in none.")
    return team


Bearer = Annotated[Team, Depends(_team_of_token)]
"""The team of a program's token."""

Signed = Annotated[Team | None, Depends(_team_signed_in)]
"""The team that is signed in; None also for people with rights."""

Number = Annotated[int, InPath(ge=1, lt=1 << 31)]


def reader(request: Request, team: Team | None) -> Account | None:
    """Who is signed in, for the head of the page: a team, or a person without one."""
    account: Account | None = team or getattr(request.state, "account", None)
    return account


def no_team(named: int | str) -> HTTPException:
    """The error for an address that names an unknown team."""
    return HTTPException(404, f"There is no team {named}.")


def shown_to(session: Session, account: Account | None) -> ColumnElement[bool]:
    """The condition for a submission to be shown to somebody; people with rights see all of them."""
    if isinstance(account, Staff):
        return true()
    return is_shown(veil(session), account.id if account else None)


def is_inside(found: Judged, account: Account | None) -> bool:
    """Whether somebody is in a submission's team, or has rights."""
    return isinstance(account, Staff) or (account is not None and account.id == found.team_id)


def check_shown(session: Session, found: Judged, account: Account | None) -> None:
    """Raise 404 if a submission is hidden from somebody, by a ruling or until the standings are unveiled."""
    until, own = veil(session), is_inside(found, account)
    if found.ruling and not own:
        raise HTTPException(404, f"There is no submission {found.id}.")
    if until is not None and found.counts_from > until and not own:
        raise HTTPException(404, f"Submission {found.id} is shown to its own team only until standings are unveiled.")


# ---------------------------------------------------------------------------------------------
# Verdicts: shown to the submission's team, and to people with rights


Row = TypeVar("Row", bound=Judged | Pair)


def own_or_any(found: Row | None, account: Account | None, what: str) -> Row:
    """A submission, for its team or people with rights; another team's gives the same 404 as a missing one.

    Parameters
    ----------
    what
        The submission in words, such as "agent 3 of yours in rows".
    """
    own = found is not None and account is not None and account.id == found.team_id
    if found is None or not (own or isinstance(account, Staff)):
        raise HTTPException(404, f"There is no {what}.")
    return found


def under_way(row: Judged, place: int | None, pulse: Path) -> dict[str, Any]:
    """How far a judgement is, for its page: ``place`` in the queue, the worker's ``sign`` of life, and a ``stamp``."""
    sign = read_sign(pulse)
    stamp = f"{row.changed_at:.3f}-{place}-{row.ruling}-{sign.alive}-{sign.waits_for}"
    return {"place": place, "sign": sign, "stamp": stamp}


def scale_of(row: Submission, compared: Comparison | None) -> dict[str, Any]:
    """The figure of a strategy beside others, for its page: ``compared``, and ``scale``; None without a figure."""
    if compared is None or row.exploitability is None:
        return {"compared": None, "scale": None}
    ahead = compared.ahead.exploitability if compared.ahead else None
    return {"compared": compared, "scale": scale(row.exploitability, compared.uniform, ahead)}


def as_handed_in(file: Path, what: str, name: str, media_type: str) -> FileResponse:
    """A file as it was handed in; 404 if it is lost."""
    if not file.is_file():
        raise HTTPException(404, f"The file of {what} is lost; tell the instructors.")
    return FileResponse(file, media_type=media_type, filename=name)
