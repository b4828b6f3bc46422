"""Commands of operation: copies checked by digests, alarms, and the log's rotation."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from pttt_ooc.cli.commands import main  # noqa: F401  the commands that are listed below
from pttt_ooc.course.data.models import Submission
from pttt_ooc.course.data.term_tables import GradeRow, LogLine
from pttt_ooc.course.grades import checkup
from pttt_ooc.course.grades.rejudging import GRADING
from pttt_ooc.course.strategies import worker
from pttt_ooc.site.service.logs import logged_to
from pttt_ooc.site.service.pulse import Pulse
from tests.course.server_kit import Lab, bearer, copied, pttt, strategy_zip
from tests.course.term_kit import change, database_of, upload

RULE = {"kind": "baseline", "figure": "player0", "points": 50}


def run(*arguments, code=0):
    done = pttt(*arguments)
    assert done.returncode == code, done
    return done.stdout or done.stderr


# ---------------------------------------------------------------------------------------------
# Copies


def a_course(data, **changes):
    lab = Lab(data, **changes)
    lab.baseline()
    change(lab, rule=RULE)
    for name, seed in (("Team A", 1), ("Team B", 2)):
        lab.team(name)
        upload(lab, name, 0, seed)
    (data / "course.yaml").write_text("# mine\n")
    (data / "extreme.yaml").write_text("open: false\n")
    for name in ("tournament.json", "matches/1-a-b.json", "bots/t2.py"):
        file = data / "extreme" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    return lab


def test_a_copy_of_a_copy_is_the_same(healthy, tmp_path):
    lab = healthy
    with closing(sqlite3.connect(lab.data / "play.sqlite")) as games, games:
        games.execute("CREATE TABLE games (id TEXT)")
    run("course", "adjust", "Team A", "strategies", "--points=2", "--reason", "why", "--data", lab.data)
    told = json.loads(run("course", "backup", tmp_path / "1.tar", "--json", "--data", lab.data))
    assert told["submissions"] == 4 and told["missing"] == [] and len(told["digest"]) == 64
    restored = json.loads(run("course", "restore", tmp_path / "1.tar", "--json", "--data", tmp_path / "again"))
    assert restored["digest"] == told["digest"]
    for name in ("course.yaml", "extreme.yaml", "extreme/matches/1-a-b.json", "extreme/bots/t2.py"):
        assert (tmp_path / "again" / name).read_bytes() == (lab.data / name).read_bytes()
    again = json.loads(run("course", "backup", tmp_path / "2.tar", "--json", "--data", tmp_path / "again"))
    assert again["digest"] == told["digest"]
    arguments = ["course", "grades", "--json", "--data"]
    assert run(*arguments, lab.data) == run(*arguments, tmp_path / "again")
    # Any change shows in the digest.
    run("course", "announce", "One more", "--data", tmp_path / "again")
    third = json.loads(run("course", "backup", tmp_path / "3.tar", "--json", "--data", tmp_path / "again"))
    assert third["digest"] != told["digest"]
    lab.close()


def test_a_copy_whose_content_was_changed_is_refused(healthy, tmp_path):
    copy, changed = tmp_path / "copy.tar", tmp_path / "changed.tar"
    run("course", "backup", copy, "--data", healthy.data)
    for name in ("course.yaml", "extreme/tournament.json", "tables.jsonl", "digests.json"):
        with tarfile.open(copy) as archive:
            member = archive.getmember(name)
            place = member.offset_data + member.size // 2
        content = bytearray(copy.read_bytes())
        content[place] ^= 1
        changed.write_bytes(content)
        told = run("course", "restore", changed, "--data", tmp_path / "again", code=1)
        assert "is not a copy of a course, or is damaged" in told and not (tmp_path / "again").exists()
    # A member that is not listed.
    with tarfile.open(tmp_path / "copy.tar", "a") as archive:
        archive.addfile(tarfile.TarInfo("extreme/bots/t3.py"))
    told = run("course", "restore", tmp_path / "copy.tar", "--data", tmp_path / "again", code=1)
    assert "not those that it lists" in told


def test_lost_and_damaged_files_are_told_and_all_else_is_copied(healthy, tmp_path):
    lab = healthy
    with lab.database.reading() as session:
        third, fourth = (lab.storage.upload(session.get(Submission, n).file) for n in (3, 4))
    third.unlink()
    fourth.write_bytes(fourth.read_bytes()[:-1] + b"x")
    told = run("course", "doctor", "--digests", "--data", lab.data, code=1)
    assert "The file of submission 3 is lost" in told and "submission 4 has changed since it was received" in told
    done = pttt("course", "backup", tmp_path / "copy.tar", "--data", lab.data)
    assert done.returncode == 1 and "2 submissions" in done.stdout
    assert "submission 3 is lost" in done.stderr and "submission 4 has changed since" in done.stderr
    run("course", "restore", tmp_path / "copy.tar", "--data", tmp_path / "again")
    lab.close()


@pytest.mark.slow
def test_a_copy_while_teams_submit_is_of_one_moment(tmp_path):
    """Backups during uploads and verdicts: each restores, and its grades are those of its own verdicts."""
    lab = a_course(tmp_path / "course")
    over, failures = threading.Event(), []

    def work():
        try:
            for seed in range(100, 400):
                if over.is_set():
                    return
                lab.verdict(lab.tokens["Team A"], 0, strategy_zip(0, seed))
        except Exception as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    counts = []
    try:
        for number in range(3):
            told = json.loads(run("course", "backup", tmp_path / f"{number}.tar", "--json", "--data", lab.data))
            counts.append(told["submissions"])
            assert told["missing"] == []
            while _count(lab) <= counts[-1] and thread.is_alive():
                time.sleep(0.01)
    finally:
        over.set()
        thread.join()
    assert not failures and counts == sorted(set(counts))
    for number, count in enumerate(counts):
        data = tmp_path / f"restored{number}"
        told = json.loads(run("course", "restore", tmp_path / f"{number}.tar", "--json", "--data", data))
        assert told["submissions"] == count
        again = json.loads(run("course", "backup", tmp_path / "again.tar", "--json", "--force", "--data", data))
        assert again["digest"] == told["digest"]
        assert "has changed" not in pttt("course", "doctor", "--digests", "--data", data).stdout
    lab.close()


def _count(lab):
    with lab.database.reading() as session:
        return session.query(Submission).count()


# ---------------------------------------------------------------------------------------------
# Alarms


def needs_nothing(told):
    """Whether the doctor is content; it then says only that there is no solution to measure losses against."""
    first, second = told.splitlines()
    return first == "Nothing needs attention." and second.startswith("Teams cannot see where their strategies lose, as")


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The directory of a course of which nothing needs attention, and its tokens."""
    lab = a_course(tmp_path_factory.mktemp("graded") / "course")
    Pulse(lab.storage.alive).ready()
    run("course", "grades", "--data", lab.data)
    assert needs_nothing(run("course", "doctor", "--digests", "--data", lab.data))
    lab.close()
    return lab


@pytest.fixture
def healthy(graded, tmp_path):
    lab = copied(graded, tmp_path / "course")
    Pulse(lab.storage.alive).ready()
    yield lab
    lab.close()


def alarms(lab):
    return json.loads(run("course", "doctor", "--json", "--data", lab.data, code=1))


def test_a_full_disk_is_foretold(healthy, monkeypatch):
    monkeypatch.setattr(type(healthy.storage), "free_bytes", lambda self: 1_500_000_000)
    assert alarms(healthy) == ["The disk has 1.5 GB left; uploads are refused below 0.2 GB. Free some space."]


def test_little_memory_is_told(healthy, monkeypatch):
    monkeypatch.setattr(checkup, "available_bytes", lambda: 123_000_000)
    (told,) = alarms(healthy)
    assert told.startswith("The machine has 123 MB of memory left")


def test_a_long_queue_is_told(healthy):
    for seed in range(3):
        healthy.submit(healthy.tokens["Team A"], 1, strategy_zip(1, seed))
    run("course", "doctor", "--data", healthy.data)
    with healthy.database.writing() as session:
        for row in session.query(Submission):
            row.evaluation_seconds = 400.0 if row.evaluation_seconds else None
    assert alarms(healthy) == ["The 3 submissions in the queue will take about 20 min."]
    with healthy.database.writing() as session:
        session.get(Submission, 5).received_at -= 3600
    assert alarms(healthy)[0] == "3 submissions wait for a verdict, the oldest one for 60 min."


def test_a_clock_that_was_put_back_is_told(healthy):
    with healthy.database.writing() as session:
        session.get(Submission, 3).received_at += 7200
    (told,) = alarms(healthy)
    assert "120 min after the present time" in told


def test_a_worker_that_waits_or_is_gone_is_told(healthy):
    Pulse(healthy.storage.alive).wait_for("kernels")
    assert alarms(healthy) == ["The worker does not judge yet: it waits for kernels."]
    healthy.storage.alive.unlink()
    assert alarms(healthy) == ["No worker judges submissions; `pttt course serve` starts it."]


def test_a_league_without_a_worker_is_told(healthy):
    shutil.rmtree(healthy.data / "extreme")  # no tournament yet
    (healthy.data / "extreme.yaml").write_text("open: true\n")
    assert "No worker checks bots; `pttt course serve` starts it." in alarms(healthy)


def test_a_verdict_without_its_grade_is_told_and_made_good(healthy, monkeypatch):
    """What a kill between the two transactions leaves."""
    with monkeypatch.context() as patch:
        patch.setattr(healthy.judge, "settle", lambda because: None)
        upload(healthy, "Team A", 0, 58)
    assert alarms(healthy) == [
        "1 grades have changed and are not in the history yet; `pttt course grades` writes them down."
    ]
    stopping = threading.Event()
    stopping.set()
    monkeypatch.setattr(worker, "handle_signals", lambda event: None)
    worker.run(healthy.data, stopping, GRADING)
    Pulse(healthy.storage.alive).ready()
    assert needs_nothing(run("course", "doctor", "--data", healthy.data))
    with healthy.database.reading() as session:
        latest = session.query(GradeRow).order_by(GradeRow.id.desc()).first()
        assert latest.because == "start of the worker"


def test_grades_that_go_with_a_team_are_in_the_log(healthy):
    run("course", "remove-team", "Team A", "--yes", "--data", healthy.data)
    run("course", "rotate-token", "Team B", "--data", healthy.data)
    with healthy.database.reading() as session:
        lines = {line.what: line.facts for line in session.query(LogLine)}
    assert lines["remove team"]["team"] == "Team A" and lines["remove team"]["points"].keys() == {"strategies"}
    assert lines["rotate token"] == {"team": "Team B"}


def test_figures_for_monitoring(healthy):
    text = healthy.client.get("/metrics").text
    found = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert float(found["pttt_memory_available_bytes"]) > 1e6 and found["pttt_uploads_in_flight"] == "0.0"
    assert found["pttt_grades"] == "2.0" and found["pttt_reports"] == found["pttt_decisions"] == "0.0"


# ---------------------------------------------------------------------------------------------
# The log

WRITER = "import os, sys; [os.write(2, b'%s %05d\\n' % (sys.argv[1].encode(), n)) for n in range(2000)]"


def test_the_log_of_several_processes_is_rotated_and_loses_nothing(tmp_path):
    file = tmp_path / "log" / "course.jsonl"
    with logged_to(file, most_bytes=5_000, older=30):
        children = [subprocess.Popen([sys.executable, "-c", WRITER, name]) for name in "abc"]
        assert [child.wait() for child in children] == [0, 0, 0]
    parts = sorted(file.parent.iterdir(), key=lambda one: -int(one.suffix[1:]) if one.suffix[1:].isdigit() else 0)
    lines = [line for part in parts for line in part.read_text().splitlines()]
    assert all(part.stat().st_size <= 5_000 and part.stat().st_mode & 0o077 == 0 for part in parts)
    for name in "abc":
        assert [line for line in lines if line[0] == name] == [f"{name} {n:05d}" for n in range(2000)]
    assert len(lines) == 6000 and len(parts) > 5


def test_only_so_many_older_logs_stay(tmp_path, capfd):
    file = tmp_path / "course.jsonl"
    with logged_to(file, most_bytes=100, older=2):
        for n in range(100):
            os.write(2, b"%040d\n" % n)
    assert {one.name for one in tmp_path.iterdir()} == {"course.jsonl", "course.jsonl.1", "course.jsonl.2"}
    assert file.read_text().splitlines()[-1] == f"{99:040d}" and capfd.readouterr().err == ""
    os.write(2, b"again\n")
    assert capfd.readouterr().err == "again\n"


def test_nobody_waits_for_a_log_that_cannot_be_written(tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    with logged_to(Path("/dev/full")):
        for _ in range(100):
            os.write(2, b"x" * 10_000 + b"\n")  # more than a pipe holds


def test_serve_writes_its_log_into_a_file(tmp_path):
    """A refused start, too, is one sentence on stderr."""
    lab = Lab(tmp_path / "course")
    lab.close()
    (tmp_path / "blocked").write_text("")
    done = pttt("course", "serve", "--data", lab.data, "--log", tmp_path / "blocked" / "x")
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1 and "write the log" in done.stderr
    done = pttt("course", "serve", "--data", lab.data, "--log", tmp_path / "x", "--host", "256.0.0.1")
    assert done.returncode == 1 and "Cannot listen" in done.stderr


@pytest.mark.slow
def test_bearers_of_the_course_are_the_same_after_a_restore(tmp_path):
    lab = a_course(tmp_path / "course")
    run("course", "backup", tmp_path / "1.tar", "--data", lab.data)
    run("course", "restore", tmp_path / "1.tar", "--data", tmp_path / "again")
    database = database_of(tmp_path / "again")
    database.close()
    again = Lab(tmp_path / "again")
    answer = again.client.get("/api/submissions/3/file", headers=bearer(lab.tokens["Team A"]))
    assert answer.status_code == 200 and answer.content == strategy_zip(0, 1)
    assert again.client.get("/api/leaderboard").json() == lab.client.get("/api/leaderboard").json()
    lab.close()
    again.close()
