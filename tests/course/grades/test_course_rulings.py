"""Rulings: what is hidden or withdrawn, who is disqualified, what then counts, and who sees what."""

import pytest

from pttt_ooc.course.data.models import Submission
from pttt_ooc.course.data.term_tables import LogLine
from pttt_ooc.course.grades.decisions import disqualify, rule
from pttt_ooc.errors import CourseError
from tests.course.league_kit import GOOD, LeagueCourse
from tests.course.server_kit import bearer
from tests.course.term_kit import STEPS, change, grade, team_number, upload

BEST, NEXT, WORST = (0, 1, 1.0), (0, 4, 0.1), (0, 3, 4.0)  # about .48, .56 and 1.55


@pytest.fixture
def ruled(lab):
    """Two teams with three strategies, and one for the other player."""
    lab.baseline()
    for name in ("Team A", "Team B"):
        lab.team(name)
    change(lab, rule=STEPS)
    lab.best, lab.next, lab.worst = (upload(lab, "Team A", *one) for one in (BEST, NEXT, WORST))
    lab.other = upload(lab, "Team B", 1, 5)
    return lab


def decide(lab, ruling, number, kind="strategies"):
    with lab.database.writing() as session:
        rule(session, lab.data, "Ada", kind, number, ruling, "The file of others")


def board(lab):
    rows = lab.client.get("/api/leaderboard").json()
    return {row["team"]: row["submissions"][0] for row in rows}


def status(lab, number, team=None):
    headers = bearer(lab.tokens[team]) if team else {}
    return lab.client.get(f"/api/submissions/{number}", headers=headers).status_code


def matrix(lab):
    return lab.client.get("/api/matrix").json()


def test_a_withdrawn_submission_does_not_count_and_the_next_best_does(ruled):
    whole = matrix(ruled)
    decide(ruled, "withdrawn", ruled.best)
    assert board(ruled)["Team A"] == ruled.next
    assert (grade(ruled).points, grade(ruled).submissions) == (20, {"player 0": ruled.next})
    assert matrix(ruled)["values"][0] == [None, None]
    assert ruled.judge.judge_next() and not ruled.judge.judge_next()  # the worker completes the matrix
    values = matrix(ruled)["values"]
    assert None not in values[0] and values[0] != whole["values"][0] and values[1] == whole["values"][1]
    assert status(ruled, ruled.best) == 404 and status(ruled, ruled.best, "Team A") == 200
    assert status(ruled, ruled.best, "Team B") == 404
    decide(ruled, "none", ruled.best)
    assert board(ruled)["Team A"] == ruled.best and grade(ruled).points == 40
    ruled.judge.judge_next()
    again = matrix(ruled)
    assert again["rows"] == whole["rows"]
    for row, before in zip(again["values"], whole["values"], strict=True):
        assert row == pytest.approx(before, abs=1e-6)  # gradients are kept in single precision


@pytest.mark.slow
def test_values_that_are_completed_are_those_of_the_judge(ruled):
    decide(ruled, "withdrawn", ruled.best)
    ruled.judge.judge_next()
    completed = matrix(ruled)["values"][0]
    fresh = upload(ruled, "Team B", *NEXT)  # the same strategy, judged from the beginning
    assert board(ruled)["Team B"] == fresh
    assert matrix(ruled)["values"][1] == pytest.approx(completed, abs=1e-6)


@pytest.mark.slow
def test_a_withdrawn_submission_is_not_entered_by_a_later_verdict(ruled):
    decide(ruled, "withdrawn", ruled.best)
    with ruled.database.writing() as session:
        session.get(Submission, ruled.best).status = "Queued"
    ruled.run()
    assert board(ruled)["Team A"] == ruled.next


@pytest.mark.slow
def test_a_hidden_submission_counts_and_others_see_the_next_best(ruled):
    decide(ruled, "hidden", ruled.best)
    assert board(ruled)["Team A"] == ruled.next and grade(ruled).submissions == {"player 0": ruled.best}
    assert status(ruled, ruled.best) == 404 and status(ruled, ruled.best, "Team A") == 200
    listed = ruled.client.get("/api/submissions?team=Team A").json()["submissions"]
    assert [one["id"] for one in listed] == [ruled.worst, ruled.next]
    assert ruled.best not in [one["submission"] for one in ruled.client.get("/api/history").json()]
    decide(ruled, "none", ruled.best)
    assert board(ruled)["Team A"] == ruled.best


@pytest.mark.slow
def test_a_disqualified_team_has_no_points_no_rank_and_no_standing(ruled):
    change(ruled, rule={"kind": "rank", "points": [50, 40], "rest": 10})
    upload(ruled, "Team B", *NEXT)
    upload(ruled, "Team B", 1, 6)
    upload(ruled, "Team A", 1, 7)
    before = {team: grade(ruled, team).rank for team in ("Team A", "Team B")}
    assert sorted(before.values()) == [1, 2]
    with ruled.database.writing() as session:
        disqualify(session, ruled.data, "Ada", "Team A", "strategies", "Code of others")
    assert grade(ruled).points == 0 and grade(ruled).why == "disqualified: Code of others"
    assert (grade(ruled, "Team B").rank, grade(ruled, "Team B").points) == (1, 50)
    assert board(ruled)["Team A"] is None and "Team A" not in matrix(ruled)["rows"]
    with ruled.database.writing() as session, pytest.raises(CourseError, match="already disqualified"):
        disqualify(session, ruled.data, "Ada", "Team A", "strategies", "again")
    with ruled.database.writing() as session:
        disqualify(session, ruled.data, "Ada", "Team A", "strategies", "A mistake", holds=False)
    assert board(ruled)["Team A"] == ruled.best and grade(ruled).rank == before["Team A"]
    with ruled.database.reading() as session:
        assert [line.what for line in session.query(LogLine)] == ["disqualify", "reinstate"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind, number, ruling, reason, words",
    [
        ("strategies", 99, "hidden", "x", "no submission 99"),
        ("strategies", 1, "hidden", "x", "are the instructors' own"),
        ("strategies", 3, "deleted", "x", "no ruling 'deleted'"),
        ("strategies", 3, "hidden", " ", "A reason is missing"),
        ("bots", 3, "hidden", "x", "Only its own team sees a bot"),
        ("bots", 3, "withdrawn", "x", "no league"),
        ("report", 3, "withdrawn", "x", "no report 3"),
        ("rows", 3, "withdrawn", "x", "no kind 'rows'"),
    ],
)
def test_rulings_that_are_refused(ruled, kind, number, ruling, reason, words):
    with pytest.raises(CourseError, match=words), ruled.database.writing() as session:
        rule(session, ruled.data, "Ada", kind, number, ruling, reason)
    with ruled.database.reading() as session:
        assert (
            not session.query(LogLine).count() and not session.query(Submission).filter(Submission.ruling != "").count()
        )


@pytest.mark.slow
def test_a_withdrawn_bot_does_not_play(tmp_path):
    course = LeagueCourse(tmp_path / "course")
    first, last = (course.hand_in("Team A", GOOD + extra)["number"] for extra in (b"", b"# better"))
    team = team_number(course.lab, "Team A")
    assert course.bots.playing_bot(team).id == last
    decide(course.lab, "withdrawn", last, "bots")
    assert course.bots.playing_bot(team).id == first and [bot.id for bot in course.bots.list_accepted()] == [first]
    page = course.browser("Team A").get(f"/extreme/bots/{last}").text
    assert "The file of others" in page and "It plays." not in page
    decide(course.lab, "none", last, "bots")
    assert course.bots.playing_bot(team).id == last
    course.close()
