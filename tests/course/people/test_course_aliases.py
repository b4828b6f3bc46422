"""Aliases of teams: no public page or address shows a team's own name, and people with rights see both."""

import csv
import io
import json

import pytest

from pttt_ooc.course.data.models import Team
from pttt_ooc.course.people.people import add_staff
from tests.course.league_kit import GOOD, LeagueCourse
from tests.course.server_kit import bearer
from tests.course.term_kit import course, team_number, upload

PUBLIC = (
    "/", "/matrix", "/submissions", "/course", "/about", "/parts/leaderboard", "/parts/matrix", "/parts/submissions",
    "/api/leaderboard", "/api/matrix", "/api/history", "/api/submissions", "/api/course", "/course/announcements.atom",
    "/extreme/practice", "/extreme/standings", "/extreme/matches", "/api/extreme/practice",
)  # fmt: skip
OWN = ("Aristotle", "Bernoulli", "Curie")


@pytest.fixture
def masked(tmp_path):
    """A course with a league and aliases; two teams from before, and one that came later."""
    made = LeagueCourse(tmp_path / "course")
    lab = made.lab
    lab.baseline()
    for name in OWN[:2]:
        lab.team(name)
    (tmp_path / "course.yaml").write_text(
        "aliases: true\nassignments: [{name: strategies, kind: strategies}, {name: bots, kind: bots}]"
    )
    assert "aliases: False → True" in course(lab.data, "apply", tmp_path / "course.yaml")
    lab.team(OWN[2])
    lab.file = tmp_path / "course.yaml"
    for seed, name in enumerate(OWN):
        upload(lab, name, 0, seed + 1)
        upload(lab, name, 1, seed + 1)
    with lab.database.writing() as session:
        lab.tokens["Ada"] = add_staff(session, "Ada", "ada@example.org", "instructor")
    yield made
    made.close()


def aliases(lab):
    with lab.database.reading() as session:
        found = session.query(Team).filter(Team.roster_name.is_not(None), ~Team.roster_name.startswith("Team "))
        return {team.roster_name: team.name for team in found}


@pytest.mark.slow
def test_no_public_page_shows_a_teams_own_name(masked):
    lab = masked.lab
    names = aliases(lab)
    assert sorted(names) == sorted(OWN) and len({*names.values()}) == 3
    masked.post("Aristotle", GOOD)
    assert names["Curie"] in masked.browser().get("/").text
    for who in (None, "Bernoulli"):
        browser, hidden = masked.browser(who), [name for name in OWN if name != who]
        pages = [*PUBLIC, *(f"/teams/{n}" for n in range(1, 9)), *(f"/submissions/{n}" for n in range(1, 9))]
        for path in pages:
            text = browser.get(path).text
            assert not any(name in text for name in hidden), (who, path)
    headers = bearer(lab.tokens["Bernoulli"])
    for n in range(1, 9):
        assert not any(name in masked.browser().get(f"/api/submissions/{n}", headers=headers).text for name in OWN)
    # Nor does a search by the own name lead to the alias.
    assert masked.browser().get("/api/submissions?team=Aristotle").status_code == 404
    assert masked.browser().get("/api/history?team=Aristotle").status_code == 404
    assert masked.browser().get(f"/api/submissions?team={names['Aristotle']}").json()["total"] == 2


@pytest.mark.slow
def test_a_team_and_people_with_rights_know_both_names(masked):
    lab = masked.lab
    names = aliases(lab)
    page = masked.browser("Curie").get("/course").text
    assert "Your team is <bdi>Curie</bdi>" in page and names["Curie"] in page
    page = masked.browser("Curie").get("/submissions").text
    assert f"New submission of <bdi>Curie</bdi>, shown to others as <bdi>{names['Curie']}</bdi>" in page
    desk = masked.browser("Ada")
    page = desk.get("/course/desk").text
    assert all(name in page and alias in page for name, alias in names.items())
    with lab.database.reading() as session:
        number = session.query(Team).filter_by(roster_name="Curie").one().id
    assert "Public pages show it as" in desk.get(f"/course/desk/teams/{number}").text
    assert "2 found" in desk.get("/course/desk/submissions?search=curie").text
    rows = csv.DictReader(io.StringIO(course(lab.data, "grades")))
    assert {row["team"] for row in rows} == {*OWN, "Team A", "Team B"}
    course(lab.data, "adjust", "curie", "strategies", "--points=3", "--reason", "x")
    told = json.loads(course(lab.data, "submissions", names["Curie"], "--json"))
    assert {one["team"] for one in told["submissions"]} == {"Curie"}


@pytest.mark.slow
def test_names_come_back_when_the_course_wants_no_aliases(masked):
    lab = masked.lab
    before = aliases(lab)
    lab.file.write_text(lab.file.read_text().replace("true", "false"))
    course(lab.data, "apply", lab.file)
    assert aliases(lab) == {} and team_number(lab, "Curie")
    page = masked.browser().get("/").text
    assert all(name in page for name in OWN) and not any(alias in page for alias in before.values())


@pytest.mark.slow
def test_a_roster_finds_teams_by_their_own_names(masked, tmp_path):
    lab = masked.lab
    before = aliases(lab)
    (tmp_path / "r.csv").write_text("team,name,email\nCurie,Marie,m@example.org\nDirac,Paul,p@example.org\n")
    told = json.loads(course(lab.data, "teams", tmp_path / "r.csv", "--json"))
    assert told["changes"] == ["+ team Dirac", "+ m@example.org joins Curie", "+ p@example.org joins Dirac"]
    assert set(aliases(lab)) == {*OWN, "Dirac"} and before.items() <= aliases(lab).items()
    assert "Dirac: Paul" in course(lab.data, "teams")
