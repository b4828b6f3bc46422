"""The desk's pages and commands about submissions: search, judging again, rulings, and all of them as one zip."""

import csv
import io
import json
import zipfile
from functools import partial

import pytest

from pttt_ooc.course.data.models import Submission
from pttt_ooc.course.data.term_tables import Assignment
from pttt_ooc.course.grades.rejudging import Rehearsals
from pttt_ooc.course.people.people import add_staff, apply_roster, read_roster
from pttt_ooc.course.strategies.judging import verdict_on
from tests.course.league_kit import GOOD, LeagueCourse
from tests.course.server_kit import VALUE, bearer, strategy_zip
from tests.course.term_kit import STEPS, browser, change, course, hand_in, points, post, team_number, upload


@pytest.fixture
def desk(lab):
    """Two teams with strategies and a report, and an instructor."""
    roster = "team,name,email,number\nTeam A,Alan Turing,alan@example.org,s777\n=Team B,Bo,bo@example.org,s888\n"
    with lab.database.writing() as session:
        lab.tokens |= dict(apply_roster(session, read_roster(roster, "roster")).tokens)
        lab.tokens["instructor"] = add_staff(session, "Ada", "ada@example.org", "instructor")
        row = {"title": "Report", "kind": "report", "position": 1, "choice": "last", "rubric": []}
        session.add(Assignment(name="report", **row))
    lab.tokens["team"] = lab.tokens["Team A"]
    change(lab, rule=STEPS)
    lab.first, lab.second = upload(lab, "Team A", 0, 1), upload(lab, "=Team B", 0, 4, 0.1)
    lab.report = hand_in(lab, "Team A", b"%PDF-1.7", name="../my report.pdf").json()["id"]
    return lab


def listed(client, query=""):
    page = client.get(f"/course/desk/submissions{query}")
    assert page.status_code == 200, page.text
    return page.text


def rehearse(lab):
    """What the worker does; returns the number of steps."""
    judge = partial(verdict_on, lab.assessor, lab.storage, stopping=lab.stopping)
    rehearsals, steps = Rehearsals(lab.database, lab.data, "strategies", judge), 0
    while rehearsals.step():
        steps += 1
    return steps


@pytest.mark.slow
def test_submissions_of_all_kinds_are_found(desk):
    client = browser(desk, "instructor")
    page = listed(client)
    assert "3 found" in page and "my report.pdf" in page and f'/submissions/{desk.second}/file"' in page
    for query, count in [
        ("search=turing", 2),
        ("search=S888", 1),
        ("search=bo@example", 1),
        ("search=team", 3),
        (f"search={desk.second}", 1),
        ("kind=report", 1),
        ("state=accepted", 3),
        ("state=rejected", 0),
        ("kind=bots", 0),
        ("search=turing&kind=strategies", 1),
        ("search=%25", 0),
    ]:
        page = listed(client, f"?{query}")
        assert (f"{count} found" in page) if count else ("Nothing is found" in page), query
    with desk.database.reading() as session:
        digest = session.get(Submission, desk.first).digest
    assert "1 found" in listed(client, f"?search={digest[:10].upper()}")
    assert client.get("/course/desk/submissions?kind=x").status_code == 400
    told = json.loads(course(desk.data, "submissions", "turing", "--json"))
    assert told["total"] == 2 and {one["kind"] for one in told["submissions"]} == {"strategies", "report"}
    assert "Nothing is found." in course(desk.data, "submissions", "--state", "waiting")
    assert "no state 'odd'" in course(desk.data, "submissions", "--state", "odd", code=1)


@pytest.mark.slow
def test_a_dry_run_at_the_desk_changes_nothing_and_tells_what_would(desk):
    client, before = browser(desk, "instructor"), points(desk)
    with desk.database.writing() as session:  # as if it had been judged wrongly
        row = session.get(Submission, desk.second)
        right, row.exploitability = row.exploitability, 0.4
    answer = post(client, "rejudge", which="all", dry_run="yes")
    assert answer.status_code == 303
    address = answer.headers["location"]
    page = client.get(address).text
    assert "0 of 2 judged" in page and "hx-get" in page
    assert rehearse(desk) == 3
    page = client.get(address).text
    assert "2 of 2 judged; done" in page and "hx-get" not in page
    assert f"accepted, 0.4 → accepted, {right:.9g}" in page and f"Submission {desk.first}" not in page
    assert "=Team B, strategies: 20 → 20" not in page and points(desk) == before
    with desk.database.reading() as session:
        assert session.get(Submission, desk.second).exploitability == 0.4
    part = client.get(address.replace("desk/", "desk/parts/") + "?seen=2-True")
    assert part.status_code == 204
    told = json.loads(course(desk.data, "rejudgements", "1", "--json"))[0]
    assert told["done"] == told["total"] == 2 and told["dry_run"] and told["verdicts"][1]["before"] == "accepted, 0.4"


def test_a_dry_run_tells_which_grades_would_change(desk):
    with desk.database.writing() as session:
        session.get(Submission, desk.second).exploitability = 0.4
    course(desk.data, "grades")
    client = browser(desk, "instructor")
    address = post(client, "rejudge", dry_run="yes", **{f"strategies-{desk.second}": "1"}).headers["location"]
    rehearse(desk)
    assert "=Team B, strategies: 40 → 20 points" in client.get(address).text


@pytest.mark.slow
def test_chosen_submissions_are_judged_again_with_progress(desk):
    client = browser(desk, "instructor")
    assert post(client, "rejudge", dry_run="no").status_code == 400
    address = post(client, "rejudge", dry_run="no", **{f"strategies-{desk.second}": "1"}).headers["location"]
    assert "0 of 1 judged" in client.get(address).text
    desk.run()
    page = client.get(address).text
    assert "1 of 1 judged; done" in page and "Nothing is changed" not in page
    assert "rejudge" in client.get("/course/desk/log").text
    assert post(client, "rejudge", which="all", kind="bots").status_code == 400
    address = post(client, "rejudge", which="all", search="team b", dry_run="no").headers["location"]
    assert "0 of 1" in client.get(address).text
    desk.run()
    assert points(desk)[team_number(desk, "=Team B")] == 20


@pytest.mark.slow
def test_a_dry_run_goes_on_when_a_submission_has_gone(desk):
    client = browser(desk, "instructor")
    address = post(client, "rejudge", which="all", dry_run="yes").headers["location"]
    desk.storage.upload_of = None
    with desk.database.writing() as session:
        lost = session.get(Submission, desk.first)
        desk.storage.upload(lost.file).unlink()
        session.delete(session.get(Submission, desk.second))
    rehearse(desk)
    page = client.get(address).text
    assert "it cannot be judged" in page and "; done" in page


@pytest.mark.slow
def test_all_are_judged_again_by_command(desk):
    with desk.database.writing() as session:
        from pttt_ooc.course.data.models import Fact

        session.merge(Fact(name="value", value=[*VALUE, "as it was"]))
    told = json.loads(course(desk.data, "rejudge", "--all", "--dry-run", "--json"))
    assert [one["before"] == one["after"] for one in told["verdicts"]] == [True, True] and told["grades"] == []
    assert "by their numbers, or a --team, or --all" in course(desk.data, "rejudge", code=1)
    assert "by their numbers, or a --team, or --all" in course(desk.data, "rejudge", "3", "--all", code=1)
    assert json.loads(course(desk.data, "rejudge", "--team", "team a", "--json"))["queued"] == [desk.first]


@pytest.mark.slow
def test_a_ruling_at_the_desk_is_seen_by_the_team(desk):
    client = browser(desk, "instructor")
    fields = {"kind": "strategies", "submission": str(desk.first), "ruling": "withdrawn", "reason": "<b>Not</b> yours"}
    assert post(client, "rule", **fields).status_code == 303
    page = browser(desk, "team").get(f"/submissions/{desk.first}").text
    assert "The instructors have withdrawn it; it does not count. &lt;b&gt;Not&lt;/b&gt; yours" in page
    assert browser(desk, "nobody").get(f"/submissions/{desk.first}").status_code == 404
    assert "withdrawn" in listed(client, "?state=ruled")
    post(client, "rule", **{**fields, "kind": "report", "submission": str(desk.report), "reason": "The wrong one"})
    page = browser(desk, "team").get("/course").text
    assert "withdrawn by the instructors: The wrong one" in page and "report no." not in page
    for wrong in ({"submission": "x"}, {"submission": "99"}, {"ruling": "burnt"}, {"reason": ""}, {"kind": "bots"}):
        assert post(client, "rule", **{**fields, **wrong}).status_code == 400
    told = json.loads(course(desk.data, "rule", "strategies", desk.first, "none", "--reason", "Sorry", "--json"))
    assert told["grades"] == [{"team": "Team A", "assignment": "strategies", "points": 40}]
    assert "no submission 99" in course(desk.data, "rule", "strategies", 99, "hidden", "--reason", "x", code=1)


@pytest.mark.slow
def test_a_team_sees_why_it_is_disqualified(desk):
    client = browser(desk, "instructor")
    number = team_number(desk, "Team A")
    fields = {"team": "Team A", "assignment": "strategies", "reason": "Code of others", "number": str(number)}
    assert post(client, "disqualify", **fields).headers["location"] == f"/course/desk/teams/{number}"
    assert "Reinstate" in client.get(f"/course/desk/teams/{number}").text
    assert "Code of others" in browser(desk, "team").get("/course").text
    assert "Code of others" not in browser(desk, "nobody").get("/course").text
    course(desk.data, "disqualify", "Team A", "strategies", "--reason", "Sorry", "--undo")
    assert "not disqualified" in course(
        desk.data, "disqualify", "Team A", "strategies", "--reason", "x", "--undo", code=1
    )
    assert "Code of others" not in browser(desk, "team").get("/course").text


def unzipped(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.slow
def test_all_submissions_of_an_assignment_are_one_zip(desk, tmp_path):
    client = browser(desk, "instructor")
    answer = client.get("/course/desk/assignments/strategies/submissions.zip")
    assert answer.headers["content-type"] == "application/zip"
    found = unzipped(answer.content)
    number, other = team_number(desk, "Team A"), team_number(desk, "=Team B")
    name = f"{number:03}-Team_A/strategy-0-{desk.first}.zip"
    assert found[name] == strategy_zip(0, 1) and f"{other:03}-Team_B/strategy-0-{desk.second}.zip" in found
    rows = list(csv.DictReader(io.StringIO(found["submissions.csv"].decode())))
    assert [row["team"] for row in rows] == ["Team A", "'=Team B"]  # no formula
    assert [(row["counts"], row["file"]) for row in rows][0] == ("yes", name)
    assert list(unzipped(client.get("/course/desk/assignments/report/submissions.zip").content)) == [
        f"{number:03}-Team_A/report-{desk.report}-my_report.pdf",
        "submissions.csv",
    ]
    assert client.get("/course/desk/assignments/other/submissions.zip").status_code == 404
    told = json.loads(course(desk.data, "download", "strategies", "-o", tmp_path / "s.zip", "--json"))
    assert told["submissions"] == 2 and unzipped((tmp_path / "s.zip").read_bytes()) == found
    assert (tmp_path / "s.zip").stat().st_mode & 0o777 == 0o600
    assert "s.zip" in course(desk.data, "download", "strategies", "-o", tmp_path / "s.zip", code=1)


@pytest.mark.slow
def test_a_team_downloads_its_own_files_only(desk):
    found = unzipped(browser(desk, "team").get("/course/own/strategies").content)
    assert len(found) == 2 and strategy_zip(0, 1) in found.values()
    rows = list(csv.DictReader(io.StringIO(found["submissions.csv"].decode())))
    assert [row["team"] for row in rows] == ["Team A"]
    assert browser(desk, "team").get("/course/own/other").status_code == 404


@pytest.mark.slow
def test_a_lost_file_is_told_in_the_table(desk):
    with desk.database.reading() as session:
        desk.storage.upload(session.get(Submission, desk.first).file).unlink()
    found = unzipped(browser(desk, "instructor").get("/course/desk/assignments/strategies/submissions.zip").content)
    rows = list(csv.DictReader(io.StringIO(found["submissions.csv"].decode())))
    assert [(row["status"], row["file"] == "") for row in rows] == [("file lost", True), ("Accepted", False)]


@pytest.mark.slow
def test_bots_are_found_and_downloaded(tmp_path):
    made = LeagueCourse(tmp_path / "course")
    with made.lab.database.writing() as session:
        made.tokens["Ada"] = add_staff(session, "Ada", "ada@example.org", "instructor")
    made.hand_in("Team A", GOOD)
    client = made.browser("Ada")
    assert "bots, <bdi>team7.py</bdi>" in client.get("/course/desk/submissions?search=team+a").text
    assert client.get("/course/desk/bots/1").content == GOOD
    found = unzipped(client.get("/course/desk/assignments/bots/submissions.zip").content)
    assert found[f"{team_number(made.lab, 'Team A'):03}-Team_A/bot-1-team7.py"] == GOOD
    assert client.get("/course/desk/bots/2").status_code == 404
    assert made.browser("Team B").get("/course/desk/bots/1").status_code == 403
    headers = bearer(made.tokens["Team B"])
    assert made.browser().get("/course/desk/bots/1", headers=headers).status_code == 401
    made.close()
