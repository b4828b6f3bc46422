"""Grades for other programs: CSV and JSON, also with the columns that Canvas and Gradescope read.

Text that begins like a formula gets an apostrophe in front: a spreadsheet must not compute a team's name.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.assignments import all_assignments, find_assignment
from pttt_ooc.course.data.models import OF_STUDENTS, Team
from pttt_ooc.course.data.term_tables import Assignment, Person
from pttt_ooc.course.grades.gradebook import current, most_of
from pttt_ooc.course.people.people import members
from pttt_ooc.errors import CourseError

FORMATS = ("csv", "json", "canvas", "gradescope")
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%", "＝", "＋", "－", "＠")


@dataclass(frozen=True)
class Line:
    """A team's grade for an assignment; `facts` None: there is none yet."""

    team: Team
    assignment: Assignment
    members: Sequence[Person]
    facts: dict[str, Any] | None

    @property
    def points(self) -> float | None:
        """Its points."""
        return None if self.facts is None else self.facts["points"]


def safe(text: str) -> str:
    """A text as a cell of a CSV that no spreadsheet takes for a formula."""
    flat = " ".join(text.split()) if any(c in text for c in "\r\n\t") else text
    return f"'{flat}" if flat.lstrip(" '\"").startswith(_FORMULAS) or text.startswith(_FORMULAS) else flat


def lines(session: Session, assignment: str | None = None) -> list[Line]:
    """The grades of all teams, as they were settled last; of one assignment, if it is named."""
    wanted = all_assignments(session) if assignment is None else [find_assignment(session, assignment)]
    rows, people = current(session), members(session)
    teams = sorted(session.scalars(select(Team).where(*OF_STUDENTS)), key=lambda team: team.roster_key or team.key)
    return [
        Line(team, one, people.get(team.id, []), row.facts if (row := rows.get((team.id, one.id))) else None)
        for one in wanted
        for team in teams
    ]


def export(session: Session, form: str, assignment: str | None = None) -> str:
    """The grades as text.

    Raises
    ------
    CourseError
        If there is no such format or assignment, or nobody is in a team and the format has a line for each student.
    """
    found = lines(session, assignment)
    if form == "csv":
        return _csv(found)
    if form == "json":
        return _json(found)
    if form not in FORMATS:
        raise CourseError(f"There is no format {form!r}; choose from {', '.join(FORMATS)}.")
    if not any(line.members for line in found):
        raise CourseError(f"{form} has a line for each student, but no team has members; see `pttt course teams`.")
    return _canvas(found) if form == "canvas" else _gradescope(found)


def _csv(found: Sequence[Line]) -> str:
    heading = ["team", "assignment", "points", "of", "rule", "by hand", "late days", "late factor", "adjustment"]
    rows = [
        [safe(line.team.own_name), line.assignment.name, _number(line.points), _number(most_of(line.assignment))]
        + [_number((line.facts or {}).get(name)) for name in ("automatic", "manual", "days", "factor", "adjustment")]
        + [safe((line.facts or {}).get("why", "")), _submissions(line)]
        for line in found
    ]
    return table([[*heading, "why", "submissions"], *rows])


def _submissions(line: Line) -> str:
    return " ".join(str(number) for number in (line.facts or {}).get("submissions", {}).values())


def _canvas(found: Sequence[Line]) -> str:
    """The columns of Canvas: Student, ID, SIS User ID, SIS Login ID, Section, and one for each assignment.

    The first row has the possible points.  An empty ID lets Canvas find the student by SIS Login ID.
    """
    assignments = _assignments(found)
    titles = [safe(one.title) for one in assignments]
    possible = ["    Points Possible", "", "", "", "", *(_number(most_of(one)) for one in assignments)]
    by = {(line.team.id, line.assignment.id): line for line in found}
    rows = [
        [safe(one.name), "", safe(one.number), safe(one.email), ""]
        + [_number(by[team, assignment.id].points) for assignment in assignments]
        for team, one in _students(found)
    ]
    return table([["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles], possible, *rows])


def _gradescope(found: Sequence[Line]) -> str:
    """The columns of Gradescope's own export: First Name, Last Name, SID, Email, then points and Max Points."""
    assignments = _assignments(found)
    heading = ["First Name", "Last Name", "SID", "Email"]
    for one in assignments:
        heading += [safe(one.title), safe(f"{one.title} - Max Points")]
    by = {(line.team.id, line.assignment.id): line for line in found}
    rows = []
    for team, person in _students(found):
        first, _, last = person.name.rpartition(" ")
        row = [safe(first), safe(last), safe(person.number), safe(person.email)]
        for one in assignments:
            row += [_number(by[team, one.id].points), _number(most_of(one))]
        rows.append(row)
    return table([heading, *rows])


def _assignments(found: Sequence[Line]) -> list[Assignment]:
    return list({line.assignment.id: line.assignment for line in found}.values())


def _students(found: Sequence[Line]) -> list[tuple[int, Person]]:
    pairs = {one.id: (line.team.id, one) for line in found for one in line.members}
    return sorted(pairs.values(), key=lambda pair: (pair[1].name, pair[1].id))


def _json(found: Sequence[Line]) -> str:
    told = [
        {
            "team": line.team.own_name,
            "assignment": line.assignment.name,
            "members": [{"name": one.name, "email": one.email, "number": one.number} for one in line.members],
            "grade": line.facts,
        }
        for line in found
    ]
    return json.dumps(told, ensure_ascii=False, indent=2) + "\n"


def _number(value: float | None) -> str:
    return "" if value is None else f"{round(value, 4):g}" if abs(value) < 1e5 else str(round(value, 2))


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as a CSV; the first one is the heading."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
