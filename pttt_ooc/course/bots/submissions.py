"""The bots that teams have handed in: files and verdicts, in an SQLite database.

A file and its row are committed together, so that a confirmed bot is never lost.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlalchemy import LargeBinary, String, delete, func, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, deferred, mapped_column, undefer, undefer_group

from pttt_ooc.course.bots.league import League, is_there
from pttt_ooc.course.data.limits import Limits, SubmissionError, check_limits
from pttt_ooc.course.data.models import ACCEPTED, CHECKING, QUEUED, REJECTED, UNFINISHED, WITHDRAWN, Judged, Team
from pttt_ooc.course.data.queue import ATTEMPTS, Queue, Verdict
from pttt_ooc.other_games.extreme.hard_positions import HardPosition, Trial
from pttt_ooc.site.play.database_file import kept_file
from pttt_ooc.site.service.sqlite import PlayDatabase

UNCHECKED = "THE SERVER COULD NOT CHECK IT"
MISSING = "THE SERVER LACKS A MODULE"
"""The verdict on a bot that imports an allowed module that the server lacks.

The same file may be handed in again after this verdict, and after :data:`UNCHECKED`.
"""
MOST = 200
"""How many bots of each team are kept; older ones are deleted, but never the latest accepted one."""


class LeagueTables(DeclarativeBase):
    """The tables of a league."""


class Bot(Judged, LeagueTables):
    """One bot and its verdict.

    Attributes
    ----------
    team_id
        Number of the team in the course.
    file, content
        The file's name and content, as handed in.
    digest
        SHA-256.
    python, why
        The Python that runs it, and the reason.
    changes
        What the conversion from Python 2 changed.
    message, detail, printed, moves, load_seconds, slowest, warnings, breaches
        See :class:`pttt_ooc.other_games.extreme.bot_check.Finding`.
    """

    __tablename__ = "bots"
    team_id: Mapped[int] = mapped_column(index=True)
    file: Mapped[str] = mapped_column(String(64))
    content: Mapped[bytes] = deferred(mapped_column(LargeBinary))
    python: Mapped[str] = mapped_column(String(20), default="")
    why: Mapped[str] = mapped_column(String(500), default="")
    changes: Mapped[str] = deferred(mapped_column(String, default=""), group="texts")
    message: Mapped[str] = mapped_column(String(200), default="")
    detail: Mapped[str] = deferred(mapped_column(String, default=""), group="texts")
    printed: Mapped[str] = deferred(mapped_column(String, default=""), group="texts")
    warnings: Mapped[str] = deferred(mapped_column(String, default="", server_default=""), group="texts")
    breaches: Mapped[str] = deferred(mapped_column(String, default="", server_default=""), group="texts")
    moves: Mapped[int] = mapped_column(default=0)
    load_seconds: Mapped[float] = mapped_column(default=0.0)
    slowest: Mapped[float] = mapped_column(default=0.0)

    __table_args__ = ({"sqlite_autoincrement": True},)


_PLAYS = (Bot.status == ACCEPTED, Bot.ruling != WITHDRAWN)
"""The conditions for a bot to play."""


class HardPositions(LeagueTables):
    """What the check of a bot says about hard positions.

    Attributes
    ----------
    bot_id, team_id
        The bot and its team.
    hard, trials
        See :class:`pttt_ooc.other_games.extreme.bot_check.Finding`; as JSON.
    """

    __tablename__ = "hard_positions"
    bot_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    team_id: Mapped[int] = mapped_column(index=True)
    hard: Mapped[str] = mapped_column(String)
    trials: Mapped[str] = mapped_column(String)


class Bots:
    """The bots of a league.

    Raises
    ------
    StoreError
        If the database cannot be used; the methods raise it, too.
    """

    def __init__(self, league: League) -> None:
        self._settings = league.settings
        self.database = PlayDatabase(kept_file(league.database, "Bots"), "bots", LeagueTables.metadata.sorted_tables)
        self.queue = Queue(self.database, Bot, _give_up)

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    # -----------------------------------------------------------------------------------------
    # Teams

    def check_limits(self, team: Team, ahead: int) -> None:
        """Raise a SubmissionError if a team may not hand in a bot now, while `ahead` other files of it come in."""
        with self.database.reading() as session:
            self._check(session, team, ahead)

    def _check(self, session: Session, team: Team, ahead: int = 0) -> None:
        if self._settings.has_begun:
            raise SubmissionError("The tournament has begun; it is too late to hand in a bot.", 409)
        s = self._settings
        limits = Limits("bots", s.bots_per_hour, s.waiting_per_team, daily=s.bots_per_day)
        check_limits(session, Bot, team, limits, ahead)

    def take_in(self, team: Team, file: str, content: bytes, begun_at: float | None = None) -> tuple[Bot, bool]:
        """Store a team's bot for the worker; returns it, and whether it is new.

        Parameters
        ----------
        begun_at
            When its upload began; None: now.

        Raises
        ------
        SubmissionError
            If the team may not hand in a bot now.
        """
        digest, now = hashlib.sha256(content).hexdigest(), time.time()
        with self.database.writing() as session:
            latest = session.scalar(select(Bot).where(Bot.team_id == team.id).order_by(Bot.id.desc()).limit(1))
            same = latest is not None and (latest.digest, latest.file) == (digest, file)
            judged = latest is not None and latest.message not in (MISSING, UNCHECKED)
            if latest is not None and same and judged and not self._settings.has_begun:
                return latest, False
            self._check(session, team)
            made = Bot(
                team_id=team.id,
                file=file,
                content=content,
                digest=digest,
                size=len(content),
                received_at=now,
                changed_at=now,
                begun_at=now if begun_at is None else begun_at,
            )
            session.add(made)
            session.flush()
            self._forget(session, team.id)
        return made, True

    def _forget(self, session: Session, team: int) -> None:
        kept = session.scalars(select(Bot).where(Bot.team_id == team).order_by(Bot.id.desc()).offset(MOST)).all()
        entered = self._latest(session, team)
        for bot in kept:
            if entered is None or bot.id != entered.id:
                session.delete(bot)
                session.execute(delete(HardPositions).where(HardPositions.bot_id == bot.id))

    @staticmethod
    def _latest(session: Session, team: int) -> Bot | None:
        accepted = select(Bot).where(Bot.team_id == team, *_PLAYS)
        return session.scalar(accepted.order_by(Bot.id.desc()).limit(1))

    def playing_bot(self, team: int) -> Bot | None:
        """A team's latest accepted bot that is not withdrawn: it plays for the team."""
        with self.database.reading() as session:
            return self._latest(session, team)

    def teams(self) -> set[int]:
        """The numbers of the teams that have handed in bots."""
        with self.database.reading() as session:
            return set(session.scalars(select(Bot.team_id).distinct()))

    def of_team(self, team: int, texts: bool = False) -> list[Bot]:
        """A team's bots, latest first; `texts`: with the long texts of their verdicts."""
        query = select(Bot).where(Bot.team_id == team).order_by(Bot.id.desc())
        with self.database.reading() as session:
            return list(session.scalars(query.options(undefer_group("texts")) if texts else query))

    def find(self, number: int, team: int, content: bool = False) -> Bot | None:
        """A bot of this team with the texts of its verdict, and its file if asked for; None if there is none."""
        query = select(Bot).where(Bot.id == number, Bot.team_id == team).options(undefer_group("texts"))
        with self.database.reading() as session:
            return session.scalar(query.options(undefer(Bot.content)) if content else query)

    def place(self, bot: Bot) -> int:
        """Number of bots that are checked before this one."""
        with self.database.reading() as session:
            line = [found.id for found in self._line(session)]
            return line.index(bot.id) if bot.id in line else 0

    @staticmethod
    def _line(session: Session) -> list[Bot]:
        """The bots without a verdict in the order of their checks: the teams take turns.

        Bots that are being checked come first, then each team's first bot, beginning with the team whose last check is
        longest ago, then each team's second bot, and so on.
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
        """Begin the check of the next bot, and return it with its file; None if there is none.

        A team has one check at a time, so that its slow bots do not hold up other teams.

        Parameters
        ----------
        under_way
            Numbers of bots that are being checked; other checks that were begun have ended without a verdict.
        """
        with self.database.writing() as session:
            while True:
                line = self._line(session)
                busy = {bot.team_id for bot in line if bot.id in under_way}
                found = next((bot for bot in line if bot.team_id not in busy), None)
                if found is None:
                    return None
                if self.queue.begin(found, CHECKING):
                    return found, found.content
                session.flush()

    def former(self, bot: Bot) -> list[HardPosition]:
        """The positions in which bots of the same team forfeited or were slow before, the latest first."""
        query = select(HardPositions.hard).where(HardPositions.team_id == bot.team_id, HardPositions.bot_id < bot.id)
        with self.database.reading() as session:
            found = session.scalars(query.order_by(HardPositions.bot_id.desc()).limit(MOST)).all()
        return [_position(one) for text in found for one in json.loads(text)]

    def note(self, bot: Bot, hard: Sequence[HardPosition], trials: Sequence[Trial]) -> None:
        """Write down what the check of a bot says about hard positions."""
        texts = [json.dumps([asdict(one) for one in found]) for found in (hard, trials)]
        with self.database.writing() as session:
            if session.get(Bot, bot.id) is not None:
                session.merge(HardPositions(bot_id=bot.id, team_id=bot.team_id, hard=texts[0], trials=texts[1]))

    def trials(self, number: int) -> list[Trial]:
        """How a bot does in the positions that were hard for bots before it."""
        with self.database.reading() as session:
            row = session.get(HardPositions, number)
        found = json.loads(row.trials) if row else []
        return [Trial(**{**one, "position": _position(one["position"])}) for one in found]

    def are_waiting(self) -> bool:
        """Whether there are bots without a verdict."""
        with self.database.reading() as session:
            return session.scalar(select(Bot.id).where(Bot.status.in_(UNFINISHED)).limit(1)) is not None

    def oldest_wait(self) -> float | None:
        """When the bot that has waited longest for a verdict was received; None if none waits."""
        with self.database.reading() as session:
            return session.scalar(select(func.min(Bot.received_at)).where(Bot.status.in_(UNFINISHED)))

    def list_accepted(self) -> list[Bot]:
        """All accepted bots that are not withdrawn, without their files."""
        with self.database.reading() as session:
            return list(session.scalars(select(Bot).where(*_PLAYS).order_by(Bot.id)))

    def rule(self, number: int, ruling: str) -> Bot:
        """Withdraw a bot, or undo that; SubmissionError if there is no such bot, or the tournament has begun."""
        if self._settings.has_begun:
            raise SubmissionError(
                "The tournament has begun, and its bots stay as they are; adjust the points instead.", 409
            )
        with self.database.writing() as session:
            found = session.get(Bot, number)
            if found is None:
                raise SubmissionError(f"There is no bot {number}.", 404)
            found.ruling, found.changed_at = ruling, time.time()
            return found

    def playing_bots(self, content: bool = False) -> list[Bot]:
        """The bot that plays for each team, with its file if asked for; see :meth:`playing_bot`."""
        latest = select(func.max(Bot.id)).where(*_PLAYS).group_by(Bot.team_id)
        query = select(Bot).where(Bot.id.in_(latest)).order_by(Bot.team_id)
        with self.database.reading() as session:
            return list(session.scalars(query.options(undefer(Bot.content)) if content else query))


@contextmanager
def open_bots(data: Path) -> Iterator[Bots | None]:
    """The bots of the league in a directory, during the block; None if there is no league, or it is not open."""
    if not is_there(data):
        yield None
        return
    with closing(Bots(League(data))) as bots:
        yield bots


def _position(facts: dict[str, Any]) -> HardPosition:
    return HardPosition(
        tuple((big, row, column) for big, row, column in facts["moves"]), facts["message"], facts["seconds"]
    )


def _give_up(number: int) -> Verdict:
    detail = f"It failed {ATTEMPTS} times; tell the instructors the number {number}."
    return {"status": REJECTED, "message": UNCHECKED, "detail": detail}
