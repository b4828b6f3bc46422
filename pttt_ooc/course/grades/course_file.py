"""A course as a file, ``course.yaml``: its time zone and assignments.  Applying it changes the course to match.

Teams, people, submissions and grades are not in it.  Times without an offset are in the course's time zone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.config import Name, check_section, number
from pttt_ooc.course.agents.settings import AgentSettings, check_playable
from pttt_ooc.course.bots.league import league_directory
from pttt_ooc.course.bots.submissions import open_bots
from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.assignments import LEAGUE, Term, all_assignments, further_of, set_term, term_of
from pttt_ooc.course.data.audit import note
from pttt_ooc.course.data.dates import Dates, instant, instant_text, zone_of
from pttt_ooc.course.data.game_directory import directory_of, strategies_of
from pttt_ooc.course.data.models import OF_STUDENTS, Submission, Team
from pttt_ooc.course.data.rules import AGENTS, BEST, BOTS, LAST, REPORT, STRATEGIES, Points, Rule, check_rule
from pttt_ooc.course.data.settings import CourseSettings, read_settings
from pttt_ooc.course.data.term_tables import Adjustment, Assignment, Extension, GradeRow, Mark, Pick, Report
from pttt_ooc.course.grades.gradebook import settle
from pttt_ooc.course.people.teams import set_aliases
from pttt_ooc.course.strategies.game_facts import check_value_is_known
from pttt_ooc.errors import CourseError

COURSE_FILE = "course.yaml"
"""Its name in the directory of a course."""

_DATES = ("opens", "due", "closes", "frozen", "unveiled")


def _time(value: object) -> object:
    if isinstance(value, datetime):  # YAML has parsed it
        return value.isoformat(sep=" ")
    if value is None or isinstance(value, str):
        return value
    raise ValueError("a time such as 2027-02-25 23:55, or null")


def _name(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"[a-z][a-z0-9-]{0,39}", value):
        return value
    raise ValueError("1 to 40 small letters, digits and hyphens, the first one a letter")


def _criterion(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"[^\W_][\w .,()&-]{0,59}", value):
        return value
    raise ValueError("1 to 60 letters, digits, spaces and . , ( ) & -, the first one a letter or digit")


Time = Annotated[str | None, BeforeValidator(_time)]
Days = Annotated[int, Field(ge=0, le=366), BeforeValidator(number)]
Percent = Annotated[float, Field(ge=0, le=100), BeforeValidator(number)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Criterion(_Section):
    """A criterion that people mark, and its points."""

    name: Annotated[str, BeforeValidator(_criterion)]
    points: Points


class Late(_Section):
    """What late days cost."""

    percent: Percent = Field(default=0.0, description="Of the points, for each late day that is not free.")
    days: Days = Field(default=0, description="Free late days that a team may use for this assignment.")


class AssignmentSection(_Section):
    """An assignment in ``course.yaml``."""

    name: Annotated[str, BeforeValidator(_name)] = Field(description="In addresses and files.")
    title: str | None = Field(default=None, min_length=1, max_length=120)
    kind: Literal["strategies", "bots", "agents", "report"]
    opens: Time = None
    due: Time = None
    closes: Time = None
    frozen: Time = None
    unveiled: Time = None
    late: Late = Late()
    choice: Literal["best", "last", "pick"] | None = Field(default=None, description="Which submission counts.")
    rule: Rule | None = None
    rubric: tuple[Criterion, ...] = ()
    largest_mb: Annotated[float, Field(gt=0, le=2000), BeforeValidator(number)] | None = Field(
        default=None, description="Of a report; null: 50."
    )
    settings: dict[str, Any] | None = Field(default=None, description="What only this kind has.")

    def columns(self, position: int, timezone: str) -> dict[str, Any]:
        """The columns of its row; CourseError if something does not fit together."""
        try:
            return self._columns(position, timezone)
        except CourseError as error:
            raise CourseError(f"Assignment {self.name}: {error}") from None

    def _columns(self, position: int, timezone: str) -> dict[str, Any]:
        zone = zone_of(timezone)
        at = {name: None if (t := getattr(self, name)) is None else instant(t, zone) for name in _DATES}
        if problem := Dates(**at).problem():
            raise CourseError(f"{problem}.")
        if self.frozen is not None and self.kind == REPORT:
            raise CourseError(
                "only standings of strategies and agents, and practice of bots, can be frozen, not a report."
            )
        if self.kind == BOTS and self.choice not in (None, LAST):
            raise CourseError("each team's last accepted bot plays the tournament; choice can only be last.")
        if self.kind == REPORT and self.choice == BEST:
            raise CourseError("nothing of a report is measured; choice can be last or pick.")
        if self.kind != REPORT and self.largest_mb is not None:
            raise CourseError("largest_mb is for reports; for others it is in settings.yaml or extreme.yaml.")
        names = [one.name for one in self.rubric]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise CourseError(f"the rubric has {twice} twice.")
        check_rule(self.rule, self.kind)
        return {
            "title": self.title or self.name,
            "kind": self.kind,
            "position": position,
            **{f"{name}_at": value for name, value in at.items()},
            "late_percent": self.late.percent,
            "late_days": self.late.days,
            "choice": self.choice or (BEST if self.kind in (STRATEGIES, AGENTS) else LAST),
            "rule": None if self.rule is None else self.rule.model_dump(mode="json", exclude_none=True),
            "rubric": [{"name": one.name, "points": one.points} for one in self.rubric],
            "largest_mb": self.largest_mb,
            "settings": self._settings(),
        }

    def _settings(self) -> dict[str, Any] | None:
        """All settings of its kind; CourseError if they are refused."""
        if self.kind == STRATEGIES and self.settings is not None:
            return check_section(GameSettings, self.settings, f"the settings of {self.name}").model_dump(mode="json")
        if self.kind == BOTS and self.settings is not None:
            return check_section(LeagueName, self.settings, f"the settings of {self.name}").model_dump(mode="json")
        if self.kind != AGENTS:
            if self.settings is not None:
                raise CourseError(f"{self.kind} have no settings of their own.")
            return None
        found = check_section(AgentSettings, self.settings or {}, f"the settings of {self.name}")
        check_playable(found)
        return found.model_dump(mode="json")


class GameSettings(_Section):
    """The settings of an assignment of strategies."""

    game: Name = Field(description="A further game, which is not the course's own; its name as in `pttt info`.")


class LeagueName(_Section):
    """The settings of an assignment of bots."""

    league: Annotated[str, BeforeValidator(_name)] = Field(
        description="A further league, which is not the course's own."
    )


class CourseFile(_Section):
    """The keys of ``course.yaml``."""

    timezone: str = Field(default="UTC", description="The time zone of all dates, such as Europe/Rome.")
    late_days: Days = Field(default=0, description="Late days without a reduction that each student has in all.")
    aliases: bool = Field(default=False, description="Whether public pages show aliases of teams, not their names.")
    team_size: Annotated[int, Field(ge=0, le=100), BeforeValidator(number)] = Field(
        default=0, description="Students of a team that students make themselves; 0: instructors make the teams."
    )
    show_solution: bool = Field(
        default=False,
        description="Whether students see the solution of the game, if there is one, and play against it.",
    )
    assignments: tuple[AssignmentSection, ...] = ()


@dataclass(frozen=True)
class Change:
    """A difference between a course and its file: what, and the values before and after as text; None: no value."""

    what: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        if self.before is None:
            return f"+ {self.what}: {self.after}"
        return f"- {self.what}: {self.before}" if self.after is None else f"~ {self.what}: {self.before} → {self.after}"


def read_course_file(file: Path) -> CourseFile:
    """The course in a file.

    Raises
    ------
    CourseError, ConfigError
        If it cannot be read, or a key or value is refused.
    """
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise CourseError(f"{file} cannot be read: {' '.join(str(error).split())}.") from error
    found = check_section(CourseFile, {} if content is None else content, str(file))
    zone_of(found.timezone)
    names = [one.name for one in found.assignments]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise CourseError(f"{file}: there are two assignments {twice}.")
    for position, one in enumerate(found.assignments):
        one.columns(position, found.timezone)
    return found


def apply(session: Session, wanted: CourseFile, data: Path, by: str) -> list[Change]:
    """Change a course to match a file, in a transaction; returns what has changed.

    Raises
    ------
    CourseError
        If an assignment would be removed or change its kind, though something was handed in or decided for it.
    """
    # The whole course: games and leagues must be there; then time zone, late days, aliases and team size.
    _check_games(wanted, data)
    changes = _term_changes(session, wanted)
    # Assignments are identified by their names: new ones are added, and in known ones all columns that differ change.
    there = {one.name: one for one in all_assignments(session)}
    for position, section in enumerate(wanted.assignments):
        columns = section.columns(position, wanted.timezone)
        found = there.pop(section.name, None)
        if found is None:
            changes.append(Change(f"assignment {section.name}", None, section.kind))
            session.add(Assignment(name=section.name, **columns))
            continue
        # Kind, game and league say what a submission is: they stay once other rows depend on the assignment.
        if found.kind != section.kind:
            _check_unused(session, found, data, wanted, "change its kind")
        elif found.kind in (STRATEGIES, BOTS) and found.settings != columns["settings"]:
            what = f"change its {'game' if found.kind == STRATEGIES else 'league'}"
            _check_unused(session, found, data, wanted, what)
        for column, value in columns.items():
            before = getattr(found, column)
            if before != value:
                changes.append(
                    Change(
                        f"{section.name}.{column}",
                        _value_text(before, column, wanted),
                        _value_text(value, column, wanted),
                    )
                )
                setattr(found, column, value)
    # Assignments that the file no longer has are removed if nothing depends on them.
    for gone in there.values():
        _check_unused(session, gone, data, wanted, "be removed")
        changes.append(Change(f"assignment {gone.name}", gone.kind, None))
        session.delete(gone)
    session.flush()
    # The log tells who changed what, and grades follow the new dates and rules at once.
    if changes:
        note(session, by, "apply", changes=[str(change) for change in changes])
        settle(session, data, "course.yaml applied")
    return changes


def _term_changes(session: Session, wanted: CourseFile) -> list[Change]:
    names = [field.name for field in fields(Term)]
    before, after = term_of(session), Term(**{name: getattr(wanted, name) for name in names})
    set_term(session, after)
    if before.aliases != after.aliases:
        set_aliases(session, after.aliases)
    pairs = [(name, str(getattr(before, name)), str(getattr(after, name))) for name in names]
    return [Change(name, old, new) for name, old, new in pairs if old != new]


def _value_text(value: Any, column: str, wanted: CourseFile) -> str:
    if value is not None and column.endswith("_at"):
        return instant_text(value, zone_of(wanted.timezone))
    return json.dumps(value, ensure_ascii=False)


def _check_games(wanted: CourseFile, data: Path) -> None:
    """Raise a CourseError if a further game is the course's own or cannot be judged, or bots have no league."""
    for one in wanted.assignments:
        if one.kind == BOTS and (missing := missing_league(data, one.settings["league"] if one.settings else None)):
            raise CourseError(f"Assignment {one.name}: {missing}")
    further = [one for one in wanted.assignments if one.kind == STRATEGIES and one.settings is not None]
    for one in further:
        game = (one.settings or {})["game"]
        if game == read_settings(data).game:
            raise CourseError(f"Assignment {one.name}: {game} is the course's own game; leave out settings.")
        directory = directory_of(data, game)
        check_value_is_known(read_settings(directory) if directory.is_dir() else CourseSettings(game=game))


def missing_league(data: Path, name: str | None) -> str:
    """What to do if the league of an assignment of bots is missing; empty if it is there.

    Parameters
    ----------
    name
        The name of a further league; None: the course's own.
    """
    if (league_directory(data, name) / LEAGUE).is_file():
        return ""
    if name is None:
        return f"nobody can hand in bots, as the course has no league yet; `pttt extreme open --data {data}` opens it."
    return f"there is no league {name}; `pttt extreme open --league {name} --data {data}` opens it."


def _check_unused(session: Session, assignment: Assignment, data: Path, wanted: CourseFile, what: str) -> None:
    """Raise a CourseError if something was handed in or decided for an assignment.

    Strategies and bots name no assignment: they still count for assignments of the same game that the file keeps.
    """
    tables = (Report, Agent, Extension, Pick, Mark, Adjustment, GradeRow)
    there = [
        table.__tablename__
        for table in tables
        if session.scalar(select(table.id).where(table.assignment_id == assignment.id).limit(1)) is not None
    ]
    same = [one for one in wanted.assignments if (one.kind, one.settings) == (assignment.kind, assignment.settings)]
    if not same and assignment.kind in (STRATEGIES, BOTS) and _is_handed_in(session, assignment, data):
        there.append("submissions" if assignment.kind == STRATEGIES else assignment.kind)
    if there:
        raise CourseError(f"Assignment {assignment.name} cannot {what}: it has {there[0]}. Keep it in course.yaml.")


def _is_handed_in(session: Session, assignment: Assignment, data: Path) -> bool:
    """Whether teams have handed in strategies for the game of an assignment, or bots for its league."""
    teams = set(session.scalars(select(Team.id).where(*OF_STUDENTS)))
    if assignment.kind == STRATEGIES:
        with strategies_of(session, assignment, data) as source:
            owners = set(source.scalars(select(Submission.team_id))) if source is not None else set()
    else:
        with open_bots(league_directory(data, further_of(assignment))) as bots:
            owners = bots.teams() if bots else set()
    return bool(teams & owners)


def course_file(session: Session) -> CourseFile:
    """The file that describes a course as it is now."""
    term = term_of(session)
    sections = []
    for one in all_assignments(session):
        at = {name: getattr(one, f"{name}_at") for name in _DATES}
        content: dict[str, Any] = {"name": one.name, "title": one.title, "kind": one.kind, "choice": one.choice}
        content |= {name: instant_text(value, term.zone) for name, value in at.items() if value is not None}
        content |= {"late": {"percent": one.late_percent, "days": one.late_days}}
        content |= {"rule": one.rule, "rubric": one.rubric, "largest_mb": one.largest_mb}
        content |= {"settings": one.settings}
        sections.append(content)
    told = {**asdict(term), "assignments": sections}
    return check_section(CourseFile, told, "the course")


def text_of(content: CourseFile) -> str:
    """A course file as YAML, without keys that have their defaults."""
    plain = content.model_dump(mode="json", exclude_defaults=True)
    heading = "# A course; `pttt course apply` makes it so.  docs/course.md describes the keys.\n"
    return heading + yaml.safe_dump(_plain(plain), sort_keys=False, allow_unicode=True)


def _plain(value: Any) -> Any:
    """The value with whole numbers written as such: 10, not 10.0."""
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
