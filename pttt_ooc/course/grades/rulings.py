"""Rulings of the instructors: a submission is hidden or withdrawn, a team is disqualified, each with a reason.

A hidden submission counts, and only its own team sees it.  A withdrawn one is hidden and does not count: the team's
next best does.  A disqualified team has no points and no rank in an assignment.  All of it can be taken back.
"""

from __future__ import annotations

import time
from pathlib import Path

from sqlalchemy import delete, or_, select
from sqlalchemy.orm import Session

from pttt_ooc.course.bots.league import league_directory
from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.assignments import find_assignment, further_games, further_leagues
from pttt_ooc.course.data.audit import note
from pttt_ooc.course.data.game_directory import writing_to_game
from pttt_ooc.course.data.models import ACCEPTED, HIDDEN, WITHDRAWN, Entry, Judged, Submission, Team
from pttt_ooc.course.data.names import readable_name
from pttt_ooc.course.data.rules import AGENTS, BOTS, REPORT, STRATEGIES
from pttt_ooc.course.data.standings import beats, disqualifications, touch
from pttt_ooc.course.data.term_tables import Disqualification, GradeRow, Report, Ruling
from pttt_ooc.course.grades.decisions import check_reason
from pttt_ooc.course.grades.gradebook import settle
from pttt_ooc.course.people.teams import find_team
from pttt_ooc.errors import CourseError

NONE = "none"
RULINGS = (HIDDEN, WITHDRAWN, NONE)


def rule(
    session: Session, data: Path, by: str, kind: str, number: int, ruling: str, reason: str, of: str = ""
) -> list[GradeRow]:
    """Hide or withdraw a submission, or (:data:`NONE`) neither any more; returns the grades that change.

    Parameters
    ----------
    of
        The further game or league that has the submission; empty: the course's own.

    Raises
    ------
    CourseError
        If there is no such submission or ruling, or a reason is missing; or the tournament of bots has begun.
    """
    if ruling not in RULINGS:
        raise CourseError(f"There is no ruling {ruling!r}; choose from {', '.join(RULINGS)}.")
    if ruling == HIDDEN and kind in (BOTS, REPORT):
        raise CourseError(f"Only its own team sees a {kind.removesuffix('s')}; there is nothing to hide.")
    further = {STRATEGIES: further_games, BOTS: further_leagues}.get(kind)
    if of and (further is None or of not in further(session)):
        raise CourseError(f"No assignment of {kind} has a further game or league {of!r}.")
    reason, wanted = check_reason(reason), "" if ruling == NONE else ruling
    row = _set_ruling(session, data, kind, number, wanted, of)
    made = Ruling(kind=kind, of=of, submission=number, ruling=wanted, reason=reason, at=time.time(), by=by)
    made.team_id = row.team_id
    session.add(made)
    facts = {"kind": kind, "submission": number, "reason": reason, **({"of": of} if of else {})}
    note(session, by, ruling if wanted else "restore", **facts)
    session.flush()
    noun = {STRATEGIES: "submission", BOTS: "bot", AGENTS: "agent", REPORT: "report"}[kind]
    what = f"{noun} {number}{f' of {of}' if of else ''}"
    return settle(session, data, f"{ruling if wanted else 'restored'}: {what}, by {by}")


def _set_ruling(session: Session, data: Path, kind: str, number: int, wanted: str, of: str) -> Judged:
    """The submission, which has the ruling now."""
    if kind == STRATEGIES and of:
        with writing_to_game(data, of) as own:
            return _strategy(own, number, wanted)
    if kind == STRATEGIES:
        return _strategy(session, number, wanted)
    if kind == REPORT:
        report = session.get(Report, number)
        if report is None:
            raise CourseError(f"There is no report {number}.")
        report.ruling = wanted
        return report
    if kind == AGENTS:
        agent = session.get(Agent, number)
        if agent is None:
            raise CourseError(f"There is no agent {number}.")
        agent.ruling, agent.changed_at = wanted, time.time()
        return agent
    if kind == BOTS:
        return _bot(league_directory(data, of or None), number, wanted)
    raise CourseError(f"There is no kind {kind!r}; choose from {STRATEGIES}, {BOTS}, {AGENTS}, {REPORT}.")


def _strategy(session: Session, number: int, wanted: str) -> Submission:
    row = session.get(Submission, number)
    if row is None:
        raise CourseError(f"There is no submission {number}.")
    if not row.team.of_students:
        raise CourseError(f"The strategies of {row.team.name} are the instructors' own, and stay.")
    row.ruling, row.changed_at = wanted, time.time()
    session.flush()
    _choose_best(session, row.team_id, row.player)
    touch(session)
    return row


def _choose_best(session: Session, team: int, player: int) -> None:
    """Make the right submission the team's best; the worker completes its values in the matrix."""
    rows = session.scalars(
        select(Submission)
        .where(Submission.team_id == team, Submission.player == player, Submission.status == ACCEPTED)
        .order_by(Submission.id)
    ).all()
    best: Submission | None = None
    for row in rows:
        former = None if best is None else best.exploitability
        if row.ruling != WITHDRAWN and beats(row.exploitability, former):
            best = row
    for row in rows:
        if row.best and row is not best:
            row.best = False
            session.execute(delete(Entry).where(or_(Entry.first_id == row.id, Entry.second_id == row.id)))
    if best is not None:
        best.best = True


def _bot(data: Path, number: int, wanted: str) -> Judged:
    from pttt_ooc.course.bots.league import League, is_there
    from pttt_ooc.course.bots.submissions import Bots

    if not is_there(data):
        raise CourseError("This course has no league of bots.")
    bots = Bots(League(data))
    try:
        return bots.rule(number, wanted)
    finally:
        bots.close()


def ruling_of(session: Session, kind: str, number: int, of: str = "") -> Ruling | None:
    """The ruling in force on a submission, which its team sees; for `of` see :func:`rule`."""
    query = select(Ruling).where(Ruling.kind == kind, Ruling.of == of, Ruling.submission == number)
    found = session.scalar(query.order_by(Ruling.id.desc()).limit(1))
    return found if found is not None and found.ruling else None


def disqualify(
    session: Session, data: Path, by: str, team: str, assignment: str, reason: str, holds: bool = True
) -> list[GradeRow]:
    """Disqualify a team from an assignment, or no longer; returns the grades that change.

    Raises
    ------
    CourseError
        If there is no such team or assignment, or a reason is missing, or nothing would change.
    """
    of, to = find_team(session, team), find_assignment(session, assignment)
    if of is None or not of.of_students:
        raise CourseError(f"There is no team {readable_name(team)}; `pttt course teams` lists them.")
    if ((of.id, to.id) in disqualifications(session)) == holds:
        raise CourseError(f"{of.own_name} is {'already' if holds else 'not'} disqualified from {to.name}.")
    made = Disqualification(team_id=of.id, assignment_id=to.id, holds=holds, reason=check_reason(reason), by=by)
    made.at = time.time()
    session.add(made)
    touch(session)
    what = "disqualify" if holds else "reinstate"
    note(session, by, what, team=of.own_name, assignment=to.name, reason=made.reason)
    session.flush()
    return settle(session, data, f"{what}, by {by}")


def disqualification_of(session: Session, team: Team) -> dict[int, Disqualification]:
    """A team's disqualifications in force, by the assignment's number."""
    return {assignment: one for (number, assignment), one in disqualifications(session).items() if number == team.id}
