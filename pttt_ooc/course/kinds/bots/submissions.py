"""The bots that teams have handed in: their files as they were, and the verdicts, in an SQLite database.

The file and its row are one commit: what was confirmed is never lost.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import LargeBinary, String, func, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, deferred, mapped_column

from pttt_ooc.course.kinds.bots.league import League
from pttt_ooc.extreme.walls import ExtremeError
from pttt_ooc.play.database import PlayDatabase
from pttt_ooc.play.database_file import kept_file

QUEUED, CHECKING, ACCEPTED, REJECTED = "Queued", "Checking", "Accepted", "Rejected"
UNFINISHED = (QUEUED, CHECKING)
ATTEMPTS = 3
UNCHECKED = "THE SERVER COULD NOT CHECK IT"
HOUR = 3600.0
MOST = 200
"""Bots of a team that are kept; the oldest ones that are not its latest accepted one are deleted."""


class HandInError(ExtremeError):
    """A team may not hand in a bot now.

    Parameters
    ----------
    status
        Of HTTP.
    wait
        Seconds after which it is worth another try; 0 if that is not known.
    """

    def __init__(self, sentence: str, status: int = 429, wait: float = 0) -> None:
        super().__init__(sentence)
        self.status, self.wait = status, wait


class Base(DeclarativeBase):
    """The tables."""


class Bot(Base):
    """One file and its verdict.

    Attributes
    ----------
    team_id
        Number of the grader's team.
    file, content
        Its name and what is in it, as it was handed in.
    digest
        SHA-256 of the content, in hex.
    attempts
        How often a check was begun.
    python, why
        What runs it, and what says so.
    changes
        What was converted.
    message, detail, printed, moves, load_seconds, slowest
        As of :class:`pttt_ooc.extreme.bot_check.Finding`.
    """

    __tablename__ = "bots"
    id: Mapped[int] = mapped_column(primary_key=True)
    team_id: Mapped[int] = mapped_column(index=True)
    file: Mapped[str] = mapped_column(String(64))
    content: Mapped[bytes] = deferred(mapped_column(LargeBinary))
    digest: Mapped[str] = mapped_column(String(64))
    size: Mapped[int]
    received_at: Mapped[float]
    changed_at: Mapped[float]
    status: Mapped[str] = mapped_column(String(10), default=QUEUED, index=True)
    attempts: Mapped[int] = mapped_column(default=0)
    python: Mapped[str] = mapped_column(String(20), default="")
    why: Mapped[str] = mapped_column(String(500), default="")
    changes: Mapped[str] = deferred(mapped_column(String, default=""))
    message: Mapped[str] = mapped_column(String(200), default="")
    detail: Mapped[str] = deferred(mapped_column(String, default=""))
    printed: Mapped[str] = deferred(mapped_column(String, default=""))
    moves: Mapped[int] = mapped_column(default=0)
    load_seconds: Mapped[float] = mapped_column(default=0.0)
    slowest: Mapped[float] = mapped_column(default=0.0)

    __table_args__ = ({"sqlite_autoincrement": True},)

    @property
    def unfinished(self) -> bool:
        """Whether there is no verdict yet."""
        return self.status in UNFINISHED


@dataclass(frozen=True)
class Whole:
    """A bot with the texts of its verdict."""

    bot: Bot
    changes: str
    detail: str
    printed: str


class Bots:
    """What was handed in to a league.

    Raises
    ------
    StoreError
        If the database cannot be used; so do the methods.
    """

    def __init__(self, league: League) -> None:
        self._settings = league.settings
        self._kept = PlayDatabase(kept_file(league.database, "Bots"), "bots", Base.metadata.sorted_tables)

    def close(self) -> None:
        """Close the database."""
        self._kept.close()

    # -----------------------------------------------------------------------------------------
    # Teams

    def check_limits(self, team: int, ahead: int = 0) -> None:
        """Raise a HandInError if a team may not hand in a bot now, while `ahead` other files of it are coming in."""
        with self._kept.reading() as session:
            self._check(session, team, ahead)

    def _check(self, session: Session, team: int, ahead: int) -> None:
        if self._settings.has_begun:
            raise HandInError("The tournament has begun; no bots are taken any more.", 409)
        waiting = session.scalar(select(func.count()).where(Bot.team_id == team, Bot.status.in_(UNFINISHED))) or 0
        if waiting + ahead >= self._settings.waiting_per_team:
            raise HandInError(
                f"{waiting + ahead} bots of yours still wait for a verdict; wait for one of them.", wait=5
            )
        now = time.time()
        since = now - HOUR  # what a clock that has been put back has yet to come to is older
        recent = Bot.received_at > since, Bot.received_at <= now
        times = session.scalars(select(Bot.received_at).where(Bot.team_id == team, *recent)).all()
        if len(times) + ahead >= self._settings.bots_per_hour:
            wait = min(times, default=now) - since
            raise HandInError(
                f"You have handed in {len(times) + ahead} bots within an hour, which is the limit; the next one can be "
                f"handed in in {int(wait // 60) + 1} min.",
                wait=wait,
            )

    def hand_in(self, team: int, file: str, content: bytes) -> tuple[Bot, bool]:
        """Keep a team's bot, which the worker then finds; returns it, and whether it is new.

        Raises
        ------
        HandInError
            If the team may not hand in one now.
        """
        digest, now = hashlib.sha256(content).hexdigest(), time.time()
        with self._kept.writing() as session:
            latest = session.scalar(select(Bot).where(Bot.team_id == team).order_by(Bot.id.desc()).limit(1))
            if latest is not None and (latest.digest, latest.file) == (digest, file) and not self._settings.has_begun:
                return latest, False
            self._check(session, team, 0)
            made = Bot(
                team_id=team,
                file=file,
                content=content,
                digest=digest,
                size=len(content),
                received_at=now,
                changed_at=now,
            )
            session.add(made)
            session.flush()
            self._forget(session, team)
        return made, True

    def _forget(self, session: Session, team: int) -> None:
        kept = session.scalars(select(Bot).where(Bot.team_id == team).order_by(Bot.id.desc()).offset(MOST)).all()
        entered = self._latest(session, team)
        for bot in kept:
            if entered is None or bot.id != entered.id:
                session.delete(bot)

    @staticmethod
    def _latest(session: Session, team: int) -> Bot | None:
        accepted = select(Bot).where(Bot.team_id == team, Bot.status == ACCEPTED)
        return session.scalar(accepted.order_by(Bot.id.desc()).limit(1))

    def entered(self, team: int) -> Bot | None:
        """A team's latest accepted bot, which would play."""
        with self._kept.reading() as session:
            return self._latest(session, team)

    def of_team(self, team: int) -> list[Bot]:
        """A team's bots, latest first."""
        with self._kept.reading() as session:
            return list(session.scalars(select(Bot).where(Bot.team_id == team).order_by(Bot.id.desc())))

    def whole(self, number: int, team: int) -> Whole | None:
        """A bot of this team with all that is said of it; None if the team has no such bot."""
        with self._kept.reading() as session:
            found = session.get(Bot, number)
            if found is None or found.team_id != team:
                return None
            return Whole(found, found.changes, found.detail, found.printed)

    def content(self, number: int, team: int) -> bytes | None:
        """The file of a bot of this team, as it was handed in."""
        with self._kept.reading() as session:
            found = session.get(Bot, number)
            return found.content if found is not None and found.team_id == team else None

    def place(self, bot: Bot) -> int:
        """The number of bots that are checked before this one."""
        with self._kept.reading() as session:
            line = [found.id for found in self._line(session)]
            return line.index(bot.id) if bot.id in line else 0

    @staticmethod
    def _line(session: Session) -> list[Bot]:
        """The bots without a verdict in the order in which they are checked: the teams take turns.

        Each team's first ones come first, and among these that of the team whose last check began longest ago.
        """
        waiting = session.scalars(select(Bot).where(Bot.status.in_(UNFINISHED)).order_by(Bot.id)).all()
        begun = select(Bot.team_id, func.max(Bot.changed_at)).where(Bot.status != QUEUED).group_by(Bot.team_id)
        served: dict[int, float] = {team: at for team, at in session.execute(begun)}
        turns: Counter[int] = Counter()
        order = []
        for bot in sorted(waiting, key=lambda bot: (bot.status != CHECKING, bot.id)):
            order.append((bot.status != CHECKING, turns[bot.team_id], served.get(bot.team_id, 0.0), bot.id, bot))
            turns[bot.team_id] += 1
        return [bot for *_, bot in sorted(order, key=lambda one: one[:4])]

    # -----------------------------------------------------------------------------------------
    # The worker

    def claim(self, under_way: Collection[int] = ()) -> tuple[Bot, bytes] | None:
        """The next bot without a verdict, which is being checked from now on; None if there is none.

        A team has one check at a time, so that its slow bots do not take all that there is from others.

        Parameters
        ----------
        under_way
            The bots whose checks go on; other checks that were begun have ended without a verdict.
        """
        with self._kept.writing() as session:
            while True:
                line = self._line(session)
                busy = {bot.team_id for bot in line if bot.id in under_way}
                found = next((bot for bot in line if bot.team_id not in busy), None)
                if found is None:
                    return None
                found.changed_at = time.time()
                if found.attempts < ATTEMPTS:
                    found.status, found.attempts = CHECKING, found.attempts + 1
                    return found, found.content
                # A file that takes the worker down with it must not do so for ever.
                found.status, found.message = REJECTED, UNCHECKED
                found.detail = f"It failed {ATTEMPTS} times; tell the instructors the number {found.id}."
                session.flush()

    def are_waiting(self) -> bool:
        """Whether there are bots without a verdict."""
        with self._kept.reading() as session:
            return session.scalar(select(Bot.id).where(Bot.status.in_(UNFINISHED)).limit(1)) is not None

    def finish(self, number: int, **verdict: Any) -> None:
        """Write down a verdict."""
        with self._kept.writing() as session:
            found = session.get(Bot, number)
            if found is not None and found.unfinished:
                found.changed_at = time.time()
                for key, value in verdict.items():
                    setattr(found, key, value)

    def put_back(self, number: int, counts: bool = False) -> None:
        """Put a bot whose check was broken off back into the queue.

        Parameters
        ----------
        counts
            Whether the attempt counts: the bot may be the cause.
        """
        with self._kept.writing() as session:
            found = session.get(Bot, number)
            if found is not None and found.unfinished:
                found.status, found.attempts = QUEUED, max(0, found.attempts - (not counts))

    def entries(self) -> list[tuple[int, str, bytes]]:
        """Each team's latest accepted bot: the team's number, the file's name and content."""
        with self._kept.reading() as session:
            latest = select(func.max(Bot.id)).where(Bot.status == ACCEPTED).group_by(Bot.team_id)
            found = session.scalars(select(Bot).where(Bot.id.in_(latest)).order_by(Bot.team_id))
            return [(bot.team_id, bot.file, bot.content) for bot in found]
