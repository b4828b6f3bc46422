"""Kills in a course at work: ``python -m tests.faults.course`` lets 60 teams submit for ten minutes, while every
process of the server is killed at random again and again, the first one included, and commands of an instructor, too.
Teams submit strategies, agents and bots, and the bots' tournament begins on the way.

Nothing may be lost, no submission may get two verdicts, and every change of a grade must have a row with its cause.
What verdicts, standings and grades have to be is computed here, from the files that were sent and the decisions that
were confirmed.
"""

from __future__ import annotations

import argparse
import csv
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path

from sqlalchemy import select

from benchmarks.course_load import GAME, VALUE, Course, Files, is_right, wait_until
from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.models import ACCEPTED, BASELINE, REJECTED, Submission, Team
from pttt_ooc.course.data.settings import CourseSettings, settings_text
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.course.data.term_tables import Adjustment, Assignment, GradeRow, LogLine
from pttt_ooc.course.grades.checkup import damaged_files, problems, unsettled_grades
from pttt_ooc.errors import PtttError
from tests.faults import course_kinds as kinds

POINTS = 50.0
COURSE = f"""
assignments:
- name: strategies
  kind: strategies
  rule: {{kind: baseline, figure: sum, points: {POINTS}, target: 0}}
"""
PATIENCE = 900.0  # seconds without any progress
_CAUSES = re.compile(
    r"verdict on (submission|agent) \d+|adjust, by console|start of the worker|course\.yaml applied|"
    r"head-to-head played|grades exported"
)


class Server(Course):
    """`pttt course serve` of a course, which is started again when its first process was killed."""

    def __init__(self, data, teams, database_url=None):
        self.data, self.log, self.database_url = data / "course", data / "log.jsonl", database_url
        self.data.mkdir()
        limits = {"submissions_per_hour": 100_000, "waiting_per_team": 1_000}
        settings = CourseSettings(game=GAME, game_value=VALUE, database_url=database_url, **limits)
        (self.data / "settings.yaml").write_text(settings_text(settings))
        (data / "course.yaml").write_text(COURSE + kinds.assignments())
        roster = ["team,name,email", *(f"Team {n:03},Student {n},s{n}@example.org" for n in range(teams))]
        (data / "roster.csv").write_text("\n".join(roster) + "\n")
        self.command("init", "--name", "Ada", "--email", "ada@example.org")
        kinds.open_cup(self.data)
        if not self.command("apply", data / "course.yaml"):
            raise RuntimeError("course.yaml is refused")
        self.command("teams", data / "roster.csv", "--tokens", data / "tokens.csv")
        with open(data / "tokens.csv", encoding="utf-8") as file:
            self.tokens = dict(list(csv.reader(file))[1:])
        self.port, self.starts, self.lock = 0, 0, threading.Lock()
        self.start()
        wait_until(self.is_ready)

    def command(self, *arguments, timeout=None):
        """Run `pttt course ...`; returns whether it succeeded before it was killed at the time-out."""
        command = [sys.executable, "-m", "pttt_ooc.cli", "course", *map(str, arguments), "--data", str(self.data)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(command, **quiet)
        try:
            return process.wait(timeout) == 0
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return False

    def start(self):
        """Start it, on the port that it had; what is left of a killed one may hold its locks for a moment."""
        end = time.monotonic() + PATIENCE
        while True:
            command = [sys.executable, "-m", "pttt_ooc.cli", "course", "serve", "--data", str(self.data)]
            with open(self.log, "ab") as log:
                command += ["--port", str(self.port)]
                self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
            if found := re.search(r":(\d+);", self.process.stdout.readline()):
                self.port = int(found[1])
                self.starts += 1
                return
            self.process.wait()
            self.process.stdout.close()
            if time.monotonic() > end:
                raise TimeoutError("the server does not start again")
            time.sleep(0.5)

    def children(self):
        """The latest process of each name that is alive, from the log."""
        found = {}
        for line in self.log.read_text().splitlines():
            if '"started"' in line:
                with suppress(ValueError, KeyError):
                    told = json.loads(line)
                    found[told["child"]] = told["pid"]
        return {name: pid for name, pid in found.items() if _is_ours(pid)}

    def kill(self, name):
        """SIGKILL for a child, or for the first process, ``serve``, which is started again; False if it is gone."""
        with self.lock:
            if name == "serve":
                self.process.kill()
                self.process.wait()
                self.process.stdout.close()
                self.start()
                return True
            pid = self.children().get(name)
            if pid is None:
                return False
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            return True


def _is_ours(pid):
    """Whether a process is one of the package's, and not another one that has got its number."""
    with suppress(OSError):
        return b"pttt_ooc" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


class Student(threading.Thread):
    """A team that submits; what dies on the way is sent again, as a person would."""

    address = "/api/submissions"

    def __init__(self, port, token, made, pause, over):
        super().__init__(daemon=True)
        self.port, self.token, self.made, self.pause, self.over = port, token, made, pause, over
        self.confirmed, self.refused, self.broken, self.error = [], Counter(), 0, None

    def run(self):
        try:
            for player, content, expected in self.made:
                if self.over.wait(random.uniform(0, 2 * self.pause)):
                    return
                self.confirmed.append((self._send(player, content), player, content, expected))
        except Exception as error:
            self.error = repr(error)

    def _send(self, player, content):
        return self._post(f'name="player"\r\n\r\n{player}\r\n--b\r\nContent-Disposition: form-data; ', content)

    def _post(self, fields, content):
        """The number of what is handed in; None if its assignment has ended."""
        head = f'--b\r\nContent-Disposition: form-data; {fields}name="file"; filename="mine.py"\r\n\r\n'
        body = head.encode() + content + b"\r\n--b--\r\n"
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "multipart/form-data; boundary=b"}
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            try:
                connection.request("POST", self.address, body, headers)
                answer = connection.getresponse()
                told = json.loads(answer.read())
                if answer.status in (200, 201):
                    return told["submission"]["id"] if "submission" in told else told["number"]
                if answer.status == 409:
                    return None
                self.refused[f"{answer.status}: {told.get('error', '')[:60]}"] += 1
            except (OSError, http.client.HTTPException, ValueError):
                self.broken += 1
            finally:
                connection.close()
            time.sleep(0.3)
        raise TimeoutError("an upload is never confirmed")


class Programmer(Student):
    """A team that submits agents or bots."""

    def __init__(self, port, token, kind, team, number, pause, over):
        super().__init__(port, token, kinds.programs(kind, number), pause, over)
        self.kind, self.team, self.address = kind, team, kinds.address(kind)

    def run(self):
        try:
            for which, content in self.made:
                if self.confirmed and self.over.wait(random.uniform(0, 2 * self.pause)):
                    return
                number = self._post("", content)
                if number is None:  # the tournament has begun
                    return
                self.confirmed.append((self.kind, number, self.team, which, content))
        except Exception as error:
            self.error = repr(error)


class Witness:
    """Looks all the time: verdicts, matches and rows of grades must never change or go away.

    Parameters
    ----------
    data
        The course's directory; None: only the database's strategies and grades are looked at.
    """

    def __init__(self, database, data=None):
        self.database, self.data = database, data
        self.verdicts, self.grades, self.violations, self.looks = {}, {}, [], 0
        self.others = defaultdict(dict)

    def look(self):
        """Compare what is there with what was there."""
        with self.database.reading() as session:
            rows = session.execute(
                select(Submission.id, Submission.status, Submission.note, Submission.exploitability).order_by(
                    Submission.id
                )
            ).all()
            grades = session.execute(select(GradeRow.id, GradeRow.points, GradeRow.because)).all()
        self._compare(
            "verdict", self.verdicts, {n: tuple(rest) for n, *rest in rows if rest[0] in (ACCEPTED, REJECTED)}
        )
        self._compare("grade", self.grades, {n: tuple(rest) for n, *rest in grades})
        for what, now in kinds.final(self.database, self.data).items() if self.data else ():
            self._compare(what, self.others[what], now)
        self.looks += 1

    def _compare(self, what, before, now):
        self.violations += [f"{what} {n}: {one} became {now.get(n)}" for n, one in before.items() if now.get(n) != one]
        before.update(now)


def run(
    teams=60, seconds=600.0, pause=20.0, kill_every=5.0, decide_every=10.0, database_url=None, seed=None, disturb=None
):
    """Let teams submit while processes are killed; returns all that was found.

    Parameters
    ----------
    pause
        Seconds between two submissions of a team, on average.
    kill_every, decide_every
        Seconds between two kills, and between two commands of an instructor, of which every second one is killed too.
    disturb
        Further things that are done to the course in place of a kill: functions by name.
    """
    draw, files = random.Random(seed), Files()
    count = int(2 * seconds / pause) + 1
    with tempfile.TemporaryDirectory(prefix="course-faults-") as name:
        server = Server(Path(name), teams, database_url)
        database = Database.of(server.data, database_url, GAME)
        try:
            pauses = pause, kill_every, decide_every
            return _faults(server, database, files, count, seconds, pauses, draw, disturb or {})
        finally:
            database.close()
            server.stop()


def _faults(server, database, files, count, seconds, pauses, draw, disturb):
    pause, kill_every, decide_every = pauses
    over, load = threading.Event(), os.getloadavg()
    students = [
        Student(server.port, token, (files.make(n * count + i) for i in range(count)), pause, over)
        for n, token in enumerate(server.tokens.values())
    ]
    programmers = [
        Programmer(server.port, token, kind, team, n, 2 * pause, over)
        for kind, every in ((kinds.AGENTS, 5), (kinds.BOTS, 10))
        for n, (team, token) in enumerate(server.tokens.items())
        if n % every < 1 or n < 2
    ]
    witness, killed, decided, has_begun = Witness(database, server.data), Counter(), [], False
    deciding = threading.Thread(target=_decide, args=(server, decided, decide_every, over, draw), daemon=True)
    for thread in (*students, *programmers, deciding):
        thread.start()
    begun = time.monotonic()
    next_kill = draw.expovariate(1 / kill_every)
    while (now := time.monotonic() - begun) < seconds:
        if not has_begun and now >= seconds / 2 and kinds.has_players(server.data):
            has_begun = _begin_tournament(server, killed)
        if now >= next_kill:
            name = draw.choice(sorted({"serve", "web", "worker", *server.children(), *disturb}))
            killed[name] += disturb[name]() if name in disturb else server.kill(name)
            next_kill = time.monotonic() - begun + draw.expovariate(1 / kill_every)
        _look(witness)
        time.sleep(0.5)
    over.set()
    for thread in (*students, *programmers, deciding):
        thread.join()
    sent = time.monotonic() - begun
    if not has_begun:
        wait_until(lambda: kinds.has_players(server.data))
        _begin_tournament(server, killed)
    confirmed = [one for student in students for one in student.confirmed]
    handed_in = [one for programmer in programmers for one in programmer.confirmed]
    _until_judged(database, witness)
    server.command("grades", "-o", server.data.parent / "grades.csv")  # the marks of the tournament
    _look(witness)
    wrong = kinds.checked(database, Storage(server.data), handed_in)
    return {
        "load_before_and_after": [[round(x, 1) for x in one] for one in (load, os.getloadavg())],
        "seconds": round(sent, 1),
        "seconds_to_the_last_verdict": round(time.monotonic() - begun, 1),
        "killed": dict(killed),
        "starts": server.starts,
        "confirmed": len(confirmed),
        "confirmed_programs": dict(Counter(kind for kind, *_ in handed_in)),
        "broken_connections": sum(one.broken for one in (*students, *programmers)),
        "refused": dict(sum((one.refused for one in (*students, *programmers)), Counter())),
        "looks": witness.looks,
        "seen": {what: len(found) for what, found in witness.others.items()},
        "errors": [one.error for one in (*students, *programmers) if one.error] + witness.violations,
        **(figures := checked(database, Storage(server.data), confirmed, decided)),
        **wrong,
        "violations": figures["violations"] + sum(wrong.values()),
    }


def _begin_tournament(server, killed):
    kinds.begin_tournament(server.data)
    killed["serve"] += server.kill("serve")
    return True


def _look(witness):
    with suppress(PtttError):  # a database that restarts
        witness.look()


def _decide(server, decided, every, over, draw):
    """Adjust grades by commands; every second command is killed at a random moment."""
    names, number = sorted(server.tokens), 0
    while not over.wait(draw.expovariate(1 / every)):
        number += 1
        team, points = draw.choice(names), draw.randint(-20, 20) / 4
        limit = draw.uniform(0.3, 3.0) if number % 2 else None
        reason = f"decision {number}"
        done = server.command("adjust", team, "strategies", f"--points={points}", "--reason", reason, timeout=limit)
        decided.append((reason, team, points, done))


def _until_judged(database, witness):
    last, since = -1, time.monotonic()
    while True:
        _look(witness)
        with suppress(PtttError), database.reading() as session:
            waiting = sum(row.unfinished for row in session.scalars(select(Submission)))
            waiting += kinds.waiting(database, witness.data) if witness.data else 0
            if not waiting:
                return
            if waiting != last:
                last, since = waiting, time.monotonic()
        if time.monotonic() - since > PATIENCE:
            raise TimeoutError(f"{last} submissions get no verdict")
        time.sleep(1)


# ---------------------------------------------------------------------------------------------
# What must be true at the end


def checked(database, storage, confirmed, decided):
    """Counts of all that is not as it must be; all are 0 in a course that has lost nothing."""
    with database.reading() as session:
        rows = {row.id: row for row in session.scalars(select(Submission))}
        teams = {team.name: team.id for team in session.scalars(select(Team))}
        grades = list(session.scalars(select(GradeRow).order_by(GradeRow.id)))
        of_agents = set(session.scalars(select(Agent.file)))
        strategies = session.scalar(select(Assignment.id).where(Assignment.name == "strategies"))
        adjustments = list(session.scalars(select(Adjustment)))
        lines = [line.facts for line in session.scalars(select(LogLine).where(LogLine.what == "adjust"))]
    numbers = {number for number, *_ in confirmed}
    damaged = [
        number
        for number, _, content, _ in confirmed
        if number in rows and storage.upload(rows[number].file).read_bytes() != content
    ]
    reasons, told = Counter(one.reason for one in adjustments), Counter(facts["reason"] for facts in lines)
    done = [reason for reason, *_, success in decided if success]
    points, bests = expected_points(rows.values(), adjustments, teams[BASELINE])
    latest = {row.team_id: row for row in grades if row.assignment_id == strategies}
    pairs = defaultdict(list)
    for row in grades:
        pairs[row.team_id, row.assignment_id].append(row)
    repeated = sum(a.facts == b.facts for line in pairs.values() for a, b in zip(line, line[1:], strict=False))
    found = {
        "lost": len(numbers - rows.keys()),
        "damaged": len(damaged),
        "wrong": sum(not is_right(_as_json(rows.get(n)), expected) for n, _, _, expected in confirmed),
        "twice": len(rows) - len({(row.team_id, row.player, row.digest) for row in rows.values()}),
        "wrong_bests": sum(row.best != (row.id in bests) for row in rows.values()),
        "wrong_grades": sum(
            abs((latest[team].points if team in latest else 0.0) - expected) > 0.011
            for team, expected in points.items()
        ),
        "grades_without_a_cause": sum(not _CAUSES.fullmatch(row.because) for row in grades) + repeated,
        "decisions_lost": sum(reasons[reason] != 1 for reason in done),
        "decisions_without_a_line": sum((reasons - told).values()) + sum((told - reasons).values()),
        "damage_found": len(damaged_files(database, storage)) + len(unsettled_grades(database, storage)),
        "half_files": len(list(storage.incoming.iterdir())),
    }
    return {
        **found,
        "files_without_a_row": len(
            {file.name for file in storage.uploads.iterdir()} - {r.file for r in rows.values()} - of_agents
        ),
        "grade_rows": len(grades),
        "decisions": {"confirmed": len(done), "killed_or_failed": len(decided) - len(done), "there": len(adjustments)},
        "doctor": problems(database, storage),
        "violations": sum(found.values()),
    }


def _as_json(row):
    return None if row is None else {"status": row.status, "note": row.note, "exploitability": row.exploitability}


def expected_points(rows, adjustments, baseline):
    """Points of each team, and the numbers of all bests, from the verdicts: written without the package's rules."""
    best = {}
    for row in sorted(rows, key=lambda row: row.id):
        if row.status == ACCEPTED:
            key = row.team_id, row.player
            if key not in best or row.exploitability < best[key].exploitability:
                best[key] = row
    uniform = sum(max(0.0, best[baseline, player].exploitability) for player in (0, 1))
    more = defaultdict(float)
    for one in adjustments:
        more[one.team_id] += one.points
    points = {}
    for team in {team for team, _ in best} | more.keys():
        if team == baseline:
            continue
        both = [max(0.0, best[team, player].exploitability) for player in (0, 1) if (team, player) in best]
        rule = POINTS * min(1.0, max(0.0, (uniform - sum(both)) / uniform)) if len(both) == 2 else 0.0
        points[team] = max(0.0, rule + more[team])
    return points, {row.id for row in best.values()}


def failed(figures):
    """Whether anything is not as it must be."""
    return bool(figures["violations"] or figures["errors"])


def main():
    """Print what was found as JSON; exit with 1 if anything was lost, wrong or without a trace."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.course", description=__doc__.splitlines()[0])
    parser.add_argument("--teams", type=int, default=60)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--pause", type=float, default=20.0, help="seconds between two submissions of a team")
    parser.add_argument("--kill-every", type=float, default=5.0, help="seconds between two kills")
    parser.add_argument("--database-url", help="an empty PostgreSQL database; default: SQLite")
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    figures = run(
        options.teams,
        60 * options.minutes,
        options.pause,
        options.kill_every,
        database_url=options.database_url,
        seed=options.seed,
    )
    print(json.dumps(figures, indent=2))
    sys.exit(failed(figures))


if __name__ == "__main__":
    main()
