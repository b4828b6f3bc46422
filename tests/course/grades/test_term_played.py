"""A term in small, from the first command to the published pages: four assignments of four kinds, ten teams.

Teams use the addresses of programs, instructors the commands.  The clock is moved from deadline to deadline; what the
grades must be is computed here, from the verdicts of the course's own interface and the dates, not from its rules.
"""

import csv
import io
import json
import time
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.models import Submission
from pttt_ooc.course.data.queue import GAVE_UP
from pttt_ooc.other_games.extreme.tournament_record import Record
from tests.course.agents_kit import FIRST, LAST, worker_of
from tests.course.league_kit import GOOD, LeagueCourse
from tests.course.server_kit import bearer, pttt, strategy_zip
from tests.course.term_kit import DAY, HOUR

ZONE = ZoneInfo("Europe/Rome")
TEAMS = [f"Team {letter}" for letter in "ABCDEFGHIJ"]
LAST_SUNDAY = datetime(2027, 3, 27, 23, 55, tzinfo=ZONE).timestamp()  # late day 1 has 23 hours: the clock changes
COURSE = """
timezone: Europe/Rome
late_days: 1
assignments:
- name: strategies
  title: Phantom Tic-Tac-Toe
  kind: strategies
  opens: 2027-03-15 09:00
  due: 2027-03-27 23:55
  closes: 2027-03-29 23:55
  frozen: 2027-03-27 12:00
  unveiled: 2027-03-30 12:00
  late: {percent: 10, days: 1}
  rule: {kind: baseline, figure: player0, points: 100, target: 0}
- name: extreme
  kind: bots
  due: 2027-03-20 12:00
  rule: {kind: formula, formula: marks, points: 50}
  rubric:
  - {name: heuristic, points: 10}
  - {name: search, points: 20}
  - {name: analysis, points: 10}
  - {name: viva, points: 10}
- name: rows
  title: Three in a row
  kind: agents
  due: 2027-03-22 12:00
  closes: 2027-03-23 12:00
  late: {percent: 50}
  rule: {kind: formula, formula: "40 * score + 10 * league", points: 50}
  settings: {game: "mnk:3x3+need3", opponents: [random], games: 4, league: 2, opening: 1}
- {name: report, kind: report, due: 2027-04-02 18:00, rubric: [{name: text, points: 30}]}
"""


class Clock:
    """The time, as the course sees it: it runs, and is put forward."""

    def __init__(self, monkeypatch):
        self._real, self._offset = time.time, 0.0
        monkeypatch.setattr(time, "time", lambda: self._real() + self._offset)

    def put(self, at):
        assert at >= time.time()
        self._offset = at - self._real()


class Term:
    """The course and those who take part."""

    def __init__(self, directory, monkeypatch):
        self.clock = Clock(monkeypatch)
        self.clock.put(datetime(2027, 3, 1, tzinfo=ZONE).timestamp())
        self.course = LeagueCourse(directory / "course")
        self.lab, self.data, self.directory = self.course.lab, self.course.lab.data, directory
        self.lab.baseline()

    def command(self, *arguments, code=0):
        done = pttt("course", *arguments, "--data", self.data)
        assert done.returncode == code, done
        return done.stdout or done.stderr

    def upload(self, team, seed, sharpness=1.0, status=201):
        answer = self.lab.post(self.tokens[team], 0, strategy_zip(0, seed, sharpness))
        assert answer.status_code == status, answer.text
        self.lab.run()
        return answer.json()["submission"]["id"] if status == 201 else answer.json()["error"]

    def figure(self, number, team):
        found = self.lab.client.get(f"/api/submissions/{number}", headers=bearer(self.tokens[team])).json()
        return found["exploitability"]

    def grades(self, assignment):
        table = csv.DictReader(io.StringIO(self.command("grades", "--assignment", assignment)))
        return {row["team"]: float(row["points"]) if row["points"] else None for row in table}


@pytest.fixture
def term(tmp_path, monkeypatch):
    made = Term(tmp_path, monkeypatch)
    yield made
    made.course.close()


@pytest.mark.slow
def test_a_term_from_the_announcement_to_the_grades(term):
    lab, clock = term.lab, term.clock
    uniform = lab.client.get("/api/submissions/1").json()["exploitability"]

    def points(figure, share=1.0):
        return pytest.approx(round(100 * max(0.0, uniform - figure) / uniform * share, 2), abs=0.011)

    # The beginning: people, assignments, an announcement.
    term.command("init", "--name", "Ada", "--email", "ada@example.org")
    (term.directory / "course.yaml").write_text(COURSE)
    term.command("apply", term.directory / "course.yaml")
    roster = "".join(f"{team},Student {team[-1]},{team[-1]}@example.org,{n}\n" for n, team in enumerate(TEAMS))
    (term.directory / "roster.csv").write_text("team,name,email,number\n" + roster)
    term.command("teams", term.directory / "roster.csv", "--tokens", term.directory / "tokens.csv")
    tokens = dict(csv.reader((term.directory / "tokens.csv").read_text().splitlines()[1:]))
    assert sorted(tokens) == TEAMS[2:]  # the first two were there before
    term.tokens = lab.tokens | tokens
    term.command("announce", "Welcome", "--text", "The first deadline is on 20 March.")
    assert "Uploads of strategies begin at Mon 15 Mar 2027 09:00 CET" in term.upload("Team A", 1, status=409)

    # Bots, and the tournament.
    clock.put(datetime(2027, 3, 18, tzinfo=ZONE).timestamp())
    for team, bot in [("Team A", GOOD), ("Team B", GOOD.replace(b"[0]", b"[-1]"))]:
        assert term.course.hand_in(team, bot)["status"] == "Accepted"
    clock.put(datetime(2027, 3, 20, 12, 1, tzinfo=ZONE).timestamp())
    late = lab_post_bot(term, "Team A", GOOD + b"# better")
    assert late.status_code == 409 and "had to begin by Sat 20 Mar 2027 12:00 CET" in late.json()["error"]
    term.course.worker.play()
    record = Record(term.course.league.tournament)
    marks = {record.teams[k].name: m["total"] for k, m in record.marks(record.state().tables).items()}
    term.command("mark", "Team A", "extreme", "search", 17.5, "--comment", "Alpha-beta.")
    term.command("adjust", "Team B", "extreme", "--points=-3", "--reason", "Late for the viva")
    found = term.grades("extreme")
    assert found["Team A"] == pytest.approx(marks["Team A"] + 17.5) and max(marks.values()) == 10
    assert found["Team B"] == pytest.approx(max(0, marks["Team B"] - 3)) and found["Team C"] is None

    # Agents, one of them late; a verdict that was the server's fault is made again; a team is disqualified.
    clock.put(datetime(2027, 3, 22, 11, tzinfo=ZONE).timestamp())
    agents = {"Team A": hand_in_agent(term, "Team A", FIRST), "Team B": hand_in_agent(term, "Team B", LAST)}
    clock.put(datetime(2027, 3, 22, 13, tzinfo=ZONE).timestamp())
    agents["Team C"] = hand_in_agent(term, "Team C", FIRST + b"# the same play")
    assert agents["Team C"]["score"] == agents["Team A"]["score"] == share(agents["Team A"]["results"])
    worker = worker_of(lab)
    while worker.play_next():
        pass

    def points_of_agent(team, factor=1.0):
        table = lab.client.get("/api/agents/rows/standings").json()
        row = next(row for row in table if row["team"] == team)
        return pytest.approx(round((40 * agents[team]["score"] + 10 * row["league"]) * factor, 2), abs=0.011)

    expected = {team: points_of_agent(team, 0.5 if team == "Team C" else 1.0) for team in agents}
    assert term.grades("rows") == {**dict.fromkeys(TEAMS), **expected}
    with lab.database.writing() as session:
        wrong = session.get(Agent, agents["Team B"]["number"])
        wrong.status, wrong.message, wrong.score = "Rejected", GAVE_UP, None
    assert term.grades("rows")["Team B"] is None
    assert f"could not judge agent {wrong.id}" in term.command("doctor", code=1)
    would = json.loads(term.command("rejudge", wrong.id, "--kind", "agents", "--dry-run", "--json"))
    assert would["verdicts"][0]["after"] == f"accepted, {100 * agents['Team B']['score']:g} %"
    assert f"~ Team B, rows: – → {expected['Team B'].expected:g} points" in would["grades"]
    term.command("rejudge", wrong.id, "--kind", "agents")
    while worker.step():
        pass
    assert term.grades("rows") == {**dict.fromkeys(TEAMS), **expected}
    term.command("disqualify", "Team C", "rows", "--reason", "The file of Team A")
    assert [row["team"] for row in lab.client.get("/api/agents/rows/standings").json()] == sorted(
        ("Team A", "Team B"), key=lambda team: -agents[team]["score"]
    )
    found = term.grades("rows")
    left = {team: points_of_agent(team) for team in ("Team A", "Team B")}
    assert found == {**dict.fromkeys(TEAMS), **left, "Team C": 0}

    # Strategies in time, before the freeze.
    clock.put(datetime(2027, 3, 25, tzinfo=ZONE).timestamp())
    first = {team: term.upload(team, seed, 0.3) for seed, team in enumerate(TEAMS[:8], 10)}
    in_time = {team: term.figure(number, team) for team, number in first.items()}
    board = lab.client.get("/api/leaderboard").json()

    # The freeze: improvements are hidden from others, and count.
    clock.put(LAST_SUNDAY - HOUR)
    improved = term.upload("Team A", 58)
    assert lab.client.get("/api/leaderboard").json() == board
    assert term.figure(improved, "Team A") < in_time["Team A"]
    assert "are frozen" in term.command("publish", term.directory / "public", code=1)

    # Late days: the first has 23 hours, and is free for everybody; Team C needs two.
    term.command("extend", "Team D", "strategies", "2027-03-31 23:55", "--reason", "ill")
    clock.put(LAST_SUNDAY + 22.9 * HOUR)
    on_day_1 = term.upload("Team B", 16)
    clock.put(LAST_SUNDAY + 23.1 * HOUR)
    on_day_2 = term.upload("Team C", 19)
    clock.put(LAST_SUNDAY + 2 * DAY)  # 47 hours are two late days
    assert "this one is too late" in term.upload("Team E", 41, status=409)
    extended = term.upload("Team D", 64)
    clock.put(datetime(2027, 3, 30, 12, 1, tzinfo=ZONE).timestamp())
    row = {row["team"]: row for row in lab.client.get("/api/leaderboard").json()}
    assert row["Team A"]["submissions"][0] == improved and row["Team D"]["submissions"][0] == extended
    found = term.grades("strategies")
    expected = {team: points(figure) for team, figure in in_time.items()}
    expected |= {"Team A": points(term.figure(improved, "Team A")), "Team B": points(term.figure(on_day_1, "Team B"))}
    expected["Team D"] = points(term.figure(extended, "Team D"))
    late_c = points(term.figure(on_day_2, "Team C"), 0.9)
    expected["Team C"] = late_c if late_c.expected > expected["Team C"].expected else expected["Team C"]
    assert found == {**dict.fromkeys(TEAMS), **expected}
    assert late_c.expected > points(in_time["Team C"]).expected  # else the late day would not be seen

    # A verdict that was the server's fault is made again; its grade changes, with a trace.
    with lab.database.writing() as session:
        wrong = session.get(Submission, first["Team F"])
        wrong.status, wrong.note, wrong.best, wrong.exploitability = "Rejected", GAVE_UP, False, None
    assert term.grades("strategies")["Team F"] is None
    assert f"could not judge submission {first['Team F']}" in term.command("doctor", code=1)
    term.command("rejudge", first["Team F"])
    lab.run()
    assert term.grades("strategies")["Team F"] == expected["Team F"]
    history = json.loads(term.command("history", "Team F", "strategies", "--json"))
    assert [row["because"] for row in history] == [
        f"verdict on submission {first['Team F']}",
        "grades exported",
        f"verdict on submission {first['Team F']}",
    ]
    assert [row["points"] is None for row in history] == [False, True, False]

    # Reports, graded by hand.
    for team in TEAMS[:3]:
        files = {"seconds": (None, "5400"), "file": ("report.pdf", f"%PDF-1.7 {team}".encode())}
        answer = lab.client.post("/api/course/reports/report", headers=bearer(term.tokens[team]), files=files)
        assert answer.json()["status"] == "Accepted"
    clock.put(datetime(2027, 4, 2, 18, 1, tzinfo=ZONE).timestamp())
    assert "report is over, and 3 teams have no points yet" in term.command("doctor", code=1)
    for team in TEAMS[:3]:
        term.command("mark", team, "report", "text", 25, "--by", "Ada")
    assert "`pttt course release report`" in term.command("doctor", code=1)
    for name in ("strategies", "extreme", "rows", "report"):
        own = lab.client.get("/api/course/grades", headers=bearer(term.tokens["Team A"])).json()["assignments"]
        assert "points" not in next(one for one in own if one["name"] == name)["grade"]
        term.command("release", name)
    own = lab.client.get("/api/course/grades", headers=bearer(term.tokens["Team A"])).json()["assignments"]
    assert [one["grade"]["points"] for one in own] == [term.grades(one["name"])["Team A"] for one in own]

    # The end: grades for other programs, the published pages, the log.
    canvas = list(csv.reader(io.StringIO(term.command("grades", "--format", "canvas"))))
    assert len(canvas) == 2 + len(TEAMS) and canvas[0][5:] == [
        *("Phantom Tic-Tac-Toe", "extreme", "Three in a row", "report")
    ]
    mine = next(row for row in canvas if row[0] == "Student A")
    assert [float(cell) for cell in mine[5:]] == [own[n]["grade"]["points"] for n in range(4)]
    term.command("publish", term.directory / "public")
    term.command("publish", term.directory / "public")  # again
    page = (term.directory / "public" / "index.html").read_text()
    assert all(team in page for team in TEAMS) and "Student" not in page and "Alpha-beta" not in page
    assert "Welcome" in page and "http" not in page  # nothing is fetched from elsewhere
    assert json.loads((term.directory / "public" / "leaderboard.json").read_text()) == [
        {**row} for row in lab.client.get("/api/leaderboard").json()
    ]
    (term.directory / "other").mkdir()
    (term.directory / "other" / "thesis.tex").write_text("mine")
    assert "not a publication" in term.command("publish", term.directory / "other", code=1)
    done = [line["what"] for line in json.loads(term.command("log", "--json"))[::-1]]
    of_agents = ["rejudge", "disqualify"]
    marks_and_releases = ["mark"] * 3 + ["release"] * 4
    begun = ["staff", "apply", "teams", "announce", "mark", "adjust", *of_agents]
    assert done == [*begun, "extend", "rejudge", *marks_and_releases]


def hand_in_agent(term, team, content):
    """An agent's verdict."""
    files, headers = {"file": ("mine.py", content)}, bearer(term.tokens[team])
    number = term.lab.client.post("/api/agents/rows", headers=headers, files=files).json()["number"]
    worker = worker_of(term.lab)
    while worker.judge_next():
        pass
    found = term.lab.client.get(f"/api/agents/rows/{number}", headers=headers).json()
    assert found["status"] == "Accepted"
    return found


def share(results):
    """The share of the points in games."""
    points = sum(one["wins"] + one["draws"] / 2 for one in results)
    return points / sum(one["wins"] + one["draws"] + one["losses"] for one in results)


def lab_post_bot(term, team, bot):
    return term.course.browser().post(
        "/api/extreme/bots", headers=bearer(term.tokens[team]), files={"file": ("team7.py", bot)}
    )
