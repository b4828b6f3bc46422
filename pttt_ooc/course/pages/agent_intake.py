"""How agents are taken in: files of one assignment, kept as uploads are, for the worker."""

from __future__ import annotations

import re
import time
from functools import partial

from fastapi import HTTPException
from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.agents.settings import settings_of
from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.assignments import check_open, find_assignment
from pttt_ooc.course.data.limits import Limits, check_limits, hold
from pttt_ooc.course.data.memberships import was_brought_in
from pttt_ooc.course.data.models import Team
from pttt_ooc.course.data.queue import GAVE_UP
from pttt_ooc.course.data.rules import AGENTS
from pttt_ooc.course.data.storage import Incoming
from pttt_ooc.course.data.term_tables import Assignment
from pttt_ooc.course.pages.context import Course
from pttt_ooc.course.pages.uploads import Fields, Intake
from pttt_ooc.errors import CourseError

_NAME = re.compile(r"[A-Za-z]\w{0,59}\.py", re.ASCII)


def assignment_of(session: Session, name: str) -> Assignment:
    """The assignment of agents with this name; 404 if there is none."""
    try:
        found = find_assignment(session, name)
    except CourseError as error:
        raise HTTPException(404, str(error)) from None
    if found.kind != AGENTS:
        raise HTTPException(404, f"{name} takes no agents, but {found.kind}.")
    return found


def intake_of(course: Course, name: str) -> Intake[Agent]:
    """How agents of an assignment are taken in; 404 if there is no such assignment of agents."""
    with course.database.reading() as session:
        assignment = assignment_of(session, name)
    of_it = Agent.assignment_id == assignment.id
    hourly, waiting = course.settings.submissions_per_hour, course.settings.waiting_per_team
    limits = Limits("agents", hourly, waiting, of_it, brought=partial(was_brought_in, Agent))

    def check(team: Team, in_flight: int, at: float) -> None:
        with course.database.reading() as session:
            check_open(session, AGENTS, team, at, name)
            check_limits(session, Agent, team, limits, in_flight)

    def take(team: Team, fields: Fields, incoming: Incoming) -> tuple[Agent, bool]:
        return _keep(course, limits, assignment, team, incoming)

    return Intake(1000 * settings_of(assignment.settings).largest_kb, "the field file", check, take)


def _keep(course: Course, limits: Limits, assignment: Assignment, team: Team, incoming: Incoming) -> tuple[Agent, bool]:
    try:
        given = _own_name(incoming.given)
        with course.database.writing() as session:
            hold(session, team)
            own = select(Agent).where(Agent.team_id == team.id, Agent.assignment_id == assignment.id)
            latest = session.scalar(own.order_by(Agent.id.desc()).limit(1))
            same = latest is not None and (latest.digest, latest.given) == (incoming.digest, given)
            if latest is not None and same and latest.message != GAVE_UP:
                incoming.discard()
                return latest, False
            check_open(session, AGENTS, team, incoming.begun_at, assignment.name)
            check_limits(session, Agent, team, limits)
            incoming.keep()
            now = time.time()
            made = Agent(
                team_id=team.id,
                assignment_id=assignment.id,
                file=incoming.name,
                given=given,
                digest=incoming.digest,
                size=incoming.size,
                received_at=now,
                changed_at=now,
                begun_at=incoming.begun_at,
            )
            session.add(made)
    except BaseException:
        incoming.discard()
        raise
    return made, True


def _own_name(given: str) -> str:
    name = re.split(r"[/\\]", given)[-1]
    if not _NAME.fullmatch(name):
        raise HTTPException(400, "An agent is a file whose name is like mine.py, in letters, digits and underscores.")
    return name
