"""Faults of a course at work: kills, a full disk, a locked database, PostgreSQL that restarts, a clock that changes.

The program of `tests/faults/course.py` kills all processes at random; here it runs in small, and each of its checks is
shown to fail.  ``make test PYTEST="-m full tests/course/server/test_course_faults.py -s"`` runs it at full size.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import create_engine, event

from pttt_ooc.course.data.models import Submission
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.course.data.term_tables import Adjustment, GradeRow, LogLine
from pttt_ooc.course.grades.gradebook import current, history, settle
from pttt_ooc.course.people.accounts import TeamAccounts
from pttt_ooc.errors import CourseError
from tests.course import full_disk
from tests.course.data.test_course_postgres import cluster, empty_database, program  # noqa: F401  a fixture
from tests.course.server_kit import ROOT, Lab, pttt, strategy_zip
from tests.course.term_kit import HOUR, change, database_of, set_zone, team_number, upload
from tests.faults import course as course_faults
from tests.kits.patience import PATIENCE, wait_until

RULE = {"kind": "baseline", "figure": "sum", "points": 50, "target": 0}
ROME = ZoneInfo("Europe/Rome")


# ---------------------------------------------------------------------------------------------
# Kills


def store_of(kind, request, name):
    """Settings for :func:`course_faults.run`: SQLite, or a PostgreSQL that is also broken off at random."""
    if kind == "sqlite":
        return {}
    if program("initdb") is None:
        pytest.skip("there is no PostgreSQL (Debian: postgresql)")
    url = request.getfixturevalue("cluster")

    def broken_off():
        restart(url, "immediate")
        return True

    return {"database_url": empty_database(url, name), "disturb": {"postgresql": broken_off}}


@pytest.mark.slow
@pytest.mark.parametrize("store", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def test_kills_at_random_lose_nothing_in_small(store, request):
    figures = course_faults.run(
        teams=2,
        seconds=6,
        pause=1.0,
        kill_every=1.5,
        decide_every=4,
        seed=1,
        **store_of(store, request, "kills_in_small"),
    )
    assert not course_faults.failed(figures), figures
    assert figures["confirmed"] > 2 and sum(figures["killed"].values()) > 0 and figures["looks"] > 0
    assert set(figures["confirmed_programs"]) == {"agents", "cup"} and all(figures["seen"].values()), figures


@pytest.mark.full
@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_kills_at_random_lose_nothing_while_sixty_teams_submit_for_ten_minutes(store, request, capsys):
    figures = course_faults.run(pause=30.0, kill_every=8.0, **store_of(store, request, "kills_at_full_size"))
    with capsys.disabled():
        print(json.dumps(figures, indent=2))
    assert not course_faults.failed(figures), figures
    assert figures["confirmed"] > 600 and sum(figures["killed"].values()) > 30 and all(figures["seen"].values())


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The directory of a course with verdicts, grades and a decision, and what its users know of it."""
    lab = Lab(tmp_path_factory.mktemp("whole") / "course")
    lab.baseline()
    change(lab, rule=RULE)
    confirmed = []
    for name, seed in (("Team A", 1), ("Team B", 2)):
        lab.team(name)
        for player in (0, 1):
            for other in (seed, seed + 10):
                number = upload(lab, name, player, other)
                figure = lab.client.get(f"/api/submissions/{number}").json()["exploitability"]
                confirmed.append((number, player, strategy_zip(player, other), figure))
    arguments = ["Team A", "strategies", "--points=2", "--reason", "why", "--data", lab.data]
    assert pttt("course", "adjust", *arguments).returncode == 0
    lab.close()
    return lab.data, confirmed, [("why", "Team A", 2.0, True)]


@pytest.fixture
def judged(whole, tmp_path):
    """A copy of it, to be damaged."""
    data, *known = whole
    shutil.copytree(data, tmp_path / "course")
    database = database_of(tmp_path / "course")
    yield SimpleNamespace(data=tmp_path / "course", database=database, storage=Storage(tmp_path / "course")), *known
    database.close()


def violations(judged):
    lab, confirmed, decided = judged
    found = course_faults.checked(lab.database, lab.storage, confirmed, decided)
    return {name for name, number in found.items() if isinstance(number, int) and number} - {"grade_rows", "violations"}


def test_a_whole_course_has_no_violations(judged):
    assert violations(judged) == set()


def execute(lab, statement):
    with closing(sqlite3.connect(lab.data / "course.sqlite")) as database, database:
        database.execute(statement)


DAMAGE = {
    "DELETE FROM submissions WHERE id = 4": "lost",
    "UPDATE submissions SET exploitability = exploitability + 1e-6 WHERE id = 4": "wrong",
    "UPDATE submissions SET best = 1 - best WHERE id IN (3, 4)": "wrong_bests",
    "UPDATE grades SET points = points + 1 WHERE id = (SELECT max(id) FROM grades)": "wrong_grades",
    "DELETE FROM grades": "wrong_grades",
    "UPDATE grades SET because = ''": "grades_without_a_cause",
    "INSERT INTO grades SELECT 99, team_id, assignment_id, at, points, facts, because FROM grades "
    "WHERE id = (SELECT max(id) FROM grades)": "grades_without_a_cause",
    "DELETE FROM adjustments": "decisions_lost",
    "INSERT INTO adjustments (team_id, assignment_id, points, reason, at, 'by') SELECT team_id, assignment_id, 0, 'x', "
    "at, 'x' FROM adjustments": "decisions_without_a_line",
    "INSERT INTO submissions (team_id, player, file, digest, size, received_at, changed_at, status, progress, note, "
    "detail, attempts, best, improved, open_to_play) SELECT team_id, player, 'x', digest || 'x', 1, 1, 1, 'Rejected', "
    "1, '', '', 1, 0, 0, 0 FROM submissions WHERE id = 3": "damage_found",
}


@pytest.mark.parametrize("statement", DAMAGE)
def test_each_violation_is_found(judged, statement):
    lab = judged[0]
    if DAMAGE[statement] == "damage_found":
        (lab.storage.uploads / "x").write_bytes(b"x")
    execute(lab, statement)
    assert DAMAGE[statement] in violations(judged)


def test_damaged_and_half_files_are_found(judged):
    lab, confirmed, _ = judged
    (lab.storage.incoming / "half").write_bytes(b"x")
    with lab.database.reading() as session:
        lab.storage.upload(session.get(Submission, confirmed[0][0]).file).write_bytes(b"x")
    assert {"half_files", "damaged", "damage_found"} <= violations(judged)


def test_a_witness_sees_what_changes_and_what_goes(judged):
    lab = judged[0]
    witness = course_faults.Witness(lab.database)
    witness.look()
    with lab.database.writing() as session:
        session.add(GradeRow(team_id=2, assignment_id=1, at=1.0, points=1.0, facts={}, because="more is not a change"))
    witness.look()
    assert witness.violations == []
    execute(lab, "UPDATE submissions SET note = 'other' WHERE id = 3")
    execute(lab, "DELETE FROM grades WHERE id = 1")
    witness.look()
    assert len(witness.violations) == 2 and witness.violations[0].startswith("verdict 3: ")


# ---------------------------------------------------------------------------------------------
# A disk that is really full


@pytest.mark.slow
def test_a_full_disk_loses_nothing_and_is_told(tmp_path):
    if shutil.which("unshare") is None:
        pytest.skip("nothing can be mounted here")
    mounted = f"mount -t tmpfs -o size=24m tmpfs '{tmp_path}' || exit 77"
    program = f"exec '{sys.executable}' -m {full_disk.__name__} '{tmp_path}'"
    command = ["unshare", "-rm" if os.geteuid() else "-m", "sh", "-c", f"{mounted}; {program}"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE)
    if done.returncode == 77 or "unshare failed" in done.stderr:
        pytest.skip("nothing can be mounted here")
    assert (done.returncode, done.stdout) == (0, "nothing is lost\n"), done.stderr[-3000:]


# ---------------------------------------------------------------------------------------------
# A database that somebody else has locked


@pytest.fixture
def impatient(lab):
    """A course that waits for locks for 50 ms in place of 30 s."""
    lab.database.engine.dispose()
    short = "PRAGMA busy_timeout = 50"
    event.listen(lab.database.engine, "connect", lambda connection, record: connection.execute(short))
    lab.team("Team A")
    return lab


def test_a_locked_database_is_told_and_nothing_is_lost(impatient):
    lab, token = impatient, impatient.tokens["Team A"]
    waiting = lab.submit(token, 0, strategy_zip(0, 1))
    with closing(sqlite3.connect(lab.data / "course.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        answer = lab.post(token, 1, strategy_zip(1, 1))
        assert answer.status_code == 503 and "locked" in answer.json()["error"], answer.text
        for path in ("/", "/submissions", "/matrix", "/course", "/livez"):  # readers do not wait for writers
            assert lab.client.get(path).status_code == 200
        with pytest.raises(CourseError, match="locked"):
            lab.run()
        other.execute("ROLLBACK")
    assert not list(lab.storage.incoming.iterdir()) and len(list(lab.storage.uploads.iterdir())) == 1
    assert lab.post(token, 1, strategy_zip(1, 1)).status_code == 201
    lab.run()
    found = {one["id"]: one["status"] for one in lab.client.get("/api/submissions").json()["submissions"]}
    assert found == {waiting: "Accepted", waiting + 1: "Accepted"}


# ---------------------------------------------------------------------------------------------
# PostgreSQL that restarts


def restart(url, mode):
    """Stop a cluster of :func:`cluster` and start it again; what `mode` means is PostgreSQL's."""
    home = Path(url.rpartition("host=")[2])
    user = {"user": "postgres", "group": "postgres", "extra_groups": []} if home.owner() == "postgres" else {}
    options = f"-h '' -k {home} -c fsync=off"
    command = [program("pg_ctl"), "-D", home / "data", "-w", "-t", "600", "-m", mode, "-o", options]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": home}
    subprocess.run([*command, "-l", home / "log", "restart"], check=True, **quiet, **user)


@pytest.mark.slow
@pytest.mark.skipif(program("initdb") is None, reason="there is no PostgreSQL (Debian: postgresql)")
@pytest.mark.long_but("immediate")
@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_postgresql_that_restarts_loses_nothing(cluster, tmp_path, mode, monkeypatch):  # noqa: F811
    """At each moment of a submission's way: before it, while it is judged, between verdict and grades, and after it."""
    url = empty_database(cluster, f"restarted_{mode}")
    lab = Lab(tmp_path / "course", database_url=url)
    lab.baseline()
    change(lab, rule={**RULE, "figure": "player0"})
    token, again = lab.team("Team A"), lambda: restart(cluster, mode)
    again()
    number = lab.submit(token, 0, strategy_zip(0, 1))
    assess = lab.assessor.assess
    with monkeypatch.context() as patch:
        patch.setattr(lab.assessor, "assess", lambda *given: (again(), assess(*given))[1])
        lab.run()
    assert lab.client.get(f"/api/submissions/{number}").json()["status"] == "Accepted"
    forget = lab.judge.forget
    with monkeypatch.context() as patch:
        patch.setattr(lab.judge, "forget", lambda: (forget(), again()))
        second = lab.verdict(token, 0, strategy_zip(0, 58))
    assert second["status"] == "Accepted"
    again()
    assert lab.client.get("/").status_code == 200
    done = pttt("course", "adjust", "Team A", "strategies", "--points=1", "--reason", "x", "--data", lab.data)
    assert done.returncode == 0, done.stderr
    with lab.database.reading() as session:
        rows = session.query(GradeRow).order_by(GradeRow.id).all()
        assert [row.because for row in rows][-2:] == [f"verdict on submission {second['id']}", "adjust, by console"]
        assert session.query(LogLine).count() == session.query(Adjustment).count() == 1
    lab.close()


# ---------------------------------------------------------------------------------------------
# The clock


class Clock:
    def __init__(self, monkeypatch):
        self.ahead, real = 0.0, time.time
        monkeypatch.setattr(time, "time", lambda: real() + self.ahead)
        self._real = real

    def put(self, at):
        self.ahead = at - self._real()


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


@pytest.mark.parametrize("fold", [0, 1])
def test_a_deadline_within_the_hour_that_comes_twice(lab, clock, fold):
    """In Rome the clock shows 02:30 twice on 31 October 2027; the deadline is one of them, and uploads follow it."""
    due = datetime(2027, 10, 31, 2, 30, tzinfo=ROME, fold=fold).timestamp()
    token = lab.team("Team A")
    set_zone(lab, "Europe/Rome")
    change(lab, due_at=due, closes_at=due + 90 * 60)
    clock.put(due - 5)
    assert lab.post(token, 0, strategy_zip(0, 1)).status_code == 201
    clock.put(due + 5)
    assert lab.post(token, 0, strategy_zip(0, 2)).status_code == 201
    clock.put(due + 91 * 60)
    refused = lab.post(token, 0, strategy_zip(0, 3))
    assert refused.status_code == 409 and ("03:00 CET" if fold == 0 else "04:00 CET") in refused.json()["error"]
    lab.baseline()
    change(lab, rule={**RULE, "figure": "player0"}, late_percent=10.0, choice="last")
    with lab.database.writing() as session:
        settle(session, lab.data, "test")
    with lab.database.reading() as session:
        (grade,) = [row.facts for (team, _), row in current(session).items() if team == team_number(lab, "Team A")]
    assert grade["days"] == 1 and grade["factor"] == 0.9  # of the one after the deadline


def test_a_clock_that_is_put_back_over_a_deadline_is_told_and_loses_nothing(lab, clock):
    lab.baseline()
    token, due = lab.team("Team A"), time.time() + HOUR
    change(lab, rule={**RULE, "figure": "player0"}, due_at=due, choice="best")
    first = upload(lab, "Team A", 0, 58)
    clock.ahead = 2 * HOUR
    assert lab.post(token, 0, strategy_zip(0, 3)).status_code == 409
    clock.ahead = -2 * HOUR
    second = upload(lab, "Team A", 0, 1)  # a worse one; the clock says that it is in time
    told = pttt("course", "doctor", "--data", lab.data).stdout
    assert "120 min after the present time: the clock was put back" in told
    arguments = ["Team A", "strategies", "--points=-3", "--reason", "x", "--data", lab.data]
    assert pttt("course", "adjust", *arguments).returncode == 0
    with lab.database.reading() as session:
        team = team_number(lab, "Team A")
        rows = history(session, team, 1)
        assert rows[0].because == "adjust, by console" and rows[0].at < rows[-1].at  # the order is that of numbers
        (latest,) = [row for (one, _), row in current(session).items() if one == team]
        assert latest.id == rows[0].id and latest.facts["submissions"] == {"player 0": first}
        assert session.get(Submission, second).status == "Accepted"


def test_an_upload_counts_from_the_moment_at_which_its_head_has_come(lab, clock, monkeypatch):
    """Also if a busy machine looks at the token only after the deadline."""
    token, due, of_token = lab.team("Team A"), time.time() + HOUR, TeamAccounts.of_token

    def late(self, text):
        clock.put(due + 60)
        return of_token(self, text)

    change(lab, due_at=due, closes_at=due)
    clock.put(due - 5)
    with monkeypatch.context() as patch:
        patch.setattr(TeamAccounts, "of_token", late)
        assert lab.post(token, 0, strategy_zip(0, 1)).status_code == 201
    assert lab.post(token, 0, strategy_zip(0, 2)).status_code == 409


@pytest.mark.slow
@pytest.mark.skipif(program("initdb") is None, reason="there is no PostgreSQL (Debian: postgresql)")
def test_two_workers_write_a_change_of_grades_down_once(cluster, tmp_path):  # noqa: F811
    """PostgreSQL lets two transactions write at the same time; the history must not have the same grade twice."""
    lab = Lab(tmp_path / "course", database_url=empty_database(cluster, "grades_once"))
    lab.baseline()
    lab.team("Team A")
    change(lab, rule={**RULE, "figure": "player0"})
    with verdicts_without_grades(lab):
        upload(lab, "Team A", 0, 1)
    watching = create_engine(lab.settings.database_url)

    def somebody_waits():
        with watching.connect() as connection:
            return connection.exec_driver_sql("SELECT 1 FROM pg_locks WHERE NOT granted").first()

    def second():
        with lab.database.writing() as session:
            return len(settle(session, lab.data, "second"))

    with ThreadPoolExecutor(1) as pool:
        with lab.database.writing() as session:
            assert len(settle(session, lab.data, "first")) > 0
            other = pool.submit(second)
            wait_until(somebody_waits, alive=lambda: not other.done())
        assert other.result(PATIENCE) == 0
    watching.dispose()
    lab.close()


@contextmanager
def verdicts_without_grades(lab):
    """Verdicts without their grades during the block."""
    really, lab.judge.settle = lab.judge.settle, lambda because: None
    try:
        yield
    finally:
        lab.judge.settle = really
