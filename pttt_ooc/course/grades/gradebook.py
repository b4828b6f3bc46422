"""Grades: points by the rule, points by hand, and adjustments; and the history of every grade.

A grade is ``(points of the rule + points by hand) * what late days leave + adjustments``, not below zero, rounded to a
hundredth.  Assignments are graded in the order of their deadlines, as free late days are used up in this order.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.assignments import all_assignments
from pttt_ooc.course.data.choice import LateDays, Option, Payers, options
from pttt_ooc.course.data.dates import late_cost
from pttt_ooc.course.data.memberships import without_rank
from pttt_ooc.course.data.models import Team
from pttt_ooc.course.data.rules import (
    FIGURES,
    HIGHER_IS_BETTER,
    Rule,
    Step,
    most_points,
    needs_ranks,
    next_step,
    points_of,
)
from pttt_ooc.course.data.standings import disqualifications, ranks_of
from pttt_ooc.course.data.term_tables import Adjustment, Assignment, Disqualification, GradeRow, Mark, Pick
from pttt_ooc.course.grades.work import PARTS, baseline, candidates, figures, team_figures
from pttt_ooc.errors import CourseError

_SETTLING = 0x70747475  # PostgreSQL's number of the lock under which grades are written down

_RULE: TypeAdapter[Rule] = TypeAdapter(Rule)


@dataclass(frozen=True)
class Grade:
    """A team's grade for an assignment.

    Attributes
    ----------
    points
        The points; None: nothing was handed in, marked or adjusted.
    most
        The most points that rule and rubric give.
    automatic, manual, adjustment
        Points of the rule, points of the rubric, and points added or taken away with a reason.
    days, spent, factor
        Late days, the free ones that they use up, and the share of the points that is left.
    submissions
        The numbers of the submissions that count, by part.
    figures, rank
        What was measured.
    why
        Where the rule's points come from.
    unmarked
        Criteria of the rubric without points.
    """

    points: float | None
    most: float
    automatic: float = 0.0
    manual: float = 0.0
    adjustment: float = 0.0
    days: int = 0
    spent: int = 0
    factor: float = 1.0
    submissions: Mapping[str, int] = field(default_factory=dict)
    figures: Mapping[str, float] = field(default_factory=dict)
    rank: int | None = None
    why: str = ""
    unmarked: tuple[str, ...] = ()

    def facts(self) -> dict[str, Any]:
        """The grade as JSON."""
        return {
            **{name: getattr(self, name) for name in ("points", "most", "automatic", "manual", "adjustment")},
            **{name: getattr(self, name) for name in ("days", "spent", "factor", "rank", "why")},
            "submissions": dict(self.submissions),
            "figures": dict(self.figures),
            "unmarked": list(self.unmarked),
        }


Grades = dict[tuple[int, int], Grade]
"""Grades by the numbers of team and assignment."""


def rule_of(assignment: Assignment) -> Rule | None:
    """An assignment's rule."""
    return None if assignment.rule is None else _RULE.validate_python(assignment.rule)


def most_of(assignment: Assignment) -> float:
    """The most points of an assignment."""
    return most_points(rule_of(assignment)) + sum(float(one["points"]) for one in assignment.rubric)


def step_above(assignment: Assignment, grade: Grade) -> Step | None:
    """The next threshold that a team has not reached."""
    return next_step(rule_of(assignment), grade.figures)


def in_order(assignments: Iterable[Assignment]) -> list[Assignment]:
    """The assignments in the order in which late days are used up; those without a deadline come first."""
    return sorted(assignments, key=lambda one: (one.due_at or 0.0, one.position, one.id))


def compute(session: Session, data: Path) -> Grades:
    """All grades, as the database says now."""
    return compute_with_late_days(session, data)[0]


def compute_with_late_days(session: Session, data: Path) -> tuple[Grades, LateDays]:
    """All grades, as the database says now, and the free late days that are left."""
    teams = [team for team in session.scalars(select(Team).order_by(Team.id)) if team.of_students]
    given = _Given.of(session)
    late_days = LateDays.of(session)
    found: Grades = {}
    for assignment in in_order(all_assignments(session)):
        handed_in = candidates(session, assignment, data)
        choices = {
            team.id: options(handed_in.get(team.id, []), assignment.choice, given.picks(team.id, assignment))
            for team in teams
            if (team.id, assignment.id) not in given.out
        }
        of_teams = team_figures(session, assignment, data, choices)
        least = baseline(session, assignment, data)
        graded = _Grading(assignment, given, least, of_teams, late_days).grades(choices)
        late_days.pay((one.payers, one.grade.spent) for one in graded.values())
        found |= {(number, assignment.id): one.grade for number, one in graded.items()}
        for team in teams:
            if (team.id, assignment.id) in given.out:
                why = f"disqualified: {given.out[team.id, assignment.id].reason}"
                found[team.id, assignment.id] = Grade(0.0, most_of(assignment), why=why)
    return found, late_days


@dataclass(frozen=True)
class _Given:
    """The decisions of people that hold now."""

    marks: Mapping[tuple[int, int], Mapping[str, float]]
    adjustments: Mapping[tuple[int, int], float]
    chosen: Mapping[tuple[int, int], Mapping[int, int]]
    out: Mapping[tuple[int, int], Disqualification]
    without_rank: Set[int]

    @classmethod
    def of(cls, session: Session) -> _Given:
        marks: dict[tuple[int, int], dict[str, float]] = defaultdict(dict)
        for mark in session.scalars(select(Mark).order_by(Mark.id)):
            marks[mark.team_id, mark.assignment_id][mark.criterion] = mark.points
        adjustments: dict[tuple[int, int], float] = defaultdict(float)
        for one in session.scalars(select(Adjustment).order_by(Adjustment.id)):
            adjustments[one.team_id, one.assignment_id] += one.points
        chosen: dict[tuple[int, int], dict[int, int]] = defaultdict(dict)
        for pick in session.scalars(select(Pick).order_by(Pick.id)):
            chosen[pick.team_id, pick.assignment_id][pick.slot] = pick.submission
        return cls(marks, adjustments, chosen, disqualifications(session), without_rank(session))

    def picks(self, team: int, assignment: Assignment) -> Mapping[int, int]:
        return self.chosen.get((team, assignment.id), {})


@dataclass(frozen=True)
class _Graded:
    """A grade, and who pays for its late days."""

    grade: Grade
    payers: Payers


@dataclass(frozen=True)
class _Grading:
    """The grades of one assignment."""

    assignment: Assignment
    given: _Given
    baseline: Mapping[str, float]
    of_teams: Mapping[int, float]
    late_days: LateDays

    def grades(self, choices: Mapping[int, list[Option]]) -> dict[int, _Graded]:
        rule = rule_of(self.assignment)
        if needs_ranks(rule):  # the best figure counts, whatever its late days cost, lest ranks depend on each other
            choices = {team: self._best(team, found) for team, found in choices.items()}
        first = next(iter(FIGURES[self.assignment.kind]), "")
        ranked = {team: found for team, found in choices.items() if team not in self.given.without_rank}
        known = {t: v for t, found in ranked.items() if (v := self._best_figure(t, found, first)) is not None}
        ranks = ranks_of({team: -value if first in HIGHER_IS_BETTER else value for team, value in known.items()})
        return {team: self._grade(team, rule, found, ranks.get(team), len(known)) for team, found in choices.items()}

    def _figures(self, team: int, option: Option) -> dict[str, float]:
        return figures(self.assignment.kind, option, self.of_teams, team)

    def _best_figure(self, team: int, found: list[Option], name: str) -> float | None:
        values = [v for option in found if (v := self._figures(team, option).get(name)) is not None]
        return (max if name in HIGHER_IS_BETTER else min)(values, default=None)

    def _best(self, team: int, found: list[Option]) -> list[Option]:
        """The option with the best first figure; of equal ones, the one with fewest late days."""
        name = next(iter(FIGURES[self.assignment.kind]), "")
        sign = -1 if name in HIGHER_IS_BETTER else 1
        return sorted(found, key=lambda one: sign * self._figures(team, one).get(name, sign * float("inf")))[:1]

    def _grade(self, team: int, rule: Rule | None, found: list[Option], rank: int | None, teams: int) -> _Graded:
        key = team, self.assignment.id
        most = most_of(self.assignment)
        criteria = [str(one["name"]) for one in self.assignment.rubric]
        marks = {name: points for name, points in self.given.marks.get(key, {}).items() if name in criteria}
        manual, adjustment = sum(marks.values()), self.given.adjustments.get(key, 0.0)
        unmarked = tuple(name for name in criteria if name not in marks)
        best = Grade(None, most, manual=manual, adjustment=adjustment, unmarked=unmarked)
        if not found and (marks or key in self.given.adjustments):
            best = _with_points(best)
        paying = self.late_days.payers(team)
        for option in found:
            measured = self._figures(team, option)
            try:
                automatic, why = points_of(rule, measured, rank, teams, self.baseline)
            except CourseError as error:  # a formula without a value must not keep others from their grades
                automatic, why = 0.0, str(error)
            payers = self.late_days.payers(team, option)
            own = min(self.late_days.days_left(payers), self.assignment.late_days)
            cost = late_cost(option.days, self.assignment.late_percent, own)
            names = PARTS[self.assignment.kind]
            grade = Grade(
                points=0.0,
                most=most,
                automatic=round(automatic, 4),
                manual=manual,
                adjustment=adjustment,
                days=option.days,
                spent=cost.spent,
                factor=cost.factor,
                submissions={names[slot]: one.number for slot, one in option.chosen.items()},
                figures=measured,
                rank=rank,
                why=why,
                unmarked=unmarked,
            )
            grade = _with_points(grade)
            if best.points is None or (grade.points or 0.0) > best.points:
                best, paying = grade, payers
        return _Graded(best, paying)


def _with_points(grade: Grade) -> Grade:
    points = max(0.0, (grade.automatic + grade.manual) * grade.factor + grade.adjustment)
    return Grade(**{**grade.__dict__, "points": round(points, 2)})


# ---------------------------------------------------------------------------------------------
# History


def hold_grades(session: Session) -> None:
    """Let no other transaction write down grades until this one ends: PostgreSQL would let both write the same change.

    SQLite lets one session write at a time.
    """
    if session.connection().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock(_SETTLING)))


def settle(session: Session, data: Path, because: str) -> list[GradeRow]:
    """Write down all grades that have changed; returns the new rows.

    Parameters
    ----------
    because
        What led to it, for the history.
    """
    hold_grades(session)
    latest, now, added = current(session), time.time(), []
    for (team, assignment), grade in compute(session, data).items():
        before = latest.get((team, assignment))
        if before is None and grade.points is None:
            continue
        if before is None or before.facts != grade.facts():
            row = GradeRow(team_id=team, assignment_id=assignment, at=now, points=grade.points, because=because[:200])
            row.facts = grade.facts()
            session.add(row)
            added.append(row)
    session.flush()
    return added


def current(session: Session) -> dict[tuple[int, int], GradeRow]:
    """The latest row of each team and assignment."""
    numbers = select(func.max(GradeRow.id)).group_by(GradeRow.team_id, GradeRow.assignment_id)
    found = session.scalars(select(GradeRow).where(GradeRow.id.in_(numbers)))
    return {(row.team_id, row.assignment_id): row for row in found}


def history(session: Session, team: int, assignment: int) -> list[GradeRow]:
    """All grades of a team for an assignment, the latest first."""
    query = select(GradeRow).where(GradeRow.team_id == team, GradeRow.assignment_id == assignment)
    return list(session.scalars(query.order_by(GradeRow.id.desc())))


def is_graded(session: Session) -> bool:
    """Whether there is anything to grade: a rule or a rubric."""
    return any(one.rule is not None or one.rubric for one in all_assignments(session))


def settle_if_graded(session: Session, data: Path, because: str) -> None:
    """Call :func:`settle` if there is anything to grade: after a change of teams, which changes ranks and late days."""
    if is_graded(session):
        settle(session, data, because)
