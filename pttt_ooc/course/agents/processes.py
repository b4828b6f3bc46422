"""The worker of agents, beside a course's own processes."""

from __future__ import annotations

from pathlib import Path

from pttt_ooc.course.data.assignments import all_assignments
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.rules import AGENTS

MODULE = "pttt_ooc.course.server.agent_worker"


def workers(data: Path, database: Database) -> list[tuple[str, ...]]:
    """Name, module and arguments of the worker, if there is an assignment of agents."""
    return [("agents", MODULE, str(data))] if has_agents(database) else []


def has_agents(database: Database) -> bool:
    """Whether there is an assignment of agents."""
    with database.reading() as session:
        return bool(all_assignments(session, AGENTS))
