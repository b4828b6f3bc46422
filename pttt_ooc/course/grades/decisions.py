"""What people decide about grades: marks, adjustments, extensions, picks, the release.

Each decision is a row of its own, a line of the log and, if a grade changes, a row of its history, in one transaction.
"""

from __future__ import annotations

import time
from pathlib import Path

from sqlalchemy.orm import Session

from pttt_ooc.course.data.assignments import dates_for, find_assignment, term_of
from pttt_ooc.course.data.audit import note
from pttt_ooc.course.data.dates import CLOSED, instant, instant_text
from pttt_ooc.course.data.models import Team
from pttt_ooc.course.data.names import NO_TEXT, readable_name
from pttt_ooc.course.data.rules import PICK
from pttt_ooc.course.data.term_tables import Adjustment, Announcement, Assignment, Extension, GradeRow, Mark, Pick
from pttt_ooc.course.grades.gradebook import settle
from pttt_ooc.course.grades.work import PARTS, candidates
from pttt_ooc.course.people.post import enter
from pttt_ooc.course.people.teams import find_team
from pttt_ooc.errors import CourseError

_LONGEST_REASON, _LONGEST_COMMENT, _LONGEST_TITLE = 500, 2000, 200


class Desk:
    """The desk of somebody with rights.

    Parameters
    ----------
    session
        Of a transaction that writes.
    data
        The directory of the course.
    by
        Who decides, for the log.
    """

    def __init__(self, session: Session, data: Path, by: str) -> None:
        self.session, self.data, self.by = session, data, by

    def _of(self, team: str, assignment: str) -> tuple[Team, Assignment]:
        found = find_team(self.session, team)
        if found is None or not found.of_students:
            raise CourseError(f"There is no team {readable_name(team)}; `pttt course teams` lists them.")
        return found, find_assignment(self.session, assignment)

    def mark(self, team: str, assignment: str, criterion: str, points: float, comment: str = "") -> list[GradeRow]:
        """Give points for a criterion; they replace earlier ones.

        Raises
        ------
        CourseError
            If there is no such team, assignment or criterion, or it has not so many points.
        """
        of, to = self._of(team, assignment)
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
        """Give points more or fewer, with a reason that the team sees; CourseError if something is missing."""
        of, to = self._of(team, assignment)
        if not -10_000 <= points <= 10_000:
            raise CourseError(f"An adjustment has -10000 to 10000 points, not {points:g}.")
        reason = check_reason(reason)
        made = Adjustment(team_id=of.id, assignment_id=to.id, points=points, reason=reason, at=time.time(), by=self.by)
        self.session.add(made)
        return self._note_and_settle("adjust", of, to, points=points, reason=reason)

    def extend(self, team: str, assignment: str, until: str | None, reason: str) -> list[GradeRow]:
        """Move a team's deadline; None takes an extension back.  CourseError if it is no later deadline."""
        of, to = self._of(team, assignment)
        at = None if until is None else instant(until, term_of(self.session).zone)
        if at is not None and to.due_at is None:
            raise CourseError(f"{to.name} has no deadline that could be extended.")
        if at is not None and to.due_at is not None and at <= to.due_at:
            due = instant_text(to.due_at, term_of(self.session).zone)
            raise CourseError(f"{until} is no extension: the deadline of {to.name} is {due}.")
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
            If teams do not choose there, or it is no submission of the team that may count.
        """
        of, to = self._of(team, assignment)
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
            raise CourseError(f"{to.name} is closed, so that what counts stays; ask the instructors.")
        return self.pick(team.name, assignment, number)

    def _note_and_settle(self, what: str, team: Team, assignment: Assignment, **facts: object) -> list[GradeRow]:
        note(self.session, self.by, what, team=team.own_name, assignment=assignment.name, **facts)
        self.session.flush()
        return settle(self.session, self.data, f"{what}, by {self.by}")


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
