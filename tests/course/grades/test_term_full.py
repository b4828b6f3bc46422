"""A term at full size: sixty teams, three assignments, fourteen weeks; ``make test PYTEST="-m full -s"`` on this file.

In small, with four teams, it runs with ``-m long``.  The clock goes through all dates.  What the grades have to be is
computed here, from the exploitabilities that the package gives for the files and from the dates on paper.
"""

import csv
import io
import json
import random
import time
from collections import defaultdict
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from benchmarks.course_load import Files
from pttt_ooc.course.grades.gradebook import settle
from pttt_ooc.other_games.extreme.tournament_record import Record
from tests.course.grades.test_term_played import Clock
from tests.course.league_kit import GOOD, LeagueCourse
from tests.course.server_kit import bearer, pttt

ZONE = ZoneInfo("Europe/Rome")
BEGIN = datetime(2027, 2, 15, 9, tzinfo=ZONE)
DUE = datetime(2027, 5, 20, 23, 55, tzinfo=ZONE)
BOTS_DUE, REPORTS_DUE = DUE - timedelta(days=30), DUE + timedelta(days=10)
COURSE = f"""
timezone: Europe/Rome
late_days: 2
assignments:
- name: strategies
  kind: strategies
  opens: {BEGIN:%Y-%m-%d %H:%M}
  due: {DUE:%Y-%m-%d %H:%M}
  closes: {DUE + timedelta(days=4):%Y-%m-%d %H:%M}
  frozen: {DUE - timedelta(days=3):%Y-%m-%d %H:%M}
  unveiled: {DUE + timedelta(days=5):%Y-%m-%d %H:%M}
  late: {{percent: 10, days: 1}}
  rule: {{kind: formula, formula: "100 * clip(1 - sum / 2, 0, 1)", points: 100}}
- name: extreme
  kind: bots
  due: {BOTS_DUE:%Y-%m-%d %H:%M}
  rule: {{kind: formula, formula: marks, points: 50}}
- {{name: report, kind: report, due: {REPORTS_DUE:%Y-%m-%d %H:%M}, rubric: [{{name: text, points: 30}}]}}
"""


class Times:
    """Seconds spent, by what was done."""

    def __init__(self):
        self.found = defaultdict(list)

    def measured(self, what, work, *arguments):
        begun = time.perf_counter()
        done = work(*arguments)
        self.found[what].append(time.perf_counter() - begun)
        return done

    def figures(self):
        """For each kind: how many, the sum, and the longest, in seconds."""
        return {
            what: {"count": len(spent), "seconds": round(sum(spent), 1), "longest": round(max(spent), 2)}
            for what, spent in self.found.items()
        }


class Played:
    """A term that is played, and what is known of it without the course."""

    def __init__(self, directory, monkeypatch, teams, bots, uploads, pools):
        self.clock, self.times, self.draw = Clock(monkeypatch), Times(), random.Random(1)
        self.clock.put((BEGIN - timedelta(days=10)).timestamp())
        stages = {"pools": pools, "qualify": (1,) * len(pools), "marks": (30, 10, 10)[-len(pools) :]}
        self.course = LeagueCourse(directory / "course", **stages)
        self.lab, self.data, self.directory = self.course.lab, self.course.lab.data, directory
        self.lab.baseline()
        self.names = ["Team A", "Team B", *(f"Team {n:02}" for n in range(teams - 2))]
        self.bots, self.uploads, self.files = bots, uploads, Files()
        self.handed_in = defaultdict(list)  # of each team: (seconds of the clock, player, figure)

    def command(self, *arguments, code=0):
        done = self.times.measured(f"course {arguments[0]}", pttt, "course", *arguments, "--data", self.data)
        assert done.returncode == code, done
        return done.stdout or done.stderr

    def begin(self):
        self.command("init", "--name", "Ada", "--email", "ada@example.org")
        (self.directory / "course.yaml").write_text(COURSE)
        self.command("apply", self.directory / "course.yaml")
        students = [
            f"{team},Student {n}{half},s{n}{half}@example.org" for n, team in enumerate(self.names) for half in "ab"
        ]
        (self.directory / "roster.csv").write_text("\n".join(["team,name,email", *students]) + "\n")
        tokens = self.directory / "tokens.csv"
        self.command("teams", self.directory / "roster.csv", "--tokens", tokens)
        rows = list(csv.DictReader(io.StringIO(tokens.read_text())))
        self.tokens = self.lab.tokens | {row["team"]: row["token"] for row in rows}
        assert sorted(self.tokens) == sorted(self.names)

    def hand_in_bots(self):
        self.clock.put((BOTS_DUE - timedelta(hours=5)).timestamp())
        for n, team in enumerate(self.names[: self.bots]):
            bot = GOOD.replace(b"[0]", b"[%d %% len(board.find_valid_move_cells(old_move))]" % n)
            headers, files = bearer(self.tokens[team]), {"file": ("team7.py", bot)}
            answer = self.course.browser().post("/api/extreme/bots", headers=headers, files=files)
            assert answer.status_code == 201, answer.text
            self.times.measured("check of a bot", self.course.worker.check_next)
        assert len(self.course.bots.list_accepted()) == self.bots
        self.clock.put((BOTS_DUE + timedelta(minutes=1)).timestamp())
        self.times.measured("tournament", self.course.worker.play)
        record = Record(self.course.league.tournament)
        self.marks = {record.teams[k].name: m["total"] for k, m in record.marks(record.state().tables).items()}

    def plan(self):
        """When which team submits what: most in the last days, some late."""
        for n, team in enumerate(self.names):
            for number in range(self.uploads):
                early = (DUE - BEGIN) * (1 - self.draw.betavariate(1, 4))
                at = DUE - (DUE - BEGIN - early) if number else DUE + timedelta(hours=self.draw.uniform(-30, 90))
                yield max(at, BEGIN + timedelta(minutes=n)), team, n * self.uploads + number

    def submit_strategies(self):
        for at, team, number in sorted(self.plan()):
            self.clock.put(max(at.timestamp(), time.time() + 1))
            player, content, figure = self.files.make(number + 100)
            answer = self.times.measured("upload", self.lab.post, self.tokens[team], player, content)
            assert answer.status_code == 201, answer.text
            self.times.measured("verdict with grades", self.lab.run)
            if not isinstance(figure, str):
                self.handed_in[team].append((time.time(), player, figure))

    def expected(self, team):
        """Points for strategies: for each number of late days the best pair by then, and the best of these choices."""
        found, days = [], [(_days_late(at), player, figure) for at, player, figure in self.handed_in[team]]
        for most in sorted({day for day, *_ in days}):
            best = {}
            for day, player, figure in days:
                if day <= most and (player not in best or figure < best[player][1]):
                    best[player] = (day, figure)
            share = 1 - 0.1 * max(0, max(day for day, _ in best.values()) - 1)  # one of the two free days counts here
            both = sum(max(0.0, figure) for _, figure in best.values()) if len(best) == 2 else 2.0
            found.append(100 * max(0.0, 1 - both / 2) * share)
        return round(max(found), 2) if found else None

    def grades(self, assignment):
        table = csv.DictReader(io.StringIO(self.command("grades", "--assignment", assignment)))
        return {row["team"]: float(row["points"]) if row["points"] else None for row in table}


def _days_late(at):
    """Late days that have begun: each ends at 23:55 in Rome."""
    day = DUE
    count = 0
    while at > day.timestamp():
        day, count = day + timedelta(days=1), count + 1
    return count


def play(term):
    """From the announcement to the published pages; returns the times."""
    lab, names = term.lab, term.names
    term.begin()
    term.hand_in_bots()
    term.submit_strategies()
    term.clock.put((DUE + timedelta(days=6)).timestamp())
    found, expected = term.grades("strategies"), {team: term.expected(team) for team in names}
    assert found.keys() == expected.keys()
    for team, points in expected.items():
        assert found[team] == pytest.approx(points, abs=0.011), team
    assert len(set(found.values())) > 3
    assert {team: points for team, points in term.grades("extreme").items() if points is not None} == pytest.approx(
        {team: term.marks[team] for team in names[: term.bots]}
    )
    for n, team in enumerate(names):
        files = {"file": ("report.pdf", f"%PDF-1.7 {team}".encode())}
        answer = lab.client.post("/api/course/reports/report", headers=bearer(term.tokens[team]), files=files)
        assert answer.json()["status"] == "Accepted"
        term.command("mark", team, "report", "text", n % 31)
    assert term.grades("report") == {team: n % 31 for n, team in enumerate(names)}
    for name in ("strategies", "extreme", "report"):
        term.command("release", name)
    copied = json.loads(term.command("backup", term.directory / "copy.tar", "--json"))
    restored = pttt("course", "restore", term.directory / "copy.tar", "--json", "--data", term.directory / "again")
    assert json.loads(restored.stdout)["digest"] == copied["digest"] and copied["submissions"] > len(names)
    term.command("publish", term.directory / "public")
    canvas = list(csv.reader(io.StringIO(term.command("grades", "--format", "canvas"))))
    assert len(canvas) == 2 + 2 * len(names)
    for path in ("/", "/matrix", "/course", "/submissions"):
        assert term.times.measured("page", lab.client.get, path).status_code == 200
    with lab.database.writing() as session:
        assert term.times.measured("settling all grades", settle, session, term.data, "nothing") == []
    return term.times.figures()


@pytest.mark.long
def test_a_term_in_small(tmp_path, monkeypatch):
    term = Played(tmp_path, monkeypatch, teams=4, bots=2, uploads=4, pools=(1,))
    try:
        play(term)
    finally:
        term.course.close()


@pytest.mark.full
def test_a_term_of_sixty_teams(tmp_path, monkeypatch, capsys):
    term = Played(tmp_path, monkeypatch, teams=60, bots=60, uploads=10, pools=(20, 5, 1))
    try:
        figures = play(term)
    finally:
        term.course.close()
    with capsys.disabled():
        print(json.dumps(figures, indent=2))
