"""`pttt course`: a course from nothing, and as a file."""

import json
from types import SimpleNamespace

import pytest
import yaml

from pttt_ooc.course.bots.league import League, LeagueSettings, open_league
from pttt_ooc.course.bots.submissions import Bots
from pttt_ooc.course.data.assignments import all_assignments
from pttt_ooc.course.grades.course_file import apply, read_course_file
from pttt_ooc.errors import CourseError
from tests.course.league_kit import GOOD, LeagueCourse
from tests.course.server_kit import GAME, Lab, bearer, pttt
from tests.course.term_kit import course, database_of, upload

COURSE = """
timezone: Europe/Rome
late_days: 2
assignments:
- name: strategies
  title: Phantom Tic-Tac-Toe
  kind: strategies
  opens: 2026-01-01 09:00
  due: 2126-02-25 23:55
  closes: 2126-02-27T23:55:00+01:00
  frozen: 2126-02-24 00:00
  unveiled: 2126-03-01 12:00
  late: {percent: 10, days: 1}
  rule: {kind: thresholds, figure: sum, steps: [{at_most: 0.5, points: 50}, {at_most: 1.9, points: 20}]}
- name: extreme
  kind: bots
  rule: {kind: formula, formula: marks, points: 50}
  rubric:
  - {name: heuristic, points: 10}
  - {name: search, points: 20}
  - {name: analysis, points: 10}
  - {name: viva, points: 10}
- {name: report, kind: report, rubric: [{name: content, points: 30}], largest_mb: 20}
"""


@pytest.fixture
def begun(tmp_path):
    """A new course."""
    data = tmp_path / "course"
    token = course(data, "init", "--name", "Ada", "--email", "ada@example.org", "--game", GAME).strip()
    (tmp_path / "course.yaml").write_text(COURSE)
    open_league(data, LeagueSettings())
    return data, token


def test_bots_without_a_league_are_refused(tmp_path):
    """Nobody could hand in anything; and a course that lost its league is told so by the doctor."""
    data = tmp_path / "course"
    course(data, "init", "--name", "Ada", "--email", "ada@example.org", "--game", GAME)
    (tmp_path / "course.yaml").write_text(COURSE)
    for more in ((), ("--dry-run",)):
        told = course(data, "apply", tmp_path / "course.yaml", *more, code=1)
        assert told == (
            "Assignment extreme: nobody can hand in bots, as the course has no league yet; "
            f"`pttt extreme open --data {data}` opens it.\n"
        )
    assert course(data, "assignments") == "strategies: strategies, open, no deadline, 0 points\n"
    open_league(data, LeagueSettings())
    course(data, "apply", tmp_path / "course.yaml")
    (data / "extreme.yaml").unlink()
    assert "Assignment extreme: nobody can hand in bots" in pttt("course", "doctor", "--data", data).stdout


def test_a_course_from_nothing_to_grades(begun, tmp_path):
    data, token = begun
    told = json.loads(course(data, "apply", tmp_path / "course.yaml", "--dry-run", "--json"))
    assert "+ assignment extreme: bots" in told["changes"] and "~ timezone: UTC → Europe/Rome" in told["changes"]
    assert course(data, "assignments").splitlines() == [
        "strategies: strategies, open, no deadline, 0 points",
        "bots: bots, open, no deadline, 0 points",
    ]
    assert json.loads(course(data, "apply", tmp_path / "course.yaml", "--json"))["changes"] == told["changes"]
    assert course(data, "apply", tmp_path / "course.yaml") == "Nothing changes.\n"
    assert course(data, "assignments").splitlines() == [
        "strategies: strategies, open, due Mon 25 Feb 2126 23:55 CET, 50 points",
        "extreme: bots, open, no deadline, 100 points",
        "report: report, open, no deadline, 30 points",
    ]
    (tmp_path / "roster.csv").write_text("team,name,email\nTeam A,Alan T,alan@example.org\nTeam B,Bo,bo@example.org\n")
    assert "+ team Team A" in course(data, "teams", tmp_path / "roster.csv", "--dry-run")
    assert "Team A" not in course(data, "teams")
    course(data, "teams", tmp_path / "roster.csv", "--tokens", tmp_path / "tokens.csv")
    assert (tmp_path / "tokens.csv").stat().st_mode & 0o777 == 0o600
    assert "Team A: Alan T" in course(data, "teams")
    again = course(data, "teams", tmp_path / "roster.csv", "--tokens", tmp_path / "tokens.csv", code=1)
    assert "tokens.csv" in again
    course(data, "mark", "team a", "extreme", "search", 18, "--comment", "Clear.", "--by", "Ada")
    course(data, "adjust", "Team A", "extreme", "--points=-2", "--reason", "Late for the viva")
    course(data, "extend", "Team B", "strategies", "2126-03-01 23:55", "--reason", "ill")
    table = course(data, "grades").splitlines()
    assert [line for line in table if line.startswith("Team A,extreme")][0].split(",")[2:6] == ["16", "100", "0", "18"]
    assert course(data, "grades", "--format", "canvas").splitlines()[2].split(",")[-3:] == ["", "16", ""]
    assert "  16  adjust, by console" in course(data, "history", "Team A", "extreme")
    log = json.loads(course(data, "log", "--json"))
    assert [line["what"] for line in log[::-1]] == ["staff", "apply", "teams", "mark", "adjust", "extend"]
    assert log[2]["by"] == "Ada"
    assert "see their points" in course(data, "release", "extreme")
    assert "No worker judges submissions" in pttt("course", "doctor", "--data", data).stdout
    course(data, "grades", "-o", tmp_path / "g.csv")
    assert (tmp_path / "g.csv").read_text().splitlines() == table
    assert "g.csv" in course(data, "grades", "-o", tmp_path / "g.csv", code=1)
    assert token.startswith("p1.")
    refused = course(data, "init", "--name", "Bob", "--email", "bob@example.org", code=1)
    assert "has an instructor already" in refused


def test_a_course_file_comes_back_as_it_was(begun, tmp_path):
    data, _ = begun
    course(data, "apply", tmp_path / "course.yaml")
    text = course(data, "file")
    (tmp_path / "again.yaml").write_text(text)
    assert course(data, "apply", tmp_path / "again.yaml") == "Nothing changes.\n"
    wanted, found = yaml.safe_load(COURSE), yaml.safe_load(text)
    assert found["assignments"][0]["rule"] == wanted["assignments"][0]["rule"]
    first = found["assignments"][0]
    assert (first["due"], first["closes"]) == ("2126-02-25 23:55", "2126-02-27 23:55")
    assert yaml.safe_load((data / "course.yaml").read_text())["assignments"][0]["name"] == "strategies"


@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    "old, new, words",
    [
        ("Europe/Rome", "Rome", "no time zone 'Rome'"),
        ("due: 2126-02-25 23:55", "due: soon", "Assignment strategies: 'soon' is not a time"),
        ("2126-02-27T23:55:00+01:00", "2126-02-20 10:00", "Assignment strategies: due must be before closes"),
        ("kind: bots", "kind: bots\n  choice: best", "Assignment extreme: each team's last accepted bot"),
        ("formula: marks", "formula: open", "Assignment extreme: The formula 'open' has the name open"),
        ("figure: sum", "figure: marks", "no figure 'marks' of strategies; choose from sum, player0, player1"),
        ("name: viva", "name: search", "Assignment extreme: the rubric has search twice"),
        ("name: report,", "name: extreme,", "two assignments extreme"),
        ("late_days: 2", "late_dayz: 2", "there is no key late_dayz (did you mean late_days?)"),
        ("points: 30", "points: -1", "points"),
        ("name: report,", "name: Report!,", "assignments[2].name is 'Report!', but must be 1 to 40 small letters"),
        ("largest_mb: 20", "frozen: 2026-01-01 00:00", "only standings of strategies"),
        ("assignments:", "assignments: [", "cannot be read"),
        ("at_most: 0.5", "at_most: yes", "at_most"),
    ],
)
def test_a_course_file_with_a_mistake_changes_nothing(begun, tmp_path, old, new, words):
    data, _ = begun
    assert old in COURSE
    (tmp_path / "course.yaml").write_text(COURSE.replace(old, new, 1))
    told = course(data, "apply", tmp_path / "course.yaml", code=1)
    assert words in told and len(told.splitlines()) == 1, told
    assert course(data, "assignments").count("\n") == 2


@pytest.mark.slow
def test_what_has_grades_is_not_removed(begun, tmp_path):
    data, _ = begun
    course(data, "apply", tmp_path / "course.yaml")
    pttt("course", "add-team", "Team A", "--data", data)
    course(data, "mark", "Team A", "report", "content", 3)
    shorter = {**yaml.safe_load(COURSE)}
    shorter["assignments"] = [one for one in shorter["assignments"] if one["name"] != "report"]
    (tmp_path / "course.yaml").write_text(yaml.safe_dump(shorter, default_flow_style=False))
    assert "cannot be removed: it has marks" in course(data, "apply", tmp_path / "course.yaml", code=1)


FEWER = {
    "its kind": "[{name: strategies, kind: report}, {name: bots, kind: bots}]",
    "be removed": "[{name: bots, kind: bots}]",
    "its kind, of bots": "[{name: strategies, kind: strategies}, {name: bots, kind: report}]",
    "removed, of bots": "[{name: strategies, kind: strategies}]",
}


def test_an_assignment_keeps_what_was_handed_in_for_it_also_without_grades(tmp_path):
    """Strategies and bots name no assignment; another one of their kind may take its place."""
    made = LeagueCourse(tmp_path / "course")
    lab, file = made.lab, tmp_path / "course.yaml"
    upload(lab, "Team A", 0, 1)
    assert made.post("Team A", GOOD).status_code == 201

    def applied(assignments):
        file.write_text(f"assignments: {assignments}")
        with lab.database.writing() as session:
            return apply(session, read_course_file(file), lab.data, "Ada")

    for what, assignments in FEWER.items():
        words = f"{'change ' if 'kind' in what else ''}{what.partition(',')[0]}: it has "
        with pytest.raises(CourseError, match=words + ("bots" if "of bots" in what else "submissions")):
            applied(assignments)
    changes = applied("[{name: pttt, kind: strategies}, {name: cup, kind: bots}]")
    assert "- assignment strategies: strategies" in [str(one) for one in changes]
    made.close()


def test_a_directory_of_serve_becomes_a_course(tmp_path):
    lab = Lab(tmp_path / "course")
    data = lab.data
    open_league(data, LeagueSettings())
    lab.baseline()
    lab.team("Team A")
    bots = Bots(League(data))
    bots.take_in(SimpleNamespace(id=2, name="Team A"), "team7.py", b"print()")
    bots.close()
    for player in (0, 1):
        upload(lab, "Team A", player, 1, 4.0)
    lab.close()
    course(data, "init", "--name", "Ada", "--email", "ada@example.org")
    assert course(data, "assignments").splitlines() == [
        "strategies: strategies, open, no deadline, 0 points",
        "bots: bots, open, no deadline, 0 points",
    ]
    (tmp_path / "course.yaml").write_text("assignments: [{name: bots, kind: bots}]")
    assert "it has submissions" in course(data, "apply", tmp_path / "course.yaml", code=1)
    rule = "{kind: baseline, figure: sum, points: 50}"
    (tmp_path / "course.yaml").write_text(
        f"assignments: [{{name: pttt, kind: strategies, rule: {rule}}}, {{name: bots, kind: bots}}]"
    )
    told = course(data, "apply", tmp_path / "course.yaml", "--dry-run").splitlines()
    assert "~ Team A, pttt: – → 0 points" in told  # it is worse than Uniform
    assert "- assignment strategies: strategies" in told
    course(data, "apply", tmp_path / "course.yaml")
    assert "Team A,pttt,0,50" in course(data, "grades")


@pytest.mark.slow
def test_submissions_are_judged_again_by_command(tmp_path):
    lab = Lab(tmp_path / "course")
    token = lab.team("Team A")
    number = upload(lab, "Team A", 0, 1)
    assert course(lab.data, "rejudge", number) == f"Submission {number} is in the queue again.\n"
    assert lab.client.get(f"/api/submissions/{number}", headers=bearer(token)).json()["status"] == "Queued"
    assert f"Submission {number} has no verdict yet" in course(lab.data, "rejudge", number, code=1)
    lab.run()
    assert "value of the game is not known yet" in course(lab.data, "rejudge", number, "--dry-run", code=1)
    lab.close()


@pytest.mark.slow
def test_rights_by_command(begun):
    data, _ = begun
    token = course(data, "staff", "Alan", "alan@example.org").strip()
    people = ["instructor  Ada <ada@example.org>", "assistant   Alan <alan@example.org>"]
    assert course(data, "staff").splitlines() == people
    assert token.startswith("p2.")
    course(data, "staff", "--remove", "alan@example.org")
    assert "Alan" not in course(data, "staff")
    assert "no role 'boss'" in course(data, "staff", "X", "x@example.org", "--role", "boss", code=1)
    database = database_of(data)
    with database.reading() as session:
        assert len(all_assignments(session)) == 2
    database.close()
