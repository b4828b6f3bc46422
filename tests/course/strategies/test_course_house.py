"""A team of the house: in the head-to-head beside the baseline, without rank and grade, and seen by nobody else."""

import json

import pytest

from pttt_ooc.course.data.models import Submission
from pttt_ooc.course.people.people import add_staff
from tests.course.server_kit import strategy_zip
from tests.course.term_kit import STEPS, change, course, upload


@pytest.fixture
def housed(lab, tmp_path):
    """A course with two teams, and nearly an equilibrium of the house."""
    lab.baseline()
    for name in ("Team A", "Team B"):
        lab.team(name)
        upload(lab, name, 0, 1 if name == "Team A" else 2)
        upload(lab, name, 1, 3)
    change(lab, rule=STEPS)
    lab.before = lab.client.get("/api/leaderboard").json(), course(lab.data, "grades")
    files = []
    for player in (0, 1):
        files.append(tmp_path / f"{player}.zip")
        files[-1].write_bytes(strategy_zip(player, 11, 0.2))
    lab.numbers = json.loads(course(lab.data, "house", *files, "--json"))["submissions"]
    lab.files = files
    lab.run()
    return lab


def test_the_house_plays_head_to_head_and_changes_nothing_else(housed):
    matrix = housed.client.get("/api/matrix").json()
    assert matrix["rows"] == matrix["columns"] == ["Team A", "Team B", "Equilibrium", "Uniform"]
    assert all(value is not None for row in matrix["values"] for value in row)
    assert (housed.client.get("/api/leaderboard").json(), course(housed.data, "grades")) == housed.before
    assert "Equilibrium" not in housed.client.get("/").text and "Equilibrium" in housed.client.get("/matrix").text


@pytest.mark.slow
def test_nobody_sees_what_the_house_has_handed_in(housed):
    with housed.database.reading() as session:
        row = session.get(Submission, housed.numbers[0])
        team, status = row.team_id, row.status
    assert status == "Accepted"
    housed.sign_in(housed.tokens["Team A"])
    client = housed.client
    assert client.get(f"/submissions/{housed.numbers[0]}").status_code == 404
    assert client.get(f"/api/submissions/{housed.numbers[0]}").status_code == 404
    assert client.get(f"/submissions/{housed.numbers[0]}/file").status_code == 403
    assert client.get(f"/teams/{team}").status_code == 404
    listed = client.get("/api/submissions?size=100").json()["submissions"]
    assert not {one["id"] for one in listed} & {*housed.numbers}
    assert "Equilibrium" not in json.dumps(client.get("/api/history").json())


@pytest.mark.slow
def test_the_house_can_be_entered_again_and_its_name_is_its_own(housed):
    again = json.loads(course(housed.data, "house", *housed.files, "--json"))["submissions"]
    assert again == housed.numbers
    assert "already is a team Team A" in course(housed.data, "house", *housed.files, "--name", "team a", code=1)
    assert "no such file" in course(housed.data, "house", housed.files[0], "x.zip", code=1)
    assert "no team Equilibrium" in course(
        housed.data, "adjust", "Equilibrium", "strategies", "--points=1", "--reason", "x", code=1
    )


@pytest.mark.slow
def test_people_with_rights_see_the_house(housed):
    with housed.database.writing() as session:
        token = add_staff(session, "Ada", "ada@example.org", "instructor")
    housed.sign_in(token)
    assert housed.client.get(f"/submissions/{housed.numbers[0]}").status_code == 200
    assert "Equilibrium" in housed.client.get("/course/desk/submissions").text
    assert "Equilibrium" not in housed.client.get("/course/desk").text
