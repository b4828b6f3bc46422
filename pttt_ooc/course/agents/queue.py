"""The queue of agents: which one is judged next. The web process reads it, too."""

from __future__ import annotations

import time

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.memberships import latest_of_teams, left_by_all
from pttt_ooc.course.data.models import QUEUED, UNFINISHED
from pttt_ooc.course.data.queue import RETRY_SECONDS, numbers_again
from pttt_ooc.course.data.rules import AGENTS


def line(session: Session) -> list[Agent]:
    """The agents without a verdict, in the order in which they would be judged now.

    First come those of teams that have none judged, then those of the team whose last verdict is longest ago; see
    :func:`pttt_ooc.course.data.queue.line`.  Agents that are judged again come after all others, and agents of teams
    that everybody has left come last.
    """
    waiting = session.scalars(select(Agent).where(Agent.status.in_(UNFINISHED)).order_by(Agent.id)).all()
    served = latest_of_teams(session, Agent, Agent.changed_at, Agent.status.not_in(UNFINISHED))
    again, left = numbers_again(session, AGENTS), left_by_all(session)

    def place(one: Agent) -> tuple[bool, bool, float, int]:
        return one.team_id in left, one.id in again, served.get(one.team_id, 0.0), one.id

    return sorted(waiting, key=place)


def next_up(session: Session) -> Agent | None:
    """The agent to judge now, if there is one."""
    now = time.time()
    return next((one for one in line(session) if not _failed_lately(one, now)), None)


def _failed_lately(one: Agent, now: float) -> bool:
    failed = bool(one.attempts) and one.status == QUEUED
    return failed and now - RETRY_SECONDS < one.changed_at <= now  # the clock may have been put back
