"""A team picks what counts: on its page, by program, by command, and until when."""

import json

import pytest

from pttt_ooc.course.data.term_tables import LogLine
from tests.course.pages.test_course_term_pages import term  # noqa: F401
from tests.course.server_kit import bearer, pttt
from tests.course.term_kit import DAY, HOUR, browser, change, course, form_of, grade, hand_in, soon, upload
from tests.kits.browsing import served

GOOD, POOR = (0, 1, 1.0), (0, 3, 4.0)


@pytest.fixture
def picking(term):  # noqa: F811
    """Team A has a good strategy and a poor one for player 0, and one for player 1; Team B has one."""
    change(term, choice="pick")
    term.good, term.poor = upload(term, "Team A", *GOOD), upload(term, "Team A", *POOR)
    term.second, term.foreign = upload(term, "Team A", 1, 2), upload(term, "Team B", 0, 5)
    return term


def post(client, number, name="strategies"):
    return client.post(f"/course/picks/{name}", data={"form_token": form_of(client), "submission": number})


def counts(lab):
    return grade(lab).submissions


def test_a_team_picks_on_its_page(picking):
    client = browser(picking, "team")
    page = client.get("/course").text
    assert f'<option value="{picking.poor}" selected>' in page and f'<option value="{picking.good}">' in page
    assert f'value="{picking.foreign}"' not in page
    assert counts(picking) == {"player 0": picking.poor, "player 1": picking.second}
    assert post(client, picking.good).status_code == 303
    assert counts(picking) == {"player 0": picking.good, "player 1": picking.second}
    assert f'<option value="{picking.good}" selected>' in client.get("/course").text
    assert post(client, "").status_code == 303
    assert counts(picking)["player 0"] == picking.poor
    for number, status in [(picking.foreign, 409), (99, 409), ("x", 400), ("-1", 400), ("9" * 30, 400)]:
        assert post(client, number).status_code == status, number
    with picking.database.reading() as session:
        assert [line.by for line in session.query(LogLine) if line.what == "pick"] == ["team Team A"] * 2


@pytest.mark.slow
def test_picks_are_made_until_the_assignment_closes(picking):
    client = browser(picking, "team")
    change(picking, due_at=soon(-2 * HOUR), closes_at=soon(-HOUR))
    answer = post(client, picking.good)
    assert (
        answer.status_code == 409 and "is closed" in answer.text and "Pick</button>" not in client.get("/course").text
    )
    change(picking, due_at=soon(DAY), closes_at=None)
    late = upload(picking, "Team A", 0, 8, at=soon(2 * DAY))
    assert "within its dates" in post(client, late).text
    change(picking, due_at=soon(-2 * HOUR), closes_at=soon(-HOUR))
    told = course(picking.data, "pick", "Team A", "strategies", late, code=1)  # not even instructors
    assert "within its dates" in told
    change(picking, due_at=soon(HOUR), closes_at=None)
    told = json.loads(course(picking.data, "pick", "Team A", "strategies", picking.good, "--json"))
    assert told["grades"] == [{"team": "Team A", "assignment": "strategies", "points": 40}]
    course(picking.data, "pick", "Team A", "strategies", "none")
    assert counts(picking)["player 0"] == picking.poor
    assert "'first' is neither the number" in course(picking.data, "pick", "Team A", "strategies", "first", code=1)


@pytest.mark.slow
def test_a_report_is_picked(picking):
    change(picking, "report", choice="pick")
    later = hand_in(picking, "team", b"%PDF-1.4 later").json()["id"]
    client = browser(picking, "team")
    assert post(client, picking.report, "report").status_code == 303
    page = client.get("/course").text
    assert f"report no. {picking.report}" in page and f"report no. {later}" not in page


@pytest.mark.parametrize("words", [["17"], ["strategies", "17"], ["Team A", "strategies", "17", "18"]])
def test_who_picks_is_told_by_a_team_or_a_server(words, tmp_path):
    done = pttt("course", "pick", *words, "--data", tmp_path / "course")
    assert done.returncode == 1 and done.stderr.startswith("Name the team, the assignment and the submission; a team")
    assert not (tmp_path / "course").exists()


@pytest.mark.slow
def test_a_team_picks_by_command(picking):
    with served(picking.client.app) as url:

        def pick(*arguments, code=0, token=picking.tokens["team"]):
            done = pttt("course", "pick", *arguments, "--server", url, PTTT_TOKEN=token)
            assert done.returncode == code and "Traceback" not in done.stderr, done
            return done.stdout or done.stderr

        assert f"player 0: {picking.good}" in pick("strategies", picking.good)
        told = json.loads(pick("strategies", "none", "--json"))
        assert told["grade"]["submissions"]["player 0"] == picking.poor and told["picks"]["player 0"] is None
        assert "within its dates" in pick("strategies", picking.foreign, code=1)
        assert "no assignment 'other'" in pick("other", 3, code=1)
        assert "neither the number" in pick("strategies", "best", code=1)
        assert "token" in pick("strategies", 3, code=1, token="x")
    headers = bearer(picking.tokens["team"])
    answer = picking.client.post("/api/course/picks/strategies", headers=headers, json={"submission": 0})
    assert answer.status_code == 422
