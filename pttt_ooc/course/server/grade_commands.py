"""The commands ``pttt course ...`` about grades and decisions: points, deadlines of teams, what teams see, the log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pttt_ooc.course.server.commands import (
    AssignmentArgument,
    CourseOptions,
    DecisionOptions,
    ReasonOption,
    TeamArgument,
    command,
    open_course,
    reading,
    tell,
    writing,
)
from pttt_ooc.disk.outputs import check_output
from pttt_ooc.options import ForceOption

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from pttt_ooc.course.data.term_tables import GradeRow
    from pttt_ooc.course.grades.decisions import Desk


@contextmanager
def _desk(here: DecisionOptions) -> Iterator[Desk]:
    """The decisions of one transaction."""
    with writing(here) as session:
        from pttt_ooc.course.grades.decisions import Desk

        yield Desk(session, here.data, here.by)


def grade_facts(session: Session, rows: list[GradeRow]) -> list[dict[str, Any]]:
    """Grades that have changed, for programs."""
    from pttt_ooc.course.data.models import Team
    from pttt_ooc.course.data.term_tables import Assignment

    found = []
    for row in rows:
        team, assignment = session.get(Team, row.team_id), session.get(Assignment, row.assignment_id)
        assert team is not None and assignment is not None
        found.append({"team": team.own_name, "assignment": assignment.name, "points": row.points})
    return found


def grade_lines(told: list[dict[str, Any]]) -> list[str]:
    """Lines for people about grades that have changed."""
    from pttt_ooc.course.data.names import readable_name

    points = ["no points" if one["points"] is None else f"{one['points']:g} points" for one in told]
    lines = [f"{readable_name(one['team'])}, {one['assignment']}: {p}" for one, p in zip(told, points, strict=True)]
    return lines or ["No grade changes."]


@command("grades --format canvas -o grades.csv --data course")
def grades(
    here: CourseOptions,
    assignment: Annotated[str | None, typer.Option(metavar="NAME", help="Only this assignment.")] = None,
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help="csv, json, canvas or gradescope.")] = "csv",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The file to write; default: print them.")
    ] = None,
    force: ForceOption = False,
) -> None:
    """Settle all grades, and export them."""
    with open_course(here) as database:
        from pttt_ooc.course.grades.exports import export
        from pttt_ooc.course.grades.gradebook import settle
        from pttt_ooc.disk.files import atomic_write_text
        from pttt_ooc.disk.permissions import private

        if output is not None:
            check_output(output, [here.data], force=force)
        with database.writing() as session:
            settle(session, here.data, "grades exported")
            text = export(session, "json" if here.as_json else form, assignment)
        if output is None:
            print(text, end="")
        else:
            with private():
                atomic_write_text(output, text)


def tell_grades(session: Session, rows: list[GradeRow], here: DecisionOptions, **facts: Any) -> None:
    """Print what was decided, and the grades that have changed."""
    told = grade_facts(session, rows)
    tell({**facts, "grades": told}, here, grade_lines(told))


@command("mark 'Team A' extreme search 18 --comment 'Clear.' --data course")
def mark(
    here: DecisionOptions,
    team: TeamArgument,
    assignment: AssignmentArgument,
    criterion: Annotated[str, typer.Argument(metavar="CRITERION", help="Of the rubric.")],
    points: Annotated[float, typer.Argument(metavar="POINTS", help="From 0 to the criterion's points.")],
    comment: Annotated[str, typer.Option(metavar="TEXT", help="For the team.")] = "",
) -> None:
    """Give points by hand for a criterion of the rubric; they replace earlier ones."""
    with _desk(here) as desk:
        rows = desk.mark(team, assignment, criterion, points, comment)
        facts = {"team": team, "assignment": assignment, "criterion": criterion, "points": points}
        tell_grades(desk.session, rows, here, **facts)


@command("adjust 'Team A' extreme --points=-5 --reason 'Code of others' --data course")
def adjust(
    here: DecisionOptions,
    team: TeamArgument,
    assignment: AssignmentArgument,
    points: Annotated[float, typer.Option(metavar="POINTS", help="More, or fewer: --points=-5.")],
    reason: ReasonOption,
) -> None:
    """Add or take away points, with a reason."""
    with _desk(here) as desk:
        rows = desk.adjust(team, assignment, points, reason)
        tell_grades(desk.session, rows, here, team=team, assignment=assignment, points=points)


@command("extend 'Team A' extreme '2027-03-01 23:55' --reason ill")
def extend(
    here: DecisionOptions,
    team: TeamArgument,
    assignment: AssignmentArgument,
    until: Annotated[str, typer.Argument(metavar="TIME", help="The new deadline; none takes it back.")],
    reason: ReasonOption,
) -> None:
    """Move a team's deadline; the end of late uploads moves with it."""
    with _desk(here) as desk:
        given = None if until == "none" else until
        rows = desk.extend(team, assignment, given, reason)
        tell_grades(desk.session, rows, here, team=team, assignment=assignment, until=given)


@command("release extreme --data course")
def release(
    here: DecisionOptions,
    assignment: AssignmentArgument,
    hide: Annotated[bool, typer.Option("--hide", help="Hide the points again.")] = False,
) -> None:
    """Show teams their points for an assignment."""
    with _desk(here) as desk:
        desk.release(assignment, not hide)
    sentence = f"Teams {'no longer ' if hide else ''}see their points for {assignment}."
    tell({"assignment": assignment, "released": not hide}, here, [sentence])


def _points_text(points: float | None) -> str:
    return "–" if points is None else f"{points:g}"


@command("history 'Team A' extreme --data course")
def history(here: CourseOptions, team: TeamArgument, assignment: AssignmentArgument) -> None:
    """Show all grades that a team has had for an assignment, and why they changed."""
    with reading(here) as session:
        from pttt_ooc.course.data.assignments import find_assignment, term_of
        from pttt_ooc.course.data.dates import readable_instant
        from pttt_ooc.course.grades import gradebook
        from pttt_ooc.course.people.teams import require_team

        found = require_team(session, team)
        zone = term_of(session).zone
        rows = gradebook.history(session, found.id, find_assignment(session, assignment).id)
        told = [{"at": row.at, "points": row.points, "because": row.because, "grade": row.facts} for row in rows]
        text = [f"{readable_instant(row.at, zone)}  {_points_text(row.points):>6}  {row.because}" for row in rows]
    tell(told, here, text or ["There is no grade yet."])


@command("log --data course")
def log(
    here: CourseOptions,
    most: Annotated[int, typer.Option(min=1, metavar="N", help="How many lines; the latest come first.")] = 50,
) -> None:
    """Show what people with rights have done."""
    with reading(here) as session:
        from pttt_ooc.course.data.assignments import term_of
        from pttt_ooc.course.data.audit import lines
        from pttt_ooc.course.data.dates import readable_instant

        zone = term_of(session).zone
        found = lines(session, most)
        told = [{"at": one.at, "by": one.by, "what": one.what, "facts": one.facts} for one in found]
        text = [
            f"{readable_instant(one.at, zone)}  {one.by}: {one.what} {json.dumps(one.facts, ensure_ascii=False)}"
            for one in found
        ]
    tell(told, here, text or ["The log is empty."])


@command("announce 'The viva' --text 'Room 32-144, on 3 March.'")
def announce(
    here: DecisionOptions,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="One line.")],
    text: Annotated[str, typer.Option(metavar="TEXT", help="What there is to say.")] = "",
) -> None:
    """Tell everybody something: on the page Assignments, and in its Atom feed."""
    with _desk(here) as desk:
        desk.announce(title, text)
    tell({"title": title, "text": text}, here, ["It is on the page Assignments."])
