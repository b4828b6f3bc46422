"""The same on PostgreSQL, where it can be started: an own cluster behind its own socket, thrown away afterwards."""

import os
import shutil
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DatabaseError

from pttt_ooc.course.data.database import FORMAT, Database
from pttt_ooc.course.data.models import Fact, Submission, Team
from pttt_ooc.course.data.term_tables import LogLine
from pttt_ooc.errors import CourseError
from tests.course.server_kit import GAME, Lab, pttt, strategy_zip
from tests.course.term_kit import change
from tests.kits.patience import PATIENCE, wait_until

pytest.importorskip("psycopg")


def program(name):
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


pytestmark = pytest.mark.skipif(program("initdb") is None, reason="there is no PostgreSQL (Debian: postgresql)")


@pytest.fixture(scope="module")
def cluster():
    """URL of an empty cluster."""
    # PostgreSQL refuses to run as root; Debian's package makes a user for it.
    user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    # Not below pytest's directory, which other runs of pytest on this machine close to other users.  The path of the
    # socket, in place of a port that others might take, has to be short.
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="pg-") as name:
        home = Path(name)
        if user:
            shutil.chown(home, "postgres", "postgres")
        data = home / "data"
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": home, **user}
        subprocess.run([program("initdb"), "-D", data, "-U", "course", "-A", "trust", "-N"], check=True, **quiet)
        options = f"-h '' -k {home} -c fsync=off"
        start = [program("pg_ctl"), "-D", data, "-w", "-t", str(int(PATIENCE)), "-o", options, "-l", home / "log"]
        subprocess.run([*start, "start"], check=True, **quiet)
        try:
            yield f"postgresql+psycopg://course@/postgres?host={home}"
        finally:
            subprocess.run([program("pg_ctl"), "-D", data, "-m", "immediate", "stop"], check=True, **quiet)


@pytest.mark.slow
def test_all_of_it_on_postgresql(cluster, tmp_path):
    lite = Lab(tmp_path / "lite")
    lite.baseline()
    lite.team("Team A")
    copy = tmp_path / "copy.tar"
    assert pttt("course", "backup", copy, "--data", lite.data).returncode == 0
    done = pttt("course", "restore", copy, "--data", tmp_path / "post", "--database-url", cluster)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "post" / "course.sqlite").exists()

    post = Lab(tmp_path / "post", database_url=cluster)
    assert post.client.get("/api/leaderboard").json() == lite.client.get("/api/leaderboard").json()
    token = lite.tokens["Team A"]
    for lab in (lite, post):
        for player in (0, 1):
            lab.verdict(token, player, strategy_zip(player, 1, 2.0))
            assert lab.verdict(token, player, strategy_zip(player, 2, 0.5))["status"] == "Accepted"
        lab.verdict(token, 0, b"no zip")
        assert lab.post(token, 0, b"no zip").json()["duplicate"]
    assert post.client.get("/api/matrix").json() == lite.client.get("/api/matrix").json()
    for path in ("/", "/matrix", "/submissions", "/submissions/3", "/teams/2", "/metrics", "/api/history"):
        assert post.client.get(path).status_code == 200
    assert pttt("course", "restore", copy, "--data", tmp_path / "x", "--database-url", cluster).returncode == 1
    for arguments in (["rotate-token", "Team A"], ["remove-team", "Team A", "--yes"], ["list-teams"]):
        done = pttt("course", *arguments, "--data", post.data)
        assert done.returncode == 0, done.stderr
    assert [r["team"] for r in post.client.get("/api/leaderboard").json()] == ["Uniform"]
    lite.close()
    post.close()


def empty_database(cluster, name):
    """URL of a new database."""
    engine = create_engine(cluster, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    engine.dispose()
    return cluster.replace("/postgres", f"/{name}")


@pytest.mark.slow
def test_two_processes_make_tables_one_after_the_other(cluster, monkeypatch):
    url = empty_database(cluster, "both")
    first_is_in, second_waits = threading.Event(), threading.Event()
    really = Database._prepare

    def prepare(self, session, game):
        if not first_is_in.is_set():
            first_is_in.set()
            assert second_waits.wait(PATIENCE)
        really(self, session, game)

    monkeypatch.setattr(Database, "_prepare", prepare)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(Database, url, GAME)
        assert first_is_in.wait(PATIENCE)
        second = pool.submit(Database, url, GAME)
        watching = create_engine(url)

        def somebody_waits():
            with watching.connect() as connection:
                return connection.exec_driver_sql("SELECT 1 FROM pg_locks WHERE NOT granted").first()

        try:
            wait_until(somebody_waits, alive=lambda: not second.done())
        finally:
            second_waits.set()
        databases = [first.result(PATIENCE), second.result(PATIENCE)]
    watching.dispose()
    with databases[1].reading() as session:
        assert {fact.name: fact.value for fact in session.query(Fact)}["format"] == FORMAT
        assert session.query(Team).count() == 0
    for database in databases:
        database.close()


@pytest.mark.slow
def test_two_uploads_cannot_both_take_the_last_place(cluster, tmp_path):
    lab = Lab(tmp_path / "course", database_url=empty_database(cluster, "quota"), submissions_per_hour=1)
    token = lab.team("Team A")
    watching = create_engine(lab.settings.database_url)

    def somebody_waits():
        with watching.connect() as connection:
            return connection.exec_driver_sql("SELECT 1 FROM pg_locks WHERE NOT granted").first()

    with ThreadPoolExecutor(1) as pool:
        with lab.database.writing() as session:  # the first upload, not yet committed
            team = session.query(Team).filter_by(name="Team A").with_for_update().one()
            now = time.time()
            row = {"file": "first.zip", "digest": "first", "size": 1, "received_at": now, "changed_at": now}
            session.add(Submission(team_id=team.id, player=0, **row))
            session.flush()
            second = pool.submit(lab.post, token, 1, strategy_zip(1, 2))
            wait_until(somebody_waits, alive=lambda: not second.done())
        answer = second.result(PATIENCE)
    assert answer.status_code == 429, answer.text
    watching.dispose()
    lab.close()


@pytest.mark.slow
def test_numbers_go_on_in_a_copy_of_another_kind_of_database(cluster, tmp_path):
    lab = Lab(tmp_path / "course", database_url=empty_database(cluster, "numbers"))
    for number, name in enumerate(("Équipe", "Team A"), 1):
        assert lab.submit(lab.team(name), 0, strategy_zip(0, 1)) == number
    for arguments in (["rotate-token", "équipe"], ["remove-team", "TEAM A", "--yes"]):
        done = pttt("course", *arguments, "--data", lab.data)
        assert done.returncode == 0, done.stderr
    copy, url = tmp_path / "copy.tar", f"sqlite:///{tmp_path / 'lite.sqlite'}"
    assert pttt("course", "backup", copy, "--data", lab.data).returncode == 0
    lab.close()
    done = pttt("course", "restore", copy, "--data", tmp_path / "lite", "--database-url", url)
    assert done.returncode == 0, done.stderr
    lite = Lab(tmp_path / "lite", database_url=url)
    assert lite.submit(lite.team("Team C"), 0, strategy_zip(0, 1)) == 3
    assert lite.tokens["Team C"].startswith("4.")
    lite.close()


@pytest.mark.slow
def test_a_term_on_postgresql(cluster, tmp_path):
    """Decisions, grades and their exports are those of SQLite; numbers go on; the log cannot be changed."""
    lite, told = Lab(tmp_path / "lite"), {}
    lite.baseline()
    lite.team("Team A")
    rule = {"kind": "baseline", "figure": "player0", "points": 50}
    change(lite, rule=rule, rubric=[{"name": "viva", "points": 10}])
    assert pttt("course", "mark", "Team A", "strategies", "viva", 4, "--data", lite.data).returncode == 0
    copy, url = tmp_path / "copy.tar", empty_database(cluster, "term")
    assert pttt("course", "backup", copy, "--data", lite.data).returncode == 0
    done = pttt("course", "restore", copy, "--data", tmp_path / "post", "--database-url", url)
    assert done.returncode == 0, done.stderr
    post = Lab(tmp_path / "post", database_url=url)
    for lab in (lite, post):
        lab.verdict(lite.tokens["Team A"], 0, strategy_zip(0, 58))
        adjusted = ["adjust", "Team A", "strategies", "--points=1.5", "--reason", "why"]
        for arguments in (adjusted, ["rejudge", 3], ["release", "strategies"]):
            done = pttt("course", *arguments, "--data", lab.data)
            assert done.returncode == 0, done.stderr
        lab.run()
        told[lab] = pttt("course", "grades", "--json", "--data", lab.data).stdout
        with lab.database.reading() as session:
            assert [(line.id, line.what) for line in session.query(LogLine).order_by(LogLine.id)] == [
                *((1, "mark"), (2, "adjust"), (3, "rejudge"), (4, "release"))
            ]
    assert told[lite] == told[post] and '"points": 25.9' in told[post]
    for statement in ("UPDATE log SET what = 'x'", "DELETE FROM log"):
        with pytest.raises((CourseError, DatabaseError), match="append-only"), post.database.writing() as session:
            session.execute(text(statement))
    lite.close()
    post.close()
