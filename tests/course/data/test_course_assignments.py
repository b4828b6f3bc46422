"""Assignments, dates at uploads, frozen standings, people."""

import json

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError

from pttt_ooc.course.data import standings
from pttt_ooc.course.data.assignments import all_assignments, settle_assignments
from pttt_ooc.course.data.audit import note
from pttt_ooc.course.data.models import Entry, Fact, Submission
from pttt_ooc.course.data.storage import Incoming
from pttt_ooc.course.data.term_tables import Assignment, Extension, LogLine, Membership
from pttt_ooc.course.pages.intakes import strategies
from pttt_ooc.course.people import teams
from pttt_ooc.course.people.people import add_staff, apply_roster, change_of, members, read_roster, remove_staff
from pttt_ooc.errors import CourseError
from tests.course.league_kit import GOOD, LeagueCourse
from tests.course.server_kit import bearer, strategy_zip
from tests.course.term_kit import DAY, HOUR, change, soon, team_number, upload


def test_an_assignment_that_was_removed_does_not_come_back(lab):
    with lab.database.writing() as session:
        session.delete(session.query(Assignment).one())
    settle_assignments(lab.database, lab.data)
    with lab.database.reading() as session:
        assert all_assignments(session) == [] and session.get(Fact, "settled").value == ["strategies"]
    refused = lab.post(lab.team("Team A"), 0, strategy_zip(0, 1))
    assert refused.status_code == 409 and "No assignment of this course takes strategies." in refused.json()["error"]


# ---------------------------------------------------------------------------------------------
# Dates of uploads


@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    "dates, words",
    [
        ({"opens_at": soon(HOUR)}, "Uploads of strategies begin at"),
        ({"due_at": soon(-HOUR)}, "had to begin by"),
        ({"due_at": soon(-2 * HOUR), "closes_at": soon(-HOUR)}, "had to begin by"),
    ],
)
def test_uploads_outside_of_the_dates_are_refused(lab, dates, words):
    token = lab.team("Team A")
    change(lab, **dates)
    refused = lab.post(token, 0, strategy_zip(0, 1))
    assert refused.status_code == 409 and words in refused.json()["error"]
    assert not list(lab.storage.incoming.iterdir()) and not list(lab.storage.uploads.iterdir())
    lab.baseline()  # Uniform has no deadline


def test_late_uploads_are_taken_until_the_end(lab):
    token = lab.team("Team A")
    change(lab, due_at=soon(-HOUR), closes_at=soon(HOUR))
    assert lab.post(token, 0, strategy_zip(0, 1)).status_code == 201


def test_an_extension_is_for_one_team(lab):
    a, b = lab.team("Team A"), lab.team("Team B")
    change(lab, due_at=soon(-HOUR))
    with lab.database.writing() as session:
        number = session.query(Assignment).one().id
        row = {"assignment_id": number, "by": "me", "reason": "ill", "at": 1.0}
        session.add(Extension(team_id=team_number(lab, "Team A"), until=soon(HOUR), **row))
    assert [lab.post(token, 0, strategy_zip(0, 1)).status_code for token in (a, b)] == [201, 409]


def test_what_counts_is_when_the_upload_began(lab):
    """The bytes may come after the deadline."""
    lab.team("Team A")
    with lab.database.reading() as session:
        team = teams.find_team(session, "Team A")
    change(lab, due_at=soon(-HOUR))
    for begun, seed, taken in [(soon(-HOUR) - 60, 1, True), (soon(0), 2, False)]:
        incoming = Incoming(lab.storage, begun_at=begun)
        incoming.write(strategy_zip(0, seed))
        if taken:
            row, _ = strategies(lab.course).take_in(team, {"player": "0"}, incoming)
            assert row.begun_at == row.counts_from == begun < row.received_at
        else:
            with pytest.raises(CourseError, match="this one is too late"):
                strategies(lab.course).take_in(team, {"player": "0"}, incoming)
    assert len(list(lab.storage.uploads.iterdir())) == 1


def test_an_upload_notes_when_it_began(lab):
    before = soon(0)
    lab.team("Team A")
    upload(lab, "Team A", 0, 1)
    with lab.database.reading() as session:
        row = session.query(Submission).one()
    assert before <= row.begun_at <= row.received_at


@pytest.mark.slow
def test_bots_have_dates_too(tmp_path):
    course = LeagueCourse(tmp_path / "course")
    assert course.post("Team A", GOOD).status_code == 201
    change(course.lab, "bots", due_at=soon(-HOUR))
    refused = course.post("Team B", GOOD)
    assert refused.status_code == 409 and "Uploads of bots had to begin by" in refused.json()["error"]
    course.close()


# ---------------------------------------------------------------------------------------------
# Frozen standings


@pytest.mark.slow
def test_frozen_standings_stay_as_they_were_for_others_until_they_are_unveiled(lab):
    """Team A has improved since; it and people with rights see it at once."""
    for name in ("Team A", "Team B"):
        lab.team(name)
    lab.baseline()
    upload(lab, "Team A", 0, 1, 4.0, at=soon(-DAY))
    upload(lab, "Team B", 1, 2, 1.0, at=soon(-DAY))
    before = {page: lab.client.get(page).json() for page in ("/api/leaderboard", "/api/matrix", "/api/history")}
    change(lab, frozen_at=soon(0), unveiled_at=soon(HOUR))
    new = upload(lab, "Team A", 0, 3, 0.2)
    # What everybody sees.
    for page, answer in before.items():
        assert lab.client.get(page).json() == answer, page
    listed = lab.client.get("/api/submissions").json()
    assert new not in [one["id"] for one in listed["submissions"]] and listed["total"] == new - 1
    for page in (f"/api/submissions/{new}", f"/submissions/{new}", f"/parts/submissions/{new}"):
        assert lab.client.get(page).status_code == 404
    for page in ("/", "/matrix", "/submissions", f"/teams/{team_number(lab, 'Team A')}", "/submissions/3"):
        text = lab.client.get(page).text
        assert f"/submissions/{new}" not in text and (page not in ("/", "/matrix") or "frozen since" in text), page
    # What the team itself, another team, and people with rights see.
    with lab.database.writing() as session:
        staff = add_staff(session, "Ada", "ada@example.org", "assistant")
    for token, code in ((lab.tokens["Team A"], 200), (lab.tokens["Team B"], 404), (staff, 200)):
        answer = lab.client.get(f"/api/submissions/{new}", headers=bearer(token))
        assert answer.status_code == code and (code == 404 or answer.json()["best"])
    assert lab.client.get("/api/submissions", headers=bearer(staff)).json()["total"] == new
    lab.sign_in(lab.tokens["Team A"])
    assert f"/submissions/{new}" in lab.client.get("/submissions").text
    # Afterwards.
    with lab.database.reading() as session:
        frozen_revision = standings.revision(session)
        assert session.query(Entry).count() > len(standings.bests(session)[0]) * len(standings.bests(session)[1])
    change(lab, unveiled_at=soon(-1))
    after = lab.client.get("/api/leaderboard").json()
    assert after != before["/api/leaderboard"]
    assert next(row for row in after if row["team"] == "Team A")["submissions"][0] == new
    with lab.database.reading() as session:
        assert standings.revision(session) != frozen_revision
    upload(lab, "Team A", 0, 5, 0.1)
    with lab.database.reading() as session:  # what was kept for the frozen matrix is gone
        first, second = standings.bests(session)
        assert session.query(Entry).count() == len(first) * len(second)


# ---------------------------------------------------------------------------------------------
# People

ROSTER = """\ufeffTeam;Name;Email;Number
Team A;Ada Lovelace;Ada@example.org;17
Team A;Björn Å;bjorn@example.org;
 Team B ; Chen Li ;chen@example.org;18
"""


def roster(lab, text):
    with lab.database.writing() as session:
        return apply_roster(session, read_roster(text, "roster.csv"))


def test_a_roster_makes_teams_and_memberships_with_a_trace(lab):
    first = roster(lab, ROSTER)
    assert first.teams == ("Team A", "Team B") and len(first.joins) == 3 and not first.leaves
    for name, token in first.tokens:
        assert lab.client.get("/api/submissions", headers=bearer(token)).status_code == 200, name
    with lab.database.reading() as session:
        assert change_of(session, read_roster(ROSTER, "roster.csv")).is_empty
    moved = roster(lab, "team,name,email\nteam b,Ada King,ADA@example.org\n")
    assert moved.leaves == (("ADA@example.org", "Team A"),) and moved.joins == (("ADA@example.org", "Team B"),)
    assert moved.renamed == ("ADA@example.org",) and not moved.teams
    ((name, token),) = moved.tokens  # who has left keeps none
    assert name == "Team A" and token != dict(first.tokens)["Team A"]
    with lab.database.reading() as session:
        teams = {team: [one.name for one in people] for team, people in members(session).items()}
        assert teams == {team_number(lab, "Team A"): ["Björn Å"], team_number(lab, "Team B"): ["Ada King", "Chen Li"]}
        trace = session.query(Membership).order_by(Membership.id).all()
        assert [one.left_at is None for one in trace] == [False, True, True, True]
        assert trace[0].left_at == trace[3].joined_at


@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    "text, words",
    [
        ("", "no column team"),
        ("team,name\nA,b\n", "no column email"),
        ("team,name,email\n,Ada,a@b.org\n", "line 2: '' cannot be a team's name"),
        ("team,name,email\nA,Ada,a b@c.org\n", "line 2: 'a b@c.org' is not an e-mail address"),
        ("team,name,email\nA,Ada,a@b.org\n\nB,Ada,A@B.org\n", "line 4: A@B.org is in line 2, too"),
        ("team,name,email\nuniform,Ada,a@b.org\n", "line 2: Uniform is the baseline"),
        ("team,name,email\nA,Ada,\n", "is not an e-mail address"),
        ('team,name,email\nA,Ada,"a@b.org\r\nBcc: x@y.org"\n', "is not an e-mail address"),
        ("team,name,email\n=1+1<,Ada,a@b.org\n", "cannot be a team's name"),
    ],
)
def test_a_roster_with_a_mistake_changes_nothing(lab, text, words):
    with pytest.raises(CourseError, match=words):
        roster(lab, text)
    with lab.database.reading() as session:
        assert not session.query(Membership).count()


def test_people_with_rights_sign_in_and_lose_them(lab):
    with lab.database.writing() as session:
        token = add_staff(session, "Ada", "ada@example.org", "instructor")
    assert token.startswith("p1.")
    lab.sign_in(token)
    page = lab.client.get("/submissions").text
    assert "Ada" in page and "Sign out" in page and 'name="file"' not in page
    refused = lab.post(token, 0, strategy_zip(0, 1))
    assert refused.status_code == 403 and "for teams" in refused.json()["error"]
    with lab.database.writing() as session:
        remove_staff(session, "ADA@example.org")
    assert "Sign out" not in lab.client.get("/submissions").text
    assert lab.post(token, 0, strategy_zip(0, 1)).status_code == 401
    with lab.database.writing() as session, pytest.raises(CourseError, match="Nobody with rights"):
        remove_staff(session, "ada@example.org")


@pytest.mark.slow
def test_the_number_of_a_person_is_none_of_a_team(lab):
    lab.team("Team A")
    with lab.database.writing() as session:
        token = add_staff(session, "Ada", "ada@example.org", "assistant")
    secret = token.partition(".")[2]
    for wrong in (f"1.{secret}", f"2.{secret}", f"p2.{secret}", "p1.", f"p1.{secret}x", "p.x", f"p01 .{secret}"):
        assert lab.client.get("/api/submissions", headers=bearer(wrong)).status_code == 401, wrong


def test_the_log_cannot_be_changed(lab):
    with lab.database.writing() as session:
        note(session, "Ada", "adjust", points=3)
    for statement in ("UPDATE log SET by = 'Bob'", "DELETE FROM log"):
        with pytest.raises((CourseError, DatabaseError), match="append-only"), lab.database.writing() as session:
            session.execute(text(statement))
    with lab.database.reading() as session:
        line = session.query(LogLine).one()
        assert (line.by, line.what, json.dumps(line.facts)) == ("Ada", "adjust", '{"points": 3}')
