"""The league's worker: checks the bots that teams hand in, one of each team at a time; plays practice matches, and then
the tournament.

It is the only process of a course that runs bots, and it runs them behind walls.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pttt_ooc.course.bots.league import League, course_of
from pttt_ooc.course.bots.practice import PracticeWork, Seats, names_of
from pttt_ooc.course.bots.submissions import MISSING, UNCHECKED, Bot, Bots
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.models import ACCEPTED, REJECTED
from pttt_ooc.course.data.settings import read_settings
from pttt_ooc.course.data.worker_process import Work, run_worker
from pttt_ooc.disk.files import make_directory
from pttt_ooc.disk.locks import hold
from pttt_ooc.disk.stop_signals import handle_signals
from pttt_ooc.errors import PtttError
from pttt_ooc.other_games.extreme import bot_check
from pttt_ooc.other_games.extreme.bot_process import MissingModuleError
from pttt_ooc.other_games.extreme.bot_programs import ProgramError, program
from pttt_ooc.other_games.extreme.bot_version import version_of
from pttt_ooc.other_games.extreme.broken_off import can_play
from pttt_ooc.other_games.extreme.cores import cores_with_memory, free_cores, taken_core
from pttt_ooc.other_games.extreme.league import Pairing
from pttt_ooc.other_games.extreme.match import check_walls
from pttt_ooc.other_games.extreme.pages.part import key_of
from pttt_ooc.other_games.extreme.tournament import Entry, Tournament
from pttt_ooc.other_games.extreme.tournament_record import Record
from pttt_ooc.other_games.extreme.walls import ExtremeError
from pttt_ooc.site.service.pulse import Pulse

log = logging.getLogger("pttt.extreme.worker")
_FAILURE_SECONDS = 30.0  # seconds to wait after a failure, for example of the machine


class Worker:
    """Works for one league.

    Parameters
    ----------
    database
        The course's database, for the names of teams.
    stopping
        When it is set, the work under way is broken off.
    """

    def __init__(self, league: League, bots: Bots, database: Database, pulse: Pulse, stopping: threading.Event) -> None:
        self.league, self.bots, self._database, self._stopping = league, bots, database, stopping
        self._work = Work(pulse, stopping, _FAILURE_SECONDS)
        self._seats = Seats(len(cores_with_memory(league.settings.memory_mb)), self._practice_is_over)
        self._checked: set[int] = set()  # the bots whose checks are under way
        self._lock = threading.Lock()
        self._over = False

    def work(self) -> None:
        """Check and play until `stopping` is set: as many bots at a time as the machine holds, the teams in turn."""
        check = check_walls if self.league.settings.sandbox else nullcontext
        for _ in cores_with_memory(self.league.settings.memory_mb):
            threading.Thread(target=self._work.repeat, args=(self.check_next, check), daemon=True).start()
        with self._practice(check):
            self._work.repeat(self._play_next, check)
        for number in list(self._checked):
            self.bots.queue.put_back(number)

    @contextmanager
    def _practice(self, check: Callable[[], object]) -> Iterator[None]:
        """Let bots practise during the block, if they may; at the end no practice match is under way."""
        if not self.league.settings.practice or self.league.settings.has_begun:
            yield
            return
        pulse = Pulse(self.league.practising)
        practice = PracticeWork(self.league, self.bots, self._database, self._seats)
        work = Work(pulse, self._stopping, _FAILURE_SECONDS)
        with pulse.beating():
            threads = [threading.Thread(target=practice.run, args=(work, check), daemon=True) for _ in self._seats]
            for thread in threads:
                thread.start()
            yield
            for thread in threads:
                thread.join()

    def _practice_is_over(self) -> bool:
        return self._stopping.is_set() or self.league.settings.has_begun

    def _play_next(self) -> bool:
        """Play the tournament, if it has begun and no bot waits for a verdict; returns whether it did."""
        if not self.league.settings.has_begun or self._over or self.bots.are_waiting() or self._seats.practising:
            return False
        self.play()
        return True

    def check_next(self) -> bool:
        """Check the next bot without a verdict; returns whether there was one."""
        with self._lock:
            claimed = self.bots.claim(self._checked)
            if claimed is None:
                return False
            bot, content = claimed
            self._checked.add(bot.id)
        log.info("checking", extra={"bot": bot.id, "team": bot.team_id})
        try:
            with self._seats.check(), taken_core(free_cores(), self._stopping) as core:
                if core is None:
                    self.bots.queue.put_back(bot.id)
                    return False
                self._judge(bot, content)
        except BaseException as error:
            self.bots.queue.put_back(bot.id, counts=self._counts(error))
            raise
        finally:
            self._checked.discard(bot.id)
        return True

    def _counts(self, error: BaseException) -> bool:
        """Whether a failed check counts as a try of the bot; it does not if our own bots cannot play here either."""
        known = isinstance(error, PtttError | OSError)
        return not known or can_play(self.league.settings.conditions, self._stopping)

    def _judge(self, bot: Bot, content: bytes) -> None:
        """Check a bot and write down the verdict; an unexpected error rejects the bot."""
        facts = {"bot": bot.id, "team": bot.team_id}
        try:
            verdict = self._verdict(bot, content)
            self.bots.queue.update(bot.id, **verdict)
        except (PtttError, OSError):
            raise
        except Exception:
            log.exception("a check failed", extra=facts)
            told = f"An unexpected error; tell the instructors the number {bot.id}."
            verdict = {"status": REJECTED, "message": UNCHECKED, "detail": told}
            self.bots.queue.update(bot.id, **verdict)
        log.info("checked", extra={**facts, "status": verdict["status"], "verdict": verdict["message"]})

    def _verdict(self, bot: Bot, content: bytes) -> dict[str, Any]:
        conditions = self.league.settings.conditions
        try:
            handed_in = program(bot.file, content, conditions.walls, conditions.python, conditions.libraries)
        except ProgramError as error:
            return {"status": REJECTED, "message": "NO PROGRAM IN PYTHON", "detail": str(error)}
        try:
            checked = bot_check.check(handed_in, conditions, self.league.settings.strict, self.bots.former(bot))
        except MissingModuleError as error:
            log.error(str(error), extra={"bot": bot.id, "team": bot.team_id})
            told = f"{error}\nIt is not the bot's fault. Tell the instructors, and hand the file in again afterwards."
            return {"status": REJECTED, "message": MISSING, "detail": told}
        self.bots.note(bot, checked.hard, checked.trials)
        found = asdict(checked)
        for name in ("accepted", "hard", "trials"):
            del found[name]
        return {**found, "status": ACCEPTED if checked.accepted else REJECTED, "why": found["why"][:500]}

    def play(self) -> None:
        """Play the tournament, or continue it, until it is over or `stopping` is set."""
        directory = self.league.tournament
        make_directory(directory)
        tournament = Tournament(directory, self._entries(), self.league.settings.tournament)
        try:
            cores = cores_with_memory(self.league.settings.memory_mb)
            log.info("playing", extra={"matches_at_once": len(cores), "memory_mb": self.league.settings.memory_mb})
            tournament.play(cores, _tell, self._stopping)
            self._over = not tournament.record.state().waiting
        finally:
            tournament.close()
        log.info("the tournament is over" if self._over else "the tournament stops for now")

    def _entries(self) -> list[Entry]:
        """The teams that play; once the tournament has begun, the teams with which it began."""
        with suppress(ExtremeError):
            record = Record(self.league.tournament)
            return [
                Entry(team.key, team.name, team.file, record.bot(team.key).read_bytes(), team.python)
                for team in record.teams.values()
            ]
        names = names_of(self._database)
        found = self.bots.playing_bots(content=True)
        return [
            Entry(key_of(bot.team_id), names[bot.team_id], bot.file, bot.content, version_of(bot.python))
            for bot in found
            if bot.team_id in names
        ]


def _tell(pairing: Pairing, found: dict[str, Any]) -> None:
    log.info("played", extra={"match": pairing.name, "points": found["points"], "how": found["message"]})


def run(data: Path, stopping: threading.Event) -> None:
    """Work for the league in a course's directory until `stopping` is set.

    Raises
    ------
    PtttError
        If another worker is at work, or the league or the course cannot be opened.
    """
    handle_signals(stopping)
    league, course = League(data), course_of(data)
    settings = read_settings(course)
    pulse = Pulse(league.alive)
    busy = f"Another worker of the league is at work in {data}; stop it first."
    with (
        hold(data / "worker.extreme.lock", lambda _: busy, error=ExtremeError),
        closing(Database.of(course, settings.database_url, settings.game)) as database,
        closing(Bots(league)) as bots,
        pulse.beating(),
    ):
        Worker(league, bots, database, pulse, stopping).work()


if __name__ == "__main__":
    run_worker("league", run)
