"""Grades: rules, marks, late days, decisions, their history; and what other programs read of them."""

import contextlib
import csv
import io
import json
from functools import partial

import pytest

from pttt_ooc.course.data.models import Fact, Submission
from pttt_ooc.course.data.term_tables import Adjustment, Assignment, GradeRow, LogLine
from pttt_ooc.course.grades.decisions import Desk
from pttt_ooc.course.grades.exports import export, safe
from pttt_ooc.course.grades.gradebook import compute, current, history, settle, settle_if_graded
from pttt_ooc.course.grades.rejudging import begin_again, rehearse
from pttt_ooc.course.people.people import apply_roster, read_roster
from pttt_ooc.course.strategies.game_facts import find_value
from pttt_ooc.course.strategies.judging import verdict_on
from pttt_ooc.errors import CourseError
from tests.course.server_kit import VALUE, strategy_zip
from tests.course.term_kit import DAY, HOUR, STEPS, change, grade, points, set_zone, soon, team_number, upload

RUBRIC = [{"name": "search", "points": 20}, {"name": "viva", "points": 10}]
GOOD, FAIR, POOR = (0, 1, 1.0), (0, 4, 0.1), (0, 3, 4.0)  # player, seed, sharpness: about .48, .56 and 1.55


@pytest.fixture
def graded(lab):
    """A course whose assignment was due an hour ago, and two teams."""
    lab.baseline()
    for name in ("Team A", "Team B"):
        lab.team(name)
    lab.due = soon(-HOUR)
    dates = {"due_at": lab.due, "closes_at": lab.due + 3 * DAY}
    change(lab, **dates, rule=STEPS, rubric=RUBRIC, late_percent=10.0, late_days=5)
    return lab


def at_desk(lab, what, *arguments):
    with lab.database.writing() as session:
        return getattr(Desk(session, lab.data, "Ada"), what)(*arguments)


# ---------------------------------------------------------------------------------------------
# What counts


def test_the_rule_and_the_rubric_add_up(graded):
    upload(graded, "Team A", *GOOD, at=graded.due)
    upload(graded, "Team A", *POOR, at=graded.due)
    found = grade(graded)
    assert (found.points, found.automatic, found.most, found.days) == (40, 40, 70, 0)
    assert found.submissions == {"player 0": 3} and found.unmarked == ("search", "viva")
    at_desk(graded, "mark", "Team A", "strategies", "search", 15.5, "Clear.")
    at_desk(graded, "mark", "Team A", "strategies", "search", 12.5)
    at_desk(graded, "adjust", "Team A", "strategies", -3, "Late for the viva")
    assert grade(graded).points == 40 + 12.5 - 3 and grade(graded).unmarked == ("viva",)
    assert grade(graded, "Team B").points is None


def test_late_days_cost_and_the_better_choice_counts(graded):
    upload(graded, "Team A", *FAIR, at=graded.due)
    upload(graded, "Team A", *GOOD, at=graded.due + DAY + 1)  # the second late day
    found = grade(graded)
    assert (found.points, found.days, found.submissions) == (32, 2, {"player 0": 4})  # 40 - 20 % > 20
    change(graded, late_percent=60.0)
    found = grade(graded)
    assert (found.points, found.days, found.submissions) == (20, 0, {"player 0": 3})
    change(graded, choice="last")
    assert grade(graded).points == 0 and grade(graded).submissions == {"player 0": 4}


def test_own_late_days_are_used_up_in_the_order_of_deadlines(graded):
    set_zone(graded, "UTC", late_days=3)
    upload(graded, "Team A", *GOOD, at=graded.due + DAY + 1)
    with graded.database.writing() as session:
        second = Assignment(name="final", title="Final", kind="strategies", position=1, choice="best", rubric=[])
        second.rule, second.due_at, second.closes_at = STEPS, graded.due + HOUR, graded.due + 3 * DAY
        second.late_percent, second.late_days = 10.0, 5
        session.add(second)
    with graded.database.reading() as session:
        found = list(compute(session, graded.data).items())
    mine = [g for (team, _), g in found if team == team_number(graded, "Team A")]
    assert [(g.days, g.spent, g.points) for g in mine] == [(2, 2, 40), (1, 1, 40)]
    set_zone(graded, "UTC", late_days=1)
    with graded.database.reading() as session:
        found = list(compute(session, graded.data).items())
    mine = [g for (team, _), g in found if team == team_number(graded, "Team A")]
    assert [(g.days, g.spent, g.points) for g in mine] == [(2, 1, 36), (1, 0, 36)]


def test_what_comes_after_the_end_does_not_count_but_an_extension_helps(graded):
    upload(graded, "Team A", *GOOD, at=graded.due + 4 * DAY)
    assert grade(graded).points is None
    at_desk(graded, "extend", "Team A", "strategies", "2126-01-01 00:00", "ill")
    assert (grade(graded).points, grade(graded).days) == (40, 0)
    at_desk(graded, "extend", "Team A", "strategies", None, "a mistake")
    assert grade(graded).points is None


@pytest.mark.slow
def test_a_team_picks_what_counts(graded):
    change(graded, choice="pick")
    first, last = (upload(graded, "Team A", *one, at=graded.due) for one in (GOOD, POOR))
    assert grade(graded).submissions == {"player 0": last}
    at_desk(graded, "pick", "Team A", "strategies", first)
    assert grade(graded).submissions == {"player 0": first}
    other = upload(graded, "Team B", *FAIR, at=graded.due)
    for wrong in (other, 1, 99):
        with pytest.raises(CourseError, match=f"no accepted submission {wrong} of Team A"):
            at_desk(graded, "pick", "Team A", "strategies", wrong)
    change(graded, choice="best")
    with pytest.raises(CourseError, match="teams do not choose"):
        at_desk(graded, "pick", "Team A", "strategies", first)


@pytest.mark.slow
def test_ranks_are_of_the_best_figures(graded):
    change(graded, rule={"kind": "rank", "points": [50, 30], "rest": 5}, late_days=0)
    for team, player, seed in [("Team A", 0, 1), ("Team A", 1, 2), ("Team B", 0, 3), ("Team B", 1, 2)]:
        upload(graded, team, player, seed, at=graded.due + (DAY - 5 if team == "Team A" else -5))
    a, b = grade(graded), grade(graded, "Team B")
    assert (a.rank, b.rank) == (1, 2) and (a.figures["sum"] < b.figures["sum"])
    assert (a.points, b.points) == (45, 30) and a.why == "rank 1 of 2"


def test_a_formula_without_a_value_keeps_nobody_from_a_grade(graded):
    change(graded, rule={"kind": "formula", "formula": "10 / (player0 - player0)", "points": 10})
    upload(graded, "Team A", *GOOD, at=graded.due)
    assert grade(graded).points == 0 and "has no value here" in grade(graded).why


# ---------------------------------------------------------------------------------------------
# Decisions and history


@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    "what, arguments, words",
    [
        ("mark", ("Team A", "strategies", "charm", 1), "no criterion 'charm' in strategies; there are: search, viva"),
        ("mark", ("Team A", "strategies", "viva", 11), "viva has 0 to 10 points, not 11"),
        ("mark", ("Team A", "strategies", "viva", float("nan")), "viva has 0 to 10 points"),
        ("mark", ("Nobody", "strategies", "viva", 1), "no team Nobody"),
        ("mark", ("Uniform", "strategies", "viva", 1), "no team Uniform"),
        ("mark", ("Team A", "other", "viva", 1), "no assignment 'other'; there are: strategies"),
        ("adjust", ("Team A", "strategies", 1, "  "), "A reason is missing"),
        ("adjust", ("Team A", "strategies", float("inf"), "why"), "An adjustment has"),
        ("extend", ("Team A", "strategies", "2020-01-01 10:00", "why"), "is not later"),
        ("extend", ("Team A", "strategies", "soon", "why"), "is not a time"),
    ],
)
def test_decisions_with_a_mistake_change_nothing(graded, what, arguments, words):
    with pytest.raises(CourseError, match=words):
        at_desk(graded, what, *arguments)
    with graded.database.reading() as session:
        assert not session.query(LogLine).count() and not session.query(Adjustment).count()


def test_every_change_of_a_grade_has_a_row_and_every_decision_a_line(graded):
    upload(graded, "Team A", *FAIR, at=graded.due - 5)
    upload(graded, "Team A", *POOR, at=graded.due - 4)  # changes nothing
    upload(graded, "Team A", *GOOD, at=graded.due - 3)
    at_desk(graded, "adjust", "Team A", "strategies", 2, "A bug found")
    at_desk(graded, "adjust", "Team A", "strategies", 0, "For the record")
    at_desk(graded, "release", "strategies")
    with graded.database.reading() as session:
        number = session.query(Assignment).one().id
        rows = history(session, team_number(graded, "Team A"), number)[::-1]
        told = [(row.points, row.because) for row in rows]
        assert told == [(20, "verdict on submission 3"), (40, "verdict on submission 5"), (42, "adjust, by Ada")]
        assert [line.what for line in session.query(LogLine)] == ["adjust", "adjust", "release"]
        assert session.query(LogLine).first().facts["reason"] == "A bug found"
    with graded.database.writing() as session:
        assert settle(session, graded.data, "again") == []


def test_a_plain_course_writes_no_grades(lab):
    lab.team("Team A")
    upload(lab, "Team A", *GOOD)
    with lab.database.reading() as session:
        assert not session.query(GradeRow).count()


# ---------------------------------------------------------------------------------------------
# Judging again


def rehearsed(lab, *numbers):
    with lab.database.reading() as session:
        judge = partial(verdict_on, lab.assessor, lab.storage)
        found = rehearse(session, lab.data, numbers, opened=lambda data, s: contextlib.nullcontext(judge))
        grades = {row.team_id: row.points for row in current(session).values()}
        session.rollback()
    return found, grades


@pytest.mark.slow
def test_a_rehearsal_tells_what_would_change_and_changes_nothing(graded):
    number = upload(graded, "Team A", *GOOD, at=graded.due)
    with graded.database.writing() as session:  # as if an older version had judged it
        row = session.get(Submission, number)
        row.exploitability, row.best_response = 0.55, None
        settle(session, graded.data, "test")
    team = team_number(graded, "Team A")
    before = points(graded)
    found, grades = rehearsed(graded, number)
    assert str(found[0]) == f"~ submission {number}: accepted, 0.55 → accepted, 0.476357559"
    assert (before[team], grades[team]) == (20, 40) and points(graded) == before
    with graded.database.writing() as session:
        assert begin_again(session, [number], "Ada") == [number]
    graded.run()
    assert points(graded)[team] == 40
    found, grades = rehearsed(graded, number)
    assert str(found[0]).startswith("= ") and grades == points(graded)


@pytest.mark.slow
def test_all_of_a_team_are_judged_again_so_that_its_best_is_right(graded):
    numbers = [upload(graded, "Team A", *one, at=graded.due) for one in (POOR, GOOD, FAIR)]
    upload(graded, "Team B", 1, 2, at=graded.due)
    with graded.database.writing() as session:
        assert begin_again(session, [numbers[1]], "Ada") == numbers
    row = next(r for r in graded.client.get("/api/leaderboard").json() if r["team"] == "Team A")
    assert row["submissions"] == [None, None]
    graded.storage.upload(_file(graded, numbers[1])).write_bytes(b"spoiled")  # so it is rejected now
    graded.run()
    row = next(r for r in graded.client.get("/api/leaderboard").json() if r["team"] == "Team A")
    assert row["submissions"] == [numbers[2], None]
    matrix = graded.client.get("/api/matrix").json()
    assert all(value is not None for line in matrix["values"] for value in line)
    assert grade(graded).points == 20


def _file(lab, number):
    with lab.database.reading() as session:
        return session.get(Submission, number).file


@pytest.mark.slow_but_one
@pytest.mark.parametrize("number, words", [(99, "no submission 99"), (1, "the baseline"), (3, "has no verdict yet")])
def test_what_is_not_judged_again(graded, number, words):
    graded.submit(graded.tokens["Team A"], 0, strategy_zip(0, 1))
    with pytest.raises(CourseError, match=words), graded.database.writing() as session:
        begin_again(session, [number], "Ada")


# ---------------------------------------------------------------------------------------------
# Exports

ROSTER = "team,name,email,number\nTeam A,=cmd|'/c calc'!A0,ada@example.org,+17\nTeam B,Chen Li,chen@example.org,18\n"


@pytest.fixture
def exported(graded):
    upload(graded, "Team A", *GOOD, at=graded.due)
    with graded.database.writing() as session:
        apply_roster(session, read_roster(ROSTER, "roster.csv"))
        settle(session, graded.data, "test")
    return graded


def rows_of(lab, form):
    with lab.database.reading() as session:
        return list(csv.reader(io.StringIO(export(session, form))))


def test_exports_have_the_columns_that_others_read(exported):
    canvas = rows_of(exported, "canvas")
    assert canvas[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Strategies"]
    assert canvas[1][0].strip() == "Points Possible" and canvas[1][5] == "70"
    assert canvas[2:] == [
        ["'=cmd|'/c calc'!A0", "", "'+17", "ada@example.org", "", "40"],
        ["Chen Li", "", "18", "chen@example.org", "", ""],
    ]
    scope = rows_of(exported, "gradescope")
    assert scope[0] == ["First Name", "Last Name", "SID", "Email", "Strategies", "Strategies - Max Points"]
    assert scope[2] == ["Chen", "Li", "18", "chen@example.org", "", "70"]
    plain = rows_of(exported, "csv")
    assert plain[1][:9] == ["Team A", "strategies", "40", "70", "40", "0", "0", "1", "0"]
    assert len(plain) == 3 and plain[2][2] == ""
    with exported.database.reading() as session:
        told = json.loads(export(session, "json"))
        with pytest.raises(CourseError, match="no format 'xls'"):
            export(session, "xls")
    assert told[0]["grade"]["figures"]["player0"] == 0.4763575586953064 and told[1]["grade"] is None


def test_exports_with_students_need_members(graded):
    with graded.database.reading() as session, pytest.raises(CourseError, match="no team has members"):
        export(session, "canvas")


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "|x", "%x", "  =1", "＝1", '"=1', "'=1"]
)
def test_no_cell_begins_like_a_formula(text):
    assert safe(text)[0] == "'" and not safe(text)[1:].startswith("\n")
    (row,) = csv.reader(io.StringIO(f'"{safe(text).replace(chr(34), chr(34) * 2)}"\n'))
    assert row == [safe(text)] and "\r" not in safe(text) and "\t" not in safe(text)


@pytest.mark.parametrize("text", ["Team A", "Ada", "1.5", "a=b", "Équipe"])
def test_other_cells_stay(text):
    assert safe(text) == text


def test_grades_follow_the_value_of_the_game(graded):
    upload(graded, "Team A", *GOOD, at=graded.due)
    assert points(graded)[team_number(graded, "Team A")] == 40
    with graded.database.writing() as session:
        session.merge(Fact(name="value", value=[*VALUE, "as it was"]))
    higher = graded.settings.model_copy(update={"game_value": (0.9, 0.9)})  # the figure is 0.61, and no longer 0.48
    assert find_value(higher, graded.database, graded.storage, 1, settle_if_graded).interval == (0.9, 0.9)
    assert points(graded)[team_number(graded, "Team A")] == 10
    with graded.database.reading() as session:
        assert session.query(GradeRow).order_by(GradeRow.id.desc()).first().because.startswith("the value of the game")
