"""What people decide: marks, adjustments, extensions, picks, the release; and rulings, each with a reason.

In one transaction each decision adds a row, a line of the log and, if a grade changes, a row of the grade's history.

A hidden submission counts, and only its own team sees it.  A withdrawn one is hidden and does not count: the team's
next best does.  A disqualified team has no points and no rank in an assignment.  All of it can be taken back.
"""

from __future__ import annotations

import time
from pathlib import Path

from sqlalchemy import delete, or_, select
from sqlalchemy.orm import Session

from pttt_ooc.course.bots.league import league_directory
from pttt_ooc.course.bots.submissions import open_bots
from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.assignments import dates_for, find_assignment, further_games, further_leagues, term_of
from pttt_ooc.course.data.audit import note
from pttt_ooc.course.data.dates import CLOSED, instant, instant_text
from pttt_ooc.course.data.game_directory import writing_to_game
from pttt_ooc.course.data.models import ACCEPTED, HIDDEN, WITHDRAWN, Entry, Judged, Submission, Team
from pttt_ooc.course.data.names import NO_TEXT
from pttt_ooc.course.data.rules import AGENTS, BOTS, PICK, REPORT, STRATEGIES
from pttt_ooc.course.data.standings import beats, disqualifications, touch
from pttt_ooc.course.data.term_tables import (
    Adjustment,
    Announcement,
    Assignment,
    Disqualification,
    Extension,
    GradeRow,
    Mark,
    Pick,
    Report,
    Ruling,
)
from pttt_ooc.course.grades.gradebook import settle
from pttt_ooc.course.grades.work import PARTS, candidates
from pttt_ooc.course.people.post import enter
from pttt_ooc.course.people.teams import require_team
from pttt_ooc.errors import CourseError

_LONGEST_REASON, _LONGEST_COMMENT, _LONGEST_TITLE = 500, 2000, 200


class Desk:
    """The desk of somebody with rights.

    Parameters
    ----------
    session
        The session of a transaction that writes.
    data
        The directory of the course.
    by
        Who decides, for the log.
    """

    def __init__(self, session: Session, data: Path, by: str) -> None:
        self.session, self.data, self.by = session, data, by

    def mark(self, team: str, assignment: str, criterion: str, points: float, comment: str = "") -> list[GradeRow]:
        """Give points for a criterion; they replace earlier ones.

        Raises
        ------
        CourseError
            If there is no such team, assignment or criterion, or the criterion has fewer points.
        """
        of, to = _find(self.session, team, assignment)
        criteria = {str(one["name"]): float(one["points"]) for one in to.rubric}
        if criterion not in criteria:
            known = ", ".join(criteria) or "none"
            raise CourseError(f"There is no criterion {criterion!r} in {to.name}; there are: {known}.")
        if not 0 <= points <= criteria[criterion]:
            raise CourseError(f"{criterion} has 0 to {criteria[criterion]:g} points, not {points:g}.")
        made = Mark(team_id=of.id, assignment_id=to.id, criterion=criterion, points=points, at=time.time(), by=self.by)
        made.comment = _text(comment, "A comment", _LONGEST_COMMENT)
        self.session.add(made)
        return self._note_and_settle("mark", of, to, criterion=criterion, points=points, comment=comment)

    def adjust(self, team: str, assignment: str, points: float, reason: str) -> list[GradeRow]:
        """Add points or take them away, with a reason that the team sees; CourseError if something is refused."""
        of, to = _find(self.session, team, assignment)
        if not -10_000 <= points <= 10_000:
            raise CourseError(f"An adjustment has -10000 to 10000 points, not {points:g}.")
        reason = check_reason(reason)
        made = Adjustment(team_id=of.id, assignment_id=to.id, points=points, reason=reason, at=time.time(), by=self.by)
        self.session.add(made)
        return self._note_and_settle("adjust", of, to, points=points, reason=reason)

    def extend(self, team: str, assignment: str, until: str | None, reason: str) -> list[GradeRow]:
        """Move a team's deadline; None takes an extension back.  CourseError if the new deadline is not later."""
        of, to = _find(self.session, team, assignment)
        at = None if until is None else instant(until, term_of(self.session).zone)
        if at is not None and to.due_at is None:
            raise CourseError(f"{to.name} has no deadline that could be extended.")
        if at is not None and to.due_at is not None and at <= to.due_at:
            due = instant_text(to.due_at, term_of(self.session).zone)
            raise CourseError(f"{until} is not later: the deadline of {to.name} is {due}.")
        reason = check_reason(reason)
        made = Extension(team_id=of.id, assignment_id=to.id, until=at, reason=reason, at=time.time(), by=self.by)
        self.session.add(made)
        return self._note_and_settle("extend", of, to, until=until, reason=reason)

    def release(self, assignment: str, released: bool = True) -> None:
        """Show teams their points, or hide them again."""
        to = find_assignment(self.session, assignment)
        to.released = released
        note(self.session, self.by, "release", assignment=to.name, released=released)

    def announce(self, title: str, text: str) -> None:
        """Tell everybody something; CourseError if the title is missing, or either is too long."""
        title = _text(" ".join(title.split()), "A title", _LONGEST_TITLE)
        if not title:
            raise CourseError(f"An announcement has a title of 1 to {_LONGEST_TITLE} characters.")
        text = _text(text, "An announcement", _LONGEST_COMMENT)
        made = Announcement(at=time.time(), by=self.by, title=title, text=text)
        self.session.add(made)
        self.session.flush()
        messages = enter(self.session, self.data, made)
        note(self.session, self.by, "announce", title=title, **({"messages": messages} if messages else {}))

    def pick(self, team: str, assignment: str, number: int | None) -> list[GradeRow]:
        """Choose which submission counts; None takes all of the team's picks back, so that the last ones count.

        Raises
        ------
        CourseError
            If teams do not choose in this assignment, or `number` is not a submission of the team that may count.
        """
        of, to = _find(self.session, team, assignment)
        if to.choice != PICK:
            raise CourseError(f"In {to.name} the {to.choice} submission counts; teams do not choose.")
        may = {one.number: one for one in candidates(self.session, to, self.data).get(of.id, [])}
        if number is not None and number not in may:
            raise CourseError(
                f"There is no accepted submission {number} of {of.name} in {to.name} that was begun within its dates."
            )
        slots = {may[number].slot: number} if number is not None else dict.fromkeys(range(len(PARTS[to.kind])), 0)
        for slot, chosen in slots.items():
            made = Pick(team_id=of.id, assignment_id=to.id, slot=slot, submission=chosen, at=time.time(), by=self.by)
            self.session.add(made)
        return self._note_and_settle("pick", of, to, submission=number)

    def pick_of_team(self, team: Team, assignment: str, number: int | None) -> list[GradeRow]:
        """A team's own :meth:`pick`, which it may change until the assignment closes; CourseError afterwards."""
        to = find_assignment(self.session, assignment)
        dates = dates_for(self.session, to, team)
        if dates.state(time.time()) == CLOSED:
            raise CourseError(f"{to.name} is closed, so your team cannot choose any more; ask the instructors.")
        return self.pick(team.name, assignment, number)

    def _note_and_settle(self, what: str, team: Team, assignment: Assignment, **facts: object) -> list[GradeRow]:
        note(self.session, self.by, what, team=team.own_name, assignment=assignment.name, **facts)
        self.session.flush()
        return settle(self.session, self.data, f"{what}, by {self.by}")


def _find(session: Session, team: str, assignment: str) -> tuple[Team, Assignment]:
    return require_team(session, team, of_students=True), find_assignment(session, assignment)


def _text(text: str, what: str, longest: int) -> str:
    text = "\n".join(" ".join(line.split()) for line in text.splitlines()).strip()
    if odd := NO_TEXT.search(text):
        raise CourseError(f"{what} has the character U+{ord(odd[0]):04X}, which cannot be shown; leave it out.")
    if len(text) > longest:
        raise CourseError(f"{what} has at most {longest} characters; this one has {len(text)}.")
    return text


def check_reason(reason: str) -> str:
    """A reason, on lines without spaces around them; CourseError if there is none, or it is too long."""
    if not (reason := _text(reason, "A reason", _LONGEST_REASON)):
        raise CourseError("A reason is missing; the team sees it.")
    return reason


NONE = "none"
RULINGS = (HIDDEN, WITHDRAWN, NONE)


def rule(
    session: Session, data: Path, by: str, kind: str, number: int, ruling: str, reason: str, of: str = ""
) -> list[GradeRow]:
    """Hide or withdraw a submission, or undo either (:data:`NONE`); returns the grades that change.

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
    """Give a submission its ruling; returns the submission."""
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
        with open_bots(league_directory(data, of or None)) as bots:
            if bots is None:
                raise CourseError("This course has no league of bots.")
            return bots.rule(number, wanted)
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


def ruling_of(session: Session, kind: str, number: int, of: str = "") -> Ruling | None:
    """The ruling in force on a submission, which its team sees; for `of` see :func:`rule`."""
    query = select(Ruling).where(Ruling.kind == kind, Ruling.of == of, Ruling.submission == number)
    found = session.scalar(query.order_by(Ruling.id.desc()).limit(1))
    return found if found is not None and found.ruling else None


def disqualify(
    session: Session, data: Path, by: str, team: str, assignment: str, reason: str, holds: bool = True
) -> list[GradeRow]:
    """Disqualify a team from an assignment, or undo that; returns the grades that change.

    Raises
    ------
    CourseError
        If there is no such team or assignment, or a reason is missing, or nothing would change.
    """
    of, to = _find(session, team, assignment)
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
