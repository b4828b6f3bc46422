"""The verdict on an agent as columns of its row: its file is read, and judged on a core of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy.orm import Session

from pttt_ooc.course.agents.settings import AgentSettings, settings_of
from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.models import ACCEPTED, REJECTED
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.course.data.term_tables import Assignment
from pttt_ooc.course.data.worker_process import Stopped
from pttt_ooc.other_games.extreme.bot_programs import BotProgram, ProgramError, program
from pttt_ooc.other_games.extreme.clock import StoppedError
from pttt_ooc.other_games.extreme.cores import free_cores, taken_core
from pttt_ooc.other_games.extreme.match import check_walls

_LONGEST_TEXT = 20_000  # characters of what an agent printed or raised that are kept


def check_walls_of(settings: AgentSettings) -> None:
    """Raise an ExtremeError if agents cannot be walled in here as the settings say."""
    if settings.sandbox:
        check_walls()


def program_of(storage: Storage, agent: Agent, settings: AgentSettings) -> BotProgram:
    """An agent's program.

    Raises
    ------
    OSError
        If its file is lost.
    ProgramError
        If it is not a program in Python.
    """
    content = storage.upload(agent.file).read_bytes()
    return program(agent.given, content, settings.sandbox, settings.conditions.python)


def verdict_on(
    storage: Storage,
    agent: Agent,
    settings: AgentSettings,
    stopping: threading.Event,
    tell: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """The verdict on an agent.

    Parameters
    ----------
    tell
        Called with the share of the games that are played.

    Raises
    ------
    Stopped
        If `stopping` is set.
    OSError
        If its file is lost.
    ExtremeError
        If agents cannot be run on this machine as the settings say.
    """
    from pttt_ooc.course.agents.judging import judge

    # A file that is not a program is rejected at once, without a game.
    try:
        handed_in = program_of(storage, agent, settings)
    except ProgramError as error:
        return {"status": REJECTED, "message": "NO PROGRAM IN PYTHON", "detail": str(error), "progress": 1.0}
    check_walls_of(settings)
    # Games are played on a core that no other match has, as each move is timed.  Without a core the worker is stopping:
    # then there is no verdict, and the agent is judged at the next start.
    with taken_core(free_cores(), stopping) as core:
        if core is None:
            raise Stopped
        try:
            found = asdict(judge(handed_in, settings, replace(settings.conditions, core=core), tell, stopping))
        except StoppedError:
            raise Stopped from None
    # The verdict as columns.  Long texts keep their end, where the error is.
    status = ACCEPTED if found.pop("accepted") else REJECTED
    for name in ("detail", "printed"):
        found[name] = found[name][-_LONGEST_TEXT:]
    return {**found, "status": status, "progress": 1.0}


def judge_of(session: Session, storage: Storage, stopping: threading.Event) -> Callable[[Agent], dict[str, Any]]:
    """Judges agents by the settings that their assignments have now."""

    def judge(agent: Agent) -> dict[str, Any]:
        assignment = session.get_one(Assignment, agent.assignment_id)
        return verdict_on(storage, agent, settings_of(assignment.settings), stopping)

    return judge
