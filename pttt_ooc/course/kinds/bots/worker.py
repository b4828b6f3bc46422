"""The league's worker: checks the bots that teams hand in, one of each team at a time, and plays the tournament.

It is the only process of a grader that runs bots, and it runs them behind walls.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pttt_ooc.course.database import Database
from pttt_ooc.course.kinds.bots.league import League
from pttt_ooc.course.kinds.bots.submissions import ACCEPTED, REJECTED, UNCHECKED, Bot, Bots
from pttt_ooc.course.models import Team
from pttt_ooc.course.settings import read_settings
from pttt_ooc.disk.files import make_directory
from pttt_ooc.disk.locks import hold
from pttt_ooc.disk.rights import keep_private
from pttt_ooc.disk.stop_signals import handle_signals, watch_parent
from pttt_ooc.errors import PtttError
from pttt_ooc.extreme import bot_check
from pttt_ooc.extreme.bot_programs import program
from pttt_ooc.extreme.cores import cores_with_memory, free_cores, taken_core
from pttt_ooc.extreme.league import Pairing
from pttt_ooc.extreme.match import check_walls
from pttt_ooc.extreme.pages.part import key_of
from pttt_ooc.extreme.source_client import ProgramError
from pttt_ooc.extreme.tournament import Entry, Tournament
from pttt_ooc.extreme.tournament_record import Record
from pttt_ooc.extreme.walled_process import MachineError
from pttt_ooc.extreme.walls import ExtremeError
from pttt_ooc.service.logs import start_logging
from pttt_ooc.service.pulse import Pulse

log = logging.getLogger("pttt.extreme.worker")
_POLL, _PAUSE = 0.2, 30.0  # seconds between two looks at an empty queue, and after a failure of the machine


class Worker:
    """Works for one league.

    Parameters
    ----------
    database
        Of the grader, which knows the teams.
    stopping
        When it is set, the work under way is broken off.
    """

    def __init__(self, league: League, bots: Bots, database: Database, pulse: Pulse, stopping: threading.Event) -> None:
        self.league, self.bots, self._database = league, bots, database
        self._pulse, self._stopping = pulse, stopping
        self._checked: set[int] = set()  # the bots whose checks are under way
        self._lock = threading.Lock()
        self._over = False

    def work(self) -> None:
        """Check and play until it is to stop: as many bots at a time as the machine holds, of all teams in turn."""
        for _ in cores_with_memory(self.league.settings.memory_mb):
            threading.Thread(target=self._repeat, args=(self.check_next,), daemon=True).start()
        self._repeat(self._play_next)
        for number in list(self._checked):
            self.bots.put_back(number)

    def _repeat(self, step: Callable[[], bool]) -> None:
        """Do a step again and again, at once if it had something to do; what fails is told and tried later."""
        while not self._stopping.is_set():
            try:
                if self.league.settings.sandbox:
                    check_walls()
                with self._lock:
                    self._pulse.ready()
                while not self._stopping.is_set():
                    if not step():
                        self._stopping.wait(_POLL)
            except (PtttError, OSError) as error:  # such as walls that this machine lacks: nothing is lost
                log.error(str(error))
                with self._lock:
                    self._pulse.wait_for(str(error))
            except Exception:
                log.exception("an error that nobody expected")
            self._stopping.wait(_PAUSE)

    def _play_next(self) -> bool:
        """Play the tournament, if it is time and no bot waits for a verdict; whether there was one to play."""
        if not self.league.settings.has_begun or self._over or self.bots.are_waiting():
            return False
        self.play()
        return True

    def check_next(self) -> bool:
        """Check the next bot that has no verdict; whether there was one."""
        with self._lock:
            claimed = self.bots.claim(self._checked)
            if claimed is None:
                return False
            bot, content = claimed
            self._checked.add(bot.id)
        log.info("checking", extra={"bot": bot.id, "team": bot.team_id})
        try:
            with taken_core(free_cores(), self._stopping) as core:
                if core is None:
                    self.bots.put_back(bot.id)
                    return False
                self._judge(bot, content)
        except (PtttError, OSError) as error:  # it is the machine's fault, of which the bot may be the cause
            self.bots.put_back(bot.id, counts=isinstance(error, MachineError))
            raise
        except BaseException:
            self.bots.put_back(bot.id, counts=True)
            raise
        finally:
            self._checked.discard(bot.id)
        return True

    def _judge(self, bot: Bot, content: bytes) -> None:
        """Check a bot and write down the verdict; an error that nobody expected is one too."""
        facts = {"bot": bot.id, "team": bot.team_id}
        try:
            verdict = self._verdict(bot, content)
            self.bots.finish(bot.id, **verdict)
        except (PtttError, OSError):
            raise
        except Exception:
            log.exception("a check failed", extra=facts)
            told = f"An error that nobody expected; tell the instructors the number {bot.id}."
            verdict = {"status": REJECTED, "message": UNCHECKED, "detail": told}
            self.bots.finish(bot.id, **verdict)
        log.info("checked", extra={**facts, "status": verdict["status"], "verdict": verdict["message"]})

    def _verdict(self, bot: Bot, content: bytes) -> dict[str, Any]:
        conditions = self.league.settings.conditions
        try:
            handed_in = program(bot.file, content, conditions.walls)
        except ProgramError as error:
            return {"status": REJECTED, "message": "NO PROGRAM IN PYTHON", "detail": str(error)}
        found = asdict(bot_check.check(handed_in, conditions))
        accepted = found.pop("accepted")
        return {**found, "status": ACCEPTED if accepted else REJECTED, "why": found["why"][:500]}

    def play(self) -> None:
        """Play the tournament, or go on with it, until it is over or the worker is to stop."""
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
        """The teams that play; once it has begun, the ones with which it began."""
        with contextlib.suppress(ExtremeError):
            record = Record(self.league.tournament)
            return [
                Entry(team.key, team.name, team.file, record.bot(team.key).read_bytes())
                for team in record.teams.values()
            ]
        with self._database.reading() as session:
            names = {team.id: team.name for team in session.query(Team)}
        found = self.bots.entries()
        return [Entry(key_of(team), names[team], file, content) for team, file, content in found if team in names]


def _tell(pairing: Pairing, found: dict[str, Any]) -> None:
    log.info("played", extra={"match": pairing.name, "points": found["points"], "how": found["message"]})


def run(data: Path, stopping: threading.Event) -> None:
    """Work for the league in a grader's directory until `stopping` is set.

    Raises
    ------
    PtttError
        If another worker is at work, or the league or the grader cannot be opened.
    """
    league, settings = League(data), read_settings(data)
    pulse = Pulse(league.alive)
    busy = f"Another worker of the league is at work in {data}; stop it first."
    with (
        hold(data / "worker.extreme.lock", lambda _: busy, error=ExtremeError),
        closing(Database.of(data, settings.database_url, settings.game)) as database,
        closing(Bots(league)) as bots,
        pulse.beating(),
    ):
        Worker(league, bots, database, pulse, stopping).work()


def main() -> None:
    """Work for the league in the directory that is the argument; the parent holds the other end of stdin."""
    keep_private()
    start_logging("league")
    stopping = threading.Event()
    handle_signals(stopping)
    watch_parent()
    try:
        run(Path(sys.argv[1]), stopping)
    except PtttError as error:
        log.error(str(error))
        sys.exit(1)
    log.info("stopped")


if __name__ == "__main__":
    main()
