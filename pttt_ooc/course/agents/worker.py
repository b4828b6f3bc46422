"""The worker of agents: judges agents without a verdict one after the other, then plays the head-to-head.

It is the only process of a course that runs agents, and it runs them behind walls.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from pttt_ooc.course.agents.queue import next_up
from pttt_ooc.course.agents.settings import ALIVE, AgentSettings, settings_of
from pttt_ooc.course.agents.standings import match_name, missing, playing_agents, tries_in
from pttt_ooc.course.agents.verdicts import check_walls_of, judge_of, program_of, verdict_on
from pttt_ooc.course.data.agents_tables import Agent, AgentMatch
from pttt_ooc.course.data.assignments import all_assignments
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.models import ACCEPTED, CHECKING, REJECTED
from pttt_ooc.course.data.queue import ATTEMPTS, GAVE_UP, Queue, Verdict
from pttt_ooc.course.data.rules import AGENTS
from pttt_ooc.course.data.settings import read_settings
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.course.data.term_tables import Assignment
from pttt_ooc.course.data.worker_process import Grading, Stopped, Work
from pttt_ooc.disk.locks import hold
from pttt_ooc.disk.stop_signals import handle_signals
from pttt_ooc.errors import CourseError, PtttError
from pttt_ooc.extras import check_extra
from pttt_ooc.other_games.extreme.broken_off import can_play, try_match
from pttt_ooc.other_games.extreme.clock import StoppedError
from pttt_ooc.other_games.extreme.cores import free_cores, taken_core
from pttt_ooc.site.service.pulse import Pulse

log = logging.getLogger("pttt.agents.worker")
_FAILURE_SECONDS = 10.0  # seconds to wait after a failure, for example of the machine
_TELL_SECONDS = 0.4  # seconds between two writes of the progress


class Worker:
    """Works for the assignments of agents of a course.

    Parameters
    ----------
    stopping
        When it is set, the work under way is broken off, and the agent goes back into the queue.
    """

    def __init__(self, database: Database, storage: Storage, stopping: threading.Event, grading: Grading) -> None:
        self._database, self._storage, self._stopping, self._grading = database, storage, stopping, grading
        self._queue = Queue(database, Agent, _give_up)
        self._rehearse = grading.rehearse(database, storage.data, AGENTS, self._again)

    def step(self) -> bool:
        """Judge the next agent, play the next match, or go on with a dry run; returns whether there was something."""
        return self.judge_next() or self.play_next() or self._rehearse()

    def _again(self, agent: Agent) -> dict[str, Any]:
        with self._database.reading() as session:
            return judge_of(session, self._storage, self._stopping)(agent)

    # -----------------------------------------------------------------------------------------
    # Verdicts

    def judge_next(self) -> bool:
        """Judge the next agent without a verdict; returns whether there was one."""
        claimed = self._claim()
        if claimed is None:
            return False
        agent, settings = claimed
        facts = {"agent": agent.id, "team": agent.team_id, "assignment": agent.assignment_id}
        log.info("judging", extra=facts)
        try:
            outcome = self._outcome(agent, settings)
        except Stopped:
            self._queue.put_back(agent.id, progress=0.0)
            raise Stopped from None
        except (PtttError, OSError):
            counts = can_play(settings.conditions, self._stopping)  # if not, the agent is not to blame
            self._queue.put_back(agent.id, counts=counts, progress=0.0)
            raise
        except Exception:
            log.exception("judging failed", extra=facts)
            outcome = _give_up(agent.id)
        self._queue.update(agent.id, **outcome)
        self._settle(f"verdict on agent {agent.id}")
        log.info("judged", extra={**facts, "status": outcome["status"], "verdict": outcome.get("message", "")})
        return True

    def _claim(self) -> tuple[Agent, AgentSettings] | None:
        with self._database.writing() as session:
            while (agent := next_up(session)) is not None:
                if self._queue.begin(agent, CHECKING):
                    assignment = session.get(Assignment, agent.assignment_id)
                    assert assignment is not None  # agents are deleted with their assignment
                    return agent, settings_of(assignment.settings)
                session.flush()
        return None

    def _outcome(self, agent: Agent, settings: AgentSettings) -> dict[str, Any]:
        return verdict_on(self._storage, agent, settings, self._stopping, self._reporter(agent.id))

    def _reporter(self, number: int) -> Callable[[float], None]:
        last = time.monotonic()

        def tell(share: float) -> None:
            nonlocal last
            if self._stopping.is_set():
                raise Stopped
            if time.monotonic() - last > _TELL_SECONDS:
                last = time.monotonic()
                self._queue.update(number, progress=share)

        return tell

    # -----------------------------------------------------------------------------------------
    # The head-to-head

    def play_next(self) -> bool:
        """Play the next match of two teams' agents, if there is one; returns whether there was."""
        found = self._next_match()
        if found is None:
            return False
        (first, second), settings, is_last = found
        check_walls_of(settings)
        tries, name = tries_in(self._storage.data), match_name(first.id, second.id)
        try:
            counts = try_match(
                tries, name, lambda: self._meet(first, second, settings), settings.conditions, self._stopping
            )
        except StoppedError:
            raise Stopped from None
        if counts is None:
            counts = {"wins": 0, "draws": settings.league, "losses": 0, "forfeits": 0}
        if not self._keep_match(first.id, second.id, counts):
            return True
        log.info("played", extra={"first": first.id, "second": second.id, "wins": counts["wins"]})
        if is_last:
            self._settle("head-to-head played")
        return True

    def _meet(self, first: Agent, second: Agent, settings: AgentSettings) -> dict[str, int]:
        from pttt_ooc.course.agents.judging import meet

        programs = program_of(self._storage, first, settings), program_of(self._storage, second, settings)
        with taken_core(free_cores(), self._stopping) as core:
            if core is None:
                raise StoppedError
            return meet(programs, settings, replace(settings.conditions, core=core), self._stopping)

    def _keep_match(self, first: int, second: int, counts: dict[str, int]) -> bool:
        """Write a match down, unless a team was removed or an agent is judged again meanwhile."""
        try:
            with self._database.writing() as session:
                rows = [session.get(Agent, number) for number in (first, second)]
                if any(row is None or row.status != ACCEPTED for row in rows):
                    return False
                session.add(AgentMatch(first_id=first, second_id=second, **counts))
        except IntegrityError:
            return False
        return True

    def _next_match(self) -> tuple[tuple[Agent, Agent], AgentSettings, bool] | None:
        """Two agents that must meet, their settings, and whether all other pairs that count there have met."""
        with self._database.reading() as session:
            for assignment in all_assignments(session, AGENTS):
                settings = settings_of(assignment.settings)
                if not settings.league:
                    continue
                counting = playing_agents(session, self._storage.data, assignment)
                public = playing_agents(session, self._storage.data, assignment, public=True)
                pair = missing(session, counting.values())
                is_last = pair is not None and missing(session, counting.values(), without=pair) is None
                if pair is None and public != counting:
                    pair = missing(session, public.values())
                if pair is not None:
                    first, second = (session.get_one(Agent, number) for number in pair)
                    return (first, second), settings, is_last
        return None

    def _settle(self, because: str) -> None:
        """Write down the grades that have changed; what fails is tried again at the next verdict."""
        try:
            with self._database.writing() as session:
                self._grading.settle(session, self._storage.data, because)
        except (PtttError, SQLAlchemyError):
            log.exception("grades could not be settled")


def _give_up(number: int) -> Verdict:
    detail = f"It failed {ATTEMPTS} times, which is not your fault. Tell the instructors the number {number}."
    return {"status": REJECTED, "message": GAVE_UP, "detail": detail, "progress": 1.0}


def run(data: Path, stopping: threading.Event, grading: Grading) -> None:
    """Work for a course until `stopping` is set.

    Raises
    ------
    PtttError
        If another worker is at work, or the course cannot be opened, or an extra is missing.
    """
    check_extra("extreme", "The kind agents")
    check_extra("arena", "The kind agents")
    handle_signals(stopping)
    settings, storage = read_settings(data), Storage(data)
    pulse = Pulse(data / ALIVE)
    busy = f"Another worker of agents is at work in {data}; stop it first."
    with (
        hold(data / "worker.agents.lock", lambda _: busy, error=CourseError),
        closing(Database.of(data, settings.database_url, settings.game)) as database,
        pulse.beating(),
    ):
        Work(pulse, stopping, _FAILURE_SECONDS).repeat(Worker(database, storage, stopping, grading).step)
