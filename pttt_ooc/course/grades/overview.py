"""A course as its pages show it: what is due, what counts for a team now, and why."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.assignments import all_assignments, dates_for, term_of
from pttt_ooc.course.data.choice import Candidate
from pttt_ooc.course.data.dates import LATE, OPEN, PLANNED, Dates, days_late, readable_instant
from pttt_ooc.course.data.models import Team
from pttt_ooc.course.data.rules import FIGURE_NAMES, PICK, Baseline, FormulaRule, Ranks, Rule, Step, Thresholds
from pttt_ooc.course.data.term_tables import Adjustment, Announcement, Assignment, Disqualification, Mark, Pick
from pttt_ooc.course.grades.decisions import disqualification_of
from pttt_ooc.course.grades.gradebook import Grade, compute_with_late_days, most_of, rule_of, step_above
from pttt_ooc.course.grades.work import PARTS, candidates


@dataclass(frozen=True)
class Shown:
    """An assignment as a page shows it.

    Attributes
    ----------
    dates, state
        The dates and the state, with the extension of the team that looks.
    next_at, next_what
        The next date, and what it is.
    grade
        The grade of the team that looks, as it is now; None for others.
    next_step, missing
        The next threshold, and how far the team's figure is from it.
    marks, adjustments
        Those of the team, once points are released.
    out
        Its disqualification, if there is one.
    choices
        Where the team picks: for each part its name, what may be picked, the latest first, and the pick; 0: none.
    """

    assignment: Assignment
    dates: Dates
    state: str
    extended: bool
    rule: str
    most: float
    next_at: float | None
    next_what: str
    late_days: int
    grade: Grade | None
    next_step: str
    missing: float | None
    marks: dict[str, Mark]
    adjustments: list[Adjustment]
    out: Disqualification | None = None
    choices: Sequence[tuple[str, Sequence[Candidate], int]] = ()


def overview(session: Session, data: Path, team: Team | None, decided: bool = False) -> dict[str, Any]:
    """What the page of a course shows to a team, or to somebody else.

    Parameters
    ----------
    decided
        Whether marks and adjustments are shown before the release, too: to people with rights.
    """
    term, now = term_of(session), time.time()
    grades, free = ({}, None) if team is None else compute_with_late_days(session, data)
    own = {one.id: grades.get((team.id, one.id)) for one in all_assignments(session)} if team else {}
    return {
        "assignments": [
            _show_assignment(session, data, one, team, own.get(one.id), now, decided)
            for one in all_assignments(session)
        ],
        "timezone": term.timezone,
        "zone": term.zone,
        "late_days": term.late_days,
        "late_days_left": free.days_left(free.payers(team.id)) if team and free else None,
        "announcements": announcements(session),
        "now": now,
    }


def announcements(session: Session) -> list[Announcement]:
    """The announcements in force, the latest first."""
    query = select(Announcement).where(Announcement.withdrawn_at.is_(None)).order_by(Announcement.id.desc())
    return list(session.scalars(query))


def _show_assignment(
    session: Session, data: Path, one: Assignment, team: Team | None, grade: Grade | None, now: float, decided: bool
) -> Shown:
    dates = dates_for(session, one, team) if team else one.dates
    state, zone = dates.state(now), term_of(session).zone
    next_at, what = {
        PLANNED: (dates.opens, "opens"),
        OPEN: (dates.due, "due"),
        LATE: (dates.end, "closes"),
    }.get(state, (None, ""))
    step = step_above(one, grade) if grade else None
    marks, adjustments = _find_decisions(session, one, team) if team and (one.released or decided) else ({}, [])
    return Shown(
        assignment=one,
        dates=dates,
        state=state,
        extended=dates != one.dates,
        rule=describe_rule(rule_of(one)),
        most=most_of(one),
        next_at=next_at,
        next_what=what,
        late_days=days_late(now, dates.due, zone) if state == LATE else 0,
        grade=grade,
        next_step=_step(step) if step else "",
        missing=_missing(one, grade, step) if grade and step else None,
        marks=marks,
        adjustments=adjustments,
        out=disqualification_of(session, team).get(one.id) if team else None,
        choices=_choices(session, data, one, team) if team and one.choice == PICK else (),
    )


def _choices(session: Session, data: Path, one: Assignment, team: Team) -> list[tuple[str, list[Candidate], int]]:
    there = candidates(session, one, data).get(team.id, [])
    query = select(Pick).where(Pick.team_id == team.id, Pick.assignment_id == one.id).order_by(Pick.id)
    picked = {pick.slot: pick.submission for pick in session.scalars(query)}
    parts = [sorted((c for c in there if c.slot == slot), key=lambda c: -c.at) for slot in range(len(PARTS[one.kind]))]
    named = zip(PARTS[one.kind], parts, strict=True)
    return [(name, found, picked.get(slot, 0)) for slot, (name, found) in enumerate(named) if found]


def _find_decisions(session: Session, one: Assignment, team: Team) -> tuple[dict[str, Mark], list[Adjustment]]:
    marks = select(Mark).where(Mark.team_id == team.id, Mark.assignment_id == one.id).order_by(Mark.id)
    adjusted = select(Adjustment).where(Adjustment.team_id == team.id, Adjustment.assignment_id == one.id)
    return {mark.criterion: mark for mark in session.scalars(marks)}, list(session.scalars(adjusted))


def _missing(one: Assignment, grade: Grade, step: Step) -> float | None:
    rule = rule_of(one)
    figure = grade.figures.get(rule.figure) if isinstance(rule, Thresholds) else None
    if figure is None:
        return None
    return figure - step.at_most if step.at_most is not None else (step.at_least or 0.0) - figure


def _step(step: Any) -> str:
    bound = f"at most {step.at_most:g}" if step.at_most is not None else f"at least {step.at_least:g}"
    return f"{step.points:g} points with {bound}"


def describe_rule(rule: Rule | None) -> str:
    """A rule in words."""
    figure = "" if rule is None else FIGURE_NAMES.get(name := getattr(rule, "figure", ""), name)
    if isinstance(rule, Thresholds):
        return f"by the {figure}: " + ", ".join(_step(step) for step in rule.steps)
    if isinstance(rule, Ranks):
        listed = ", ".join(f"{points:g}" for points in rule.points)
        return f"by rank: {listed} points for the first places, {rule.rest:g} for others"
    if isinstance(rule, Baseline):
        return f"by the {figure}: {rule.points:g} points at {rule.target:g}, none at Uniform's, in proportion between"
    if isinstance(rule, FormulaRule):
        return f"by the formula {rule.formula}, from 0 to {rule.points:g} points"
    return ""


def until(seconds: float) -> str:
    """The time that is left, in words."""
    minutes = max(0, int(seconds // 60))
    days, hours = divmod(minutes // 60, 24)
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"


def as_json(told: dict[str, Any]) -> dict[str, Any]:
    """What a page shows, for programs; a team's points are in it only once they are released."""
    zone = told["zone"]
    return {
        "timezone": told["timezone"],
        "late_days": told["late_days"],
        "late_days_left": told["late_days_left"],
        "assignments": [
            {
                "name": one.assignment.name,
                "title": one.assignment.title,
                "kind": one.assignment.kind,
                "state": one.state,
                "due": None if one.dates.due is None else readable_instant(one.dates.due, zone),
                "due_at": one.dates.due,
                "closes_at": one.dates.end,
                "points": one.most,
                "rule": one.rule,
                "next_threshold": one.next_step or None,
                "missing": one.missing,
                "released": one.assignment.released,
                "picks": {name: number or None for name, _, number in one.choices},
                "grade": grade_for_team(one),
            }
            for one in told["assignments"]
        ],
    }


def grade_for_team(one: Shown) -> dict[str, Any] | None:
    """A grade as its team may see it: without points before the release."""
    if one.grade is None:
        return None
    facts = one.grade.facts()
    hidden = (
        () if one.assignment.released else ("points", "automatic", "manual", "adjustment", "unmarked", "rank", "why")
    )
    return {name: value for name, value in facts.items() if name not in hidden}
