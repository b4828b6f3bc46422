"""Agents at the desk and by command: judged again, hidden, withdrawn, disqualified, found and downloaded."""

import csv
import io
import json
import zipfile

import pytest

from pttt_ooc.course.agents.queue import line
from pttt_ooc.course.data.agents_tables import Agent, AgentMatch
from pttt_ooc.course.data.term_tables import GradeRow, LogLine
from pttt_ooc.course.grades.decisions import disqualify, rule
from pttt_ooc.course.grades.exports import lines
from pttt_ooc.course.grades.rejudging import begin_again
from pttt_ooc.course.pages.publication import publish
from pttt_ooc.course.people.people import add_staff
from pttt_ooc.errors import CourseError
from tests.course.agents_kit import COURSE, FIRST, LAST, agents_course, post_agent, worker_of
from tests.course.server_kit import bearer
from tests.course.term_kit import browser, course, post, team_number

MIDDLE = b"def choose(legal, state):\n    return 4 if 4 in legal else legal[0]\n"


def entered_agent(lab, team, score, content, league=()):
    """An agent with a verdict, as if its games had been played; its number."""
    number = post_agent(lab, team, content).json()["number"]
    with lab.database.writing() as session:
        row = session.get(Agent, number)
        row.status, row.score, row.progress = "Accepted", score, 1.0
        for other, wins, losses in league:
            session.add(AgentMatch(first_id=other, second_id=number, wins=losses, draws=0, losses=wins))
    return number


@pytest.fixture
def agents(lab, tmp_path):
    """Three agents with verdicts, two of them of Team A; Team B's has met Team A's best; and an instructor."""
    agents_course(lab, tmp_path)
    lab.best = entered_agent(lab, "Team A", 0.75, FIRST)
    lab.next = entered_agent(lab, "Team A", 0.5, MIDDLE)
    lab.other = entered_agent(lab, "Team B", 0.25, LAST, league=[(lab.best, 1, 1)])
    with lab.database.writing() as session:
        lab.tokens["instructor"] = add_staff(session, "Ada", "ada@example.org", "instructor")
        assert session.query(Agent).count() == 3
    return lab


def standings(lab, team=None):
    headers = bearer(lab.tokens[team]) if team else {}
    rows = lab.client.get("/api/agents/rows/standings", headers=headers).json()
    return {row["team"]: (row["rank"], row["score"], row["league"]) for row in rows}


def graded(lab):
    """Points of both teams after all grades are settled."""
    course(lab.data, "grades")
    with lab.database.reading() as session:
        return {one.team.name: one.points for one in lines(session) if one.assignment.name == "rows"}


def decide(lab, ruling, number):
    with lab.database.writing() as session:
        rule(session, lab.data, "Ada", "agents", number, ruling, "The file of others")


def test_a_withdrawn_agent_does_not_count_and_the_next_best_does(agents):
    assert standings(agents) == {"Team A": (1, 0.75, 0.5), "Team B": (2, 0.25, 0.5)}
    assert graded(agents) == {"Team A": 40 * 0.75 + 10 * 0.5, "Team B": 40 * 0.25 + 10 * 0.5}
    decide(agents, "withdrawn", agents.best)
    assert standings(agents) == standings(agents, "Team A") == {"Team A": (1, 0.5, None), "Team B": (2, 0.25, None)}
    assert graded(agents)["Team A"] == 0  # the formula needs the share of the head-to-head, which is not played yet
    with agents.database.writing() as session:
        session.add(AgentMatch(first_id=agents.next, second_id=agents.other, wins=0, draws=2, losses=0))
    assert graded(agents) == {"Team A": 40 * 0.5 + 10 * 0.5, "Team B": 40 * 0.25 + 10 * 0.5}
    page = browser(agents, "Team A").get(f"/agents/rows/{agents.best}").text
    assert "The instructors have withdrawn it; it does not count. The file of others" in page
    assert "withdrawn" in browser(agents, "Team A").get("/agents/rows").text
    decide(agents, "none", agents.best)
    assert standings(agents)["Team A"] == (1, 0.75, 0.5) and graded(agents)["Team A"] == 35


@pytest.mark.slow
def test_a_hidden_agent_counts_and_others_see_the_next_best(agents, tmp_path):
    agents.baseline()
    before = graded(agents)
    decide(agents, "hidden", agents.best)
    assert graded(agents) == before
    seen = {"Team A": (1, 0.5, None), "Team B": (2, 0.25, None)}
    assert standings(agents) == standings(agents, "Team B") == seen
    assert standings(agents, "Team A")["Team A"] == (1, 0.75, 0.5)
    page = browser(agents, "instructor").get("/agents/rows").text
    assert ">75.0" in page
    # What others see instead plays, too; grades do not wait for it.
    first, _, is_last = worker_of(agents)._next_match()
    assert [one.id for one in first] == [agents.next, agents.other] and not is_last
    with agents.database.reading() as session:
        publish(session, agents.course.settings, agents.data, tmp_path / "public")
    (row, _) = json.loads((tmp_path / "public" / "agents-rows.json").read_text())
    assert row["score"] == 0.5


def test_a_disqualified_team_leaves_the_standings_of_agents(agents):
    assert set(standings(agents)) == {"Team A", "Team B"}
    told = json.loads(course(agents.data, "disqualify", "Team A", "rows", "--reason", "Code of others", "--json"))
    assert {"team": "Team A", "assignment": "rows", "points": 0.0} in told["grades"]
    assert standings(agents) == standings(agents, "Team A") == {"Team B": (1, 0.25, None)}
    assert "Team A" not in browser(agents, "nobody").get("/agents/rows").text
    assert worker_of(agents)._next_match() is None  # nobody is left to play against
    assert "Code of others" in browser(agents, "Team A").get("/course").text
    course(agents.data, "disqualify", "Team A", "rows", "--reason", "A mistake", "--undo")
    assert standings(agents) == {"Team A": (1, 0.75, 0.5), "Team B": (2, 0.25, 0.5)}
    with agents.database.reading() as session:
        assert [one.what for one in session.query(LogLine).order_by(LogLine.id)][-2:] == ["disqualify", "reinstate"]


@pytest.mark.slow
def test_an_agent_is_judged_again_and_its_grade_changes_with_a_line_in_the_log(agents):
    """The scores of the fixture are wrong, so that judging again changes them."""
    before = graded(agents)
    told = json.loads(course(agents.data, "rejudge", agents.best, "--kind", "agents", "--json"))
    assert told == {"queued": [agents.best], "kind": "agents", "dry_run": False}
    with agents.database.reading() as session:
        row = session.get(Agent, agents.best)
        assert (row.status, row.score, row.results) == ("Queued", None, []) and not session.query(AgentMatch).count()
        line_of_log = session.query(LogLine).filter_by(what="rejudge").one()
        assert (line_of_log.by, line_of_log.facts) == ("console", {"agents": [agents.best]})
    work = worker_of(agents)
    while work.step():
        pass
    with agents.database.reading() as session:
        row = session.get(Agent, agents.best)
        (won,) = row.results
        right = (won["wins"] + won["draws"] / 2) / 2
        assert row.score == right and session.query(AgentMatch).count() == 1
        team = team_number(agents, "Team A")
        because = [one.because for one in session.query(GradeRow).filter_by(team_id=team).order_by(GradeRow.id)]
    assert because[0] == "grades exported" and f"verdict on agent {agents.best}" in because[1:]
    assert right != 0.75 and graded(agents)["Team A"] != before["Team A"]
    assert f"{agents.best}" in course(agents.data, "log")


@pytest.mark.slow
def test_a_dry_run_tells_what_would_change_by_command_and_at_the_desk(agents):
    before, client = graded(agents), browser(agents, "instructor")
    told = json.loads(course(agents.data, "rejudge", "--all", "--kind", "agents", "--dry-run", "--json"))
    assert [one["submission"] for one in told["verdicts"]] == [agents.best, agents.next, agents.other]
    after = {one["submission"]: one["after"] for one in told["verdicts"]}
    assert told["verdicts"][0]["before"] == "accepted, 75 %" != after[agents.best]
    assert any("Team A, rows: 35 → " in one for one in told["grades"])

    fields = {f"agents-{agents.best}": "1", f"agents-{agents.other}": "1"}
    address = post(client, "rejudge", dry_run="yes", **fields).headers["location"]
    assert "0 of 2 judged" in client.get(address).text
    work, steps = worker_of(agents), 0
    while not work.judge_next() and work._rehearse():
        steps += 1
    assert steps == 3
    page = client.get(address).text
    assert (
        f'<a href="/agents/rows/{agents.best}">Agent {agents.best}</a>: accepted, 75 % → {after[agents.best]}' in page
    )
    assert "Team A, rows: 35 → " in page and "; done" in page
    assert graded(agents) == before and standings(agents)["Team A"] == (1, 0.75, 0.5)
    listed = course(agents.data, "rejudgements", 1)
    assert "dry run of agents by ada@example.org: 2 of 2" in listed and f"~ agent {agents.best}: accepted" in listed


@pytest.mark.slow
def test_what_is_judged_again_waits_for_all_that_has_no_verdict(agents):
    agents.team("Team C")
    with agents.database.writing() as session:
        assert begin_again(session, [agents.other, agents.best], "Ada", "agents") == [agents.best, agents.other]
    new = post_agent(agents, "Team C", FIRST).json()["number"]
    with agents.database.reading() as session:
        assert [one.id for one in line(session)] == [new, agents.other, agents.best]
    page = browser(agents, "Team A").get(f"/agents/rows/{agents.best}").text
    assert "It waits, with 2 before it" in page
    with agents.database.writing() as session, pytest.raises(CourseError, match=f"Agent {agents.best} has no verdict"):
        begin_again(session, [agents.best], "Ada", "agents")
    with agents.database.writing() as session, pytest.raises(CourseError, match="There is no agent 99"):
        begin_again(session, [99], "Ada", "agents")
    assert "Only strategies and agents are judged again, not bots" in course(
        agents.data, "rejudge", "--all", "--kind", "bots", code=1
    )


@pytest.mark.slow
def test_a_match_of_an_agent_that_is_judged_again_meanwhile_is_not_kept(agents):
    work, counts = worker_of(agents), {"wins": 2, "draws": 0, "losses": 0, "forfeits": 0}
    assert work._keep_match(agents.next, agents.other, counts)
    with agents.database.writing() as session:
        begin_again(session, [agents.next], "Ada", "agents")
    assert not work._keep_match(agents.next, agents.other, counts)
    with agents.database.reading() as session:
        assert [(one.first_id, one.second_id) for one in session.query(AgentMatch)] == [(agents.best, agents.other)]


@pytest.mark.slow
def test_rulings_and_judging_again_at_the_desk(agents):
    client = browser(agents, "instructor")
    page = client.get("/course/desk/submissions?kind=agents").text
    assert "3 found" in page and "75.0\xa0%" in page and f'name="agents-{agents.best}"' in page
    assert f'href="/agents/rows/{agents.best}"' in page and f'href="/agents/rows/{agents.best}/file"' in page
    ruling = {"kind": "agents", "submission": str(agents.best), "ruling": "hidden", "reason": "Being looked at"}
    assert post(client, "rule", **ruling).status_code == 303
    assert standings(agents)["Team A"] == (1, 0.5, None)
    assert f"agents {agents.best}" in client.get("/course/desk/submissions?state=ruled&kind=agents").text
    assert post(client, "rule", **{**ruling, "submission": "99"}).status_code == 400
    address = post(client, "rejudge", which="all", kind="agents", search="team b", dry_run="no").headers["location"]
    assert address == "/course/desk/rejudgements/1" and "0 of 1 judged" in client.get(address).text
    with agents.database.reading() as session:
        assert session.get(Agent, agents.other).status == "Queued"


@pytest.mark.slow
def test_the_zip_of_an_assignment_has_the_agents(agents, tmp_path):
    answer = browser(agents, "instructor").get("/course/desk/assignments/rows/submissions.zip")
    course(agents.data, "grades")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    folder = f"{team_number(agents, 'Team A'):03}-Team_A"
    assert found[f"{folder}/agent-{agents.best}-mine.py"] == FIRST and len(found) == 4
    rows = list(csv.DictReader(io.StringIO(found["submissions.csv"].decode())))
    assert [row["team"] for row in rows] == ["Team A", "Team A", "Team B"]
    told = json.loads(course(agents.data, "download", "ultimate", "-o", tmp_path / "u.zip", "--json"))
    assert told["submissions"] == 0  # the other assignment has its own files
    assert COURSE.count("kind: agents") == 2


def test_a_ruling_on_an_agent_that_is_not_there(agents):
    with agents.database.writing() as session:
        for number, ruling, words in ((99, "hidden", "no agent 99"), (agents.best, "burnt", "no ruling 'burnt'")):
            with pytest.raises(CourseError, match=words):
                rule(session, agents.data, "Ada", "agents", number, ruling, "x")
        with pytest.raises(CourseError, match="A reason is missing"):
            disqualify(session, agents.data, "Ada", "Team A", "rows", " ")
