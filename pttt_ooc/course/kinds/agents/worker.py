"""The worker of agents: judges those without a verdict, one after the other; then it plays the head-to-head.

It is the only process of a grader that runs agents, and it runs them behind walls.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.orm import Session

from pttt_ooc.course.database import Database
from pttt_ooc.course.kinds.agents.head_to_head import missing
from pttt_ooc.course.kinds.agents.settings import ALIVE, AgentSettings, settings_of
from pttt_ooc.course.kinds.agents.standings import entered
from pttt_ooc.course.kinds.agents.tables import Agent, AgentMatch
from pttt_ooc.course.models import ACCEPTED, CHECKING, QUEUED, REJECTED, UNFINISHED
from pttt_ooc.course.queue import ATTEMPTS, GAVE_UP, RETRY_SECONDS, Queue, Verdict
from pttt_ooc.course.settings import read_settings
from pttt_ooc.course.storage import Storage
from pttt_ooc.course.term.assignments import all_assignments
from pttt_ooc.course.term.gradebook import is_graded, settle
from pttt_ooc.course.term.rules import AGENTS
from pttt_ooc.course.term.tables import Assignment
from pttt_ooc.course.worker_process import Stopped, Work, run_worker
from pttt_ooc.disk.locks import hold
from pttt_ooc.disk.stop_signals import handle_signals
from pttt_ooc.errors import GraderError, PtttError
from pttt_ooc.extras import check_extra
from pttt_ooc.extreme.bot_programs import BotProgram, program
from pttt_ooc.extreme.clock import StoppedError
from pttt_ooc.extreme.cores import free_cores, taken_core
from pttt_ooc.extreme.match import check_walls
from pttt_ooc.extreme.source_client import ProgramError
from pttt_ooc.service.pulse import Pulse

log = logging.getLogger("pttt.agents.worker")
_FAILURE_SECONDS = 10.0  # seconds after a failure, such as of the machine
_TELL_SECONDS = 0.4  # seconds between two writes of the progress
_LONGEST_TEXT = 20_000  # characters of what an agent printed or raised that are kept


class Worker:
    """Works for the assignments of agents of a course.

    Parameters
    ----------
    stopping
        When it is set, the work under way is broken off, and the agent goes back into the queue.
    """

    def __init__(self, database: Database, storage: Storage, stopping: threading.Event) -> None:
        self._database, self._storage, self._stopping = database, storage, stopping
        self._queue = Queue(database, Agent, _given_up)

    def step(self) -> bool:
        """Judge the next agent, or play the next match of the head-to-head; returns whether there was something."""
        return self.judge_next() or self.play_next()

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
        except (Stopped, StoppedError):
            self._queue.put_back(agent.id, progress=0.0)
            raise Stopped from None
        except (PtttError, OSError):
            self._queue.put_back(agent.id, counts=True, progress=0.0)
            raise
        except Exception:
            log.exception("judging failed", extra=facts)
            outcome = _given_up(agent.id)
        self._queue.update(agent.id, **outcome)
        self._settle(f"verdict on agent {agent.id}")
        log.info("judged", extra={**facts, "status": outcome["status"], "verdict": outcome.get("message", "")})
        return True

    def _claim(self) -> tuple[Agent, AgentSettings] | None:
        with self._database.writing() as session:
            while (agent := next_up(session)) is not None:
                if self._queue.begin(agent, CHECKING):
                    assignment = session.get(Assignment, agent.assignment_id)
                    assert assignment is not None  # its agents go with it
                    return agent, settings_of(assignment.settings)
                session.flush()
        return None

    def _outcome(self, agent: Agent, settings: AgentSettings) -> dict[str, Any]:
        from pttt_ooc.course.kinds.agents.judging import judge

        try:
            handed_in = self._program(agent, settings)
        except ProgramError as error:
            return {"status": REJECTED, "message": "NO PROGRAM IN PYTHON", "detail": str(error), "progress": 1.0}
        self._check(settings)
        with taken_core(free_cores(), self._stopping) as core:
            if core is None:
                raise Stopped
            conditions = replace(settings.conditions, core=core)
            found = asdict(judge(handed_in, settings, conditions, self._reporter(agent.id), self._stopping))
        status = ACCEPTED if found.pop("accepted") else REJECTED
        for name in ("detail", "printed"):
            found[name] = found[name][-_LONGEST_TEXT:]
        return {**found, "status": status, "progress": 1.0}

    def _program(self, agent: Agent, settings: AgentSettings) -> BotProgram:
        content = self._storage.upload(agent.file).read_bytes()
        return program(agent.given, content, settings.sandbox, settings.conditions.python)

    @staticmethod
    def _check(settings: AgentSettings) -> None:
        if settings.sandbox:
            check_walls()

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
        """Play the next match of two teams' agents, while none waits for a verdict; returns whether there was one."""
        found = self._next_match()
        if found is None:
            return False
        (first, second), settings, is_last = found
        from pttt_ooc.course.kinds.agents.judging import meet

        self._check(settings)
        programs = self._program(first, settings), self._program(second, settings)
        with taken_core(free_cores(), self._stopping) as core:
            if core is None:
                raise Stopped
            try:
                counts = meet(programs, settings, replace(settings.conditions, core=core), self._stopping)
            except StoppedError:
                raise Stopped from None
        try:
            with self._database.writing() as session:
                session.add(AgentMatch(first_id=first.id, second_id=second.id, **counts))
        except IntegrityError:  # a team was removed meanwhile
            return True
        log.info("played", extra={"first": first.id, "second": second.id, "wins": counts["wins"]})
        if is_last:
            self._settle("head-to-head played")
        return True

    def _next_match(self) -> tuple[tuple[Agent, Agent], AgentSettings, bool] | None:
        """Two agents that are to meet, how, and whether all others of their assignment have met."""
        with self._database.reading() as session:
            for assignment in all_assignments(session, AGENTS):
                settings = settings_of(assignment.settings)
                if not settings.league:
                    continue
                playing = entered(session, self._storage.data, assignment).values()
                pair = missing(session, playing)
                if pair is not None:
                    first, second = (session.get_one(Agent, number) for number in pair)
                    return (first, second), settings, missing(session, playing, without=pair) is None
        return None

    def _settle(self, because: str) -> None:
        """Write down the grades that have changed; what fails is tried again at the next verdict."""
        try:
            with self._database.writing() as session:
                if is_graded(session):
                    settle(session, self._storage.data, because)
        except (PtttError, SQLAlchemyError):
            log.exception("grades could not be settled")


def next_up(session: Session) -> Agent | None:
    """The agent to judge now: of the team that has none judged, or whose last verdict is longest ago."""
    waiting = session.scalars(select(Agent).where(Agent.status.in_(UNFINISHED)).order_by(Agent.id)).all()
    now = time.time()
    due = [one for one in waiting if not (one.attempts and one.status == QUEUED and _lately(one.changed_at, now))]
    judged = select(Agent.team_id, func.max(Agent.changed_at)).where(Agent.status.not_in(UNFINISHED))
    served: dict[int, float] = {team: at for team, at in session.execute(judged.group_by(Agent.team_id))}
    return min(due, key=lambda one: (served.get(one.team_id, 0.0), one.id), default=None)


def _lately(at: float, now: float) -> bool:
    return now - RETRY_SECONDS < at <= now  # the clock may have been put back


def _given_up(number: int) -> Verdict:
    detail = f"It failed {ATTEMPTS} times, which is not your fault. Tell the instructors the number {number}."
    return {"status": REJECTED, "message": GAVE_UP, "detail": detail, "progress": 1.0}


def run(data: Path, stopping: threading.Event) -> None:
    """Work for a course until `stopping` is set.

    Raises
    ------
    PtttError
        If another worker is at work, or the grader cannot be opened, or an extra is missing.
    """
    check_extra("extreme", "The kind agents")
    check_extra("arena", "The kind agents")
    handle_signals(stopping)
    settings, storage = read_settings(data), Storage(data)
    pulse = Pulse(data / ALIVE)
    busy = f"Another worker of agents is at work in {data}; stop it first."
    with (
        hold(data / "worker.agents.lock", lambda _: busy, error=GraderError),
        closing(Database.of(data, settings.database_url, settings.game)) as database,
        pulse.beating(),
    ):
        Work(pulse, stopping, _FAILURE_SECONDS).repeat(Worker(database, storage, stopping).step)


if __name__ == "__main__":
    run_worker("agents", run)
