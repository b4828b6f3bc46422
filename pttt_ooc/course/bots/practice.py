"""The practice league of a course: until the tournament begins, the worker lets the latest bots play on idle cores.

Checks of bots come first: the machine has seats for a number of matches, and practice gets the seats that checks leave
free.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pttt_ooc.course.bots.league import League
from pttt_ooc.course.bots.submissions import Bots
from pttt_ooc.course.data.assignments import frozen_since
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.memberships import without_rank
from pttt_ooc.course.data.models import Team
from pttt_ooc.course.data.rules import BOTS
from pttt_ooc.course.data.worker_process import Work
from pttt_ooc.disk.files import make_directory, remove
from pttt_ooc.other_games.extreme import tournament_record
from pttt_ooc.other_games.extreme.bot_version import version_of
from pttt_ooc.other_games.extreme.cores import free_cores
from pttt_ooc.other_games.extreme.pages.part import key_of
from pttt_ooc.other_games.extreme.practice_record import FACTS

if TYPE_CHECKING:  # its statistics are imported with the first match, where a missing extra is told
    from pttt_ooc.other_games.extreme.practice import Practice


class Leave(threading.Event):
    """Set when a practice match must be broken off, because a check needs its seat or practice is over.

    Parameters
    ----------
    over
        Whether practice is over.
    """

    def __init__(self, over: Callable[[], bool]) -> None:
        super().__init__()
        self._over = over

    def is_set(self) -> bool:
        """Whether the match must be broken off."""
        return super().is_set() or self._over()


class Seats:
    """Seats for the matches that are played at the same time.

    Parameters
    ----------
    most
        Number of seats.
    over
        Whether practice is over: then no match begins, and those under way are broken off.
    """

    def __init__(self, most: int, over: Callable[[], bool]) -> None:
        self._most, self._over = most, over
        self._lock = threading.Lock()
        self._checks, self._matches = 0, list[Leave]()

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._most))

    @property
    def practising(self) -> int:
        """Number of practice matches under way."""
        return len(self._matches)

    @contextmanager
    def check(self) -> Iterator[None]:
        """A seat for a check, at once; if none is free, the latest practice match is broken off."""
        with self._lock:
            self._checks += 1
            staying = [match for match in self._matches if not match.is_set()]
            for match in staying[max(0, self._most - self._checks) :]:
                match.set()
        try:
            yield
        finally:
            with self._lock:
                self._checks -= 1

    @contextmanager
    def practice(self) -> Iterator[Leave | None]:
        """A seat for a practice match, which is told when to leave; None if there is no seat now."""
        leave = Leave(self._over)
        with self._lock:
            free = self._checks + len(self._matches) < self._most and not self._over()
            if free:
                self._matches.append(leave)
        if not free:
            yield None
            return
        try:
            yield leave
        finally:
            with self._lock:
                self._matches.remove(leave)


NICE = 15
"""Priority of practice matches among the processes of the machine; 19 is the lowest."""


class PracticeWork:
    """Plays the practice matches of a league.

    Parameters
    ----------
    database
        The course's database, for the names of teams.
    seats
        The seats, which practice matches leave to checks.
    """

    def __init__(self, league: League, bots: Bots, database: Database, seats: Seats) -> None:
        self._league, self._bots, self._database, self._seats = league, bots, database, seats
        self._lock = threading.Lock()
        self._practice: Practice | None = None

    def run(self, work: Work, check: Callable[[], object]) -> None:
        """Play one match after the other, in a thread of its own, which has a low priority.

        Parameters
        ----------
        check
            Called before the first match, and again after each failure.
        """
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, max(NICE, os.getpriority(os.PRIO_PROCESS, thread)))  # bots inherit it
        work.repeat(self.play_next, check)

    def play_next(self) -> bool:
        """Play a match, if there is one to play and a seat for it; returns whether there was."""
        with self._seats.practice() as leave:
            if leave is None:
                return False
            self._keep_frozen()
            names = names_of(self._database)
            entered = {key_of(bot.team_id): bot for bot in self._bots.playing_bots() if bot.team_id in names}
            teams = [
                tournament_record.Team(key, names[bot.team_id], bot.file, bot.digest, version_of(bot.python))
                for key, bot in entered.items()
            ]

            def content(team: tournament_record.Team) -> bytes | None:
                bot = entered[team.key]
                found = self._bots.find(bot.id, bot.team_id, content=True)
                return found.content if found else None

            return self._open_practice().play_next(teams, content, free_cores(), leave)

    def _keep_frozen(self) -> None:
        """Before the first match after a freeze, copy what has been played; copies of earlier freezes are deleted."""
        with self._database.reading() as session:
            since = frozen_since(session, BOTS, further=self._league.name)
        kept = None if since is None else self._league.frozen_practice(since)
        with self._lock:
            for other in self._league.data.glob("practice-frozen-*"):
                if other != kept:
                    remove(other)
            if kept is not None and not kept.exists():
                copy_practice(self._league.practice, kept)

    def _open_practice(self) -> Practice:
        from pttt_ooc.other_games.extreme.practice import Practice, PracticeSettings

        with self._lock:
            if self._practice is None:
                settings = self._league.settings
                conditions = replace(settings.conditions, time_limit=settings.practice_limit)
                chosen = PracticeSettings(conditions, settings.practice_matches)
                self._practice = Practice(self._league.practice, chosen)
            return self._practice


def names_of(database: Database) -> dict[int, str]:
    """The names of all teams that play, by number."""
    with database.reading() as session:
        out = without_rank(session)
        return {team.id: team.name for team in session.query(Team) if team.id not in out}


def copy_practice(source: Path, target: Path) -> None:
    """Copy a practice league, whole or not at all; its files never change, so they are linked."""
    made = target.with_name(f"{target.name}.new")
    remove(made)
    for folder in ("matches", "curves"):
        make_directory(made / folder)
        for file in sorted((source / folder).glob("*.json")):
            with suppress(FileNotFoundError):  # the oldest matches are deleted meanwhile
                os.link(file, made / folder / file.name)
    if (source / FACTS).is_file():
        shutil.copyfile(source / FACTS, made / FACTS)
    os.replace(made, target)
