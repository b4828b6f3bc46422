"""The switch by which a team opens a submission for play."""

import pytest

from pttt_ooc.course.strategies import submissions
from tests.course.server_kit import form_token, pttt, strategy_zip


@pytest.fixture
def filled(lab):
    """Two teams with an accepted submission each, and a file that is none."""
    for name in ("Team A", "Team B"):
        lab.team(name)
    lab.mine, lab.others = (lab.submit(lab.tokens[f"Team {n}"], 0, strategy_zip(0, k)) for k, n in enumerate("AB"))
    lab.bad = lab.submit(lab.tokens["Team A"], 1, b"no zip")
    lab.run()
    return lab


def opened(lab):
    with lab.database.reading() as session:
        return [s.id for s in submissions.list_open(session)]


def switch(lab, number, value="yes", **fields):
    fields = {"form_token": form_token(lab.client.get("/sign-in").text), "open": value, **fields}
    return lab.client.post(f"/submissions/{number}/play", data=fields, follow_redirects=False)


@pytest.mark.slow
def test_a_team_opens_and_closes_its_own_submission(filled):
    assert opened(filled) == []
    filled.sign_in(filled.tokens["Team A"])
    for page in (f"/submissions/{filled.mine}", "/teams/2"):
        assert "Open for play" in filled.client.get(page).text
    assert switch(filled, filled.mine).headers["location"] == f"/submissions/{filled.mine}"
    assert opened(filled) == [filled.mine]
    assert "everybody may play against it" in filled.client.get(f"/submissions/{filled.mine}").text
    assert switch(filled, filled.mine, "no", back="team").headers["location"] == "/teams/2"
    assert opened(filled) == []


@pytest.mark.slow
def test_nobody_opens_what_is_anothers_or_not_accepted(filled):
    assert switch(filled, filled.mine).status_code == 401
    filled.sign_in(filled.tokens["Team A"])
    assert "/play" not in filled.client.get(f"/submissions/{filled.others}").text
    answers = [switch(filled, number) for number in (filled.others, 99, filled.bad)]
    assert [answer.status_code for answer in answers] == [404, 404, 409]
    assert "not accepted" in answers[2].text
    assert switch(filled, filled.mine, form_token="wrong").status_code == 403
    assert opened(filled) == []


@pytest.mark.slow
def test_those_who_run_the_course_open_and_close(filled):
    data = ("--data", filled.data)
    assert pttt("course", "open", filled.others, *data).returncode == 0 and opened(filled) == [filled.others]
    assert "Open for play" in filled.client.get("/teams/3").text
    assert pttt("course", "close", filled.others, *data).returncode == 0 and opened(filled) == []
    done = pttt("course", "open", filled.bad, *data)
    assert done.returncode == 1 and "not accepted" in done.stderr and len(done.stderr.splitlines()) == 1
