"""What watches the course is told the truth; other users of the machine are told nothing."""

import logging
import os
import stat
import sys
import tarfile
import threading

import pytest
from sqlalchemy import text

from pttt_ooc.course.server import serve
from pttt_ooc.disk import permissions
from pttt_ooc.errors import CourseError
from pttt_ooc.site.service import pulse
from pttt_ooc.site.service.logs import lines_logged
from pttt_ooc.site.service.pulse import Pulse, read_sign
from tests.course.server_kit import Lab, make_settings, pttt, strategy_zip

# ---------------------------------------------------------------------------------------------
# Health


def health(lab):
    answer = lab.client.get("/healthz")
    told = answer.json()
    assert (answer.status_code == 200) == (told["status"] == "ok")
    return {name: what for name, what in told.items() if what != "ok"}


def test_ready_means_that_a_submission_would_be_judged(lab, monkeypatch):
    beat = Pulse(lab.storage.alive)
    assert health(lab) == {"status": "failed", "worker": "silent"}
    beat.wait_for("kernels")
    assert health(lab) == {"status": "failed", "worker": "waits for kernels"}
    beat.ready()
    assert not health(lab)
    os.utime(lab.storage.alive, (0, 0))
    assert health(lab) == {"status": "failed", "worker": "silent"}
    beat.ready()
    monkeypatch.setattr(type(lab.storage), "free_bytes", lambda self: 199_999_999)
    assert health(lab) == {"status": "failed", "disk": "full"}
    assert lab.post(lab.team("Team A"), 0, strategy_zip(0, 1)).status_code == 507


def test_health_needs_a_database(lab, monkeypatch):
    Pulse(lab.storage.alive).ready()

    def broken():
        raise OSError

    monkeypatch.setattr(lab.database, "reading", broken)
    assert health(lab) == {"status": "failed", "database": "failed"}
    assert lab.client.get("/livez").json() == {"status": "ok"}  # to start the web server again would not help


def test_the_worker_beats_until_it_stops(tmp_path, monkeypatch):
    monkeypatch.setattr(pulse, "_BEAT_SECONDS", 0.01)
    file = tmp_path / "alive"
    with pytest.raises(KeyboardInterrupt), Pulse(file).beating():
        Pulse(file).wait_for("x")
        os.utime(file, (0, 0))
        while not read_sign(file).alive:
            assert threading.active_count() > 1
        assert read_sign(file).waits_for == "x"
        raise KeyboardInterrupt
    assert not file.exists() and read_sign(file).age is None


def test_a_full_disk_does_not_stop_the_worker(tmp_path, caplog):
    with caplog.at_level(logging.INFO):
        Pulse(tmp_path / "missing" / "alive").wait_for("x")
    assert [record.levelname for record in caplog.records] == ["INFO", "ERROR"]


def test_what_is_meant_for_a_terminal_is_logged_line_by_line(caplog):
    with caplog.at_level(logging.INFO), lines_logged(logging.getLogger("pttt.course.worker")):
        print("Compiling kernels ...", file=sys.stderr)
        print("Compiled ", end="", file=sys.stderr)
        print("3.\n", file=sys.stderr)
    assert [record.message for record in caplog.records] == ["Compiling kernels ...", "Compiled 3."]


# ---------------------------------------------------------------------------------------------
# Rights


def readable_by_others(directory):
    """What other users of the machine could read, if they could enter the directory."""
    found = [directory, *directory.rglob("*")]
    return [f for f in found if not f.is_symlink() and f.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)]


@pytest.fixture
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def refuse(*arguments):
    raise CourseError("far enough")


def test_what_an_older_version_left_readable_is_put_right_at_the_start(tmp_path, usual_umask, monkeypatch):
    data, elsewhere = tmp_path / "course", tmp_path / "elsewhere.sqlite"
    lab = Lab(data, database_url=f"sqlite:///{elsewhere}")
    lab.verdict(lab.team("Team A"), 0, strategy_zip(0, 1))
    (data / "index" / "deep").mkdir()
    (data / "index" / "deep" / "file").write_bytes(b"x")
    (data / "mine.txt").write_bytes(b"x")
    outside = tmp_path / "outside"
    outside.write_bytes(b"x")
    (data / "uploads" / "link").symlink_to(outside)
    assert len(readable_by_others(data)) > 10
    monkeypatch.setattr(serve, "listen", refuse)
    assert "far enough" in pttt("course", "serve", "--data", data).stderr
    assert readable_by_others(data) == [data / "mine.txt"]  # not the course's, and nobody gets there
    assert elsewhere.stat().st_mode & 0o077 == 0 and outside.stat().st_mode & 0o077
    assert stat.S_IMODE(data.stat().st_mode) == 0o700 and os.umask(0o022) == 0o022
    lab.close()


def test_a_new_course_is_private_from_the_first_file_on(tmp_path, usual_umask, monkeypatch):
    monkeypatch.setattr(serve, "listen", refuse)
    monkeypatch.setattr(serve, "tighten", lambda paths: 0)
    data = tmp_path / "course"
    assert "far enough" in pttt("course", "serve", "--data", data, "--game", "mini-2x3k2-abrupt").stderr
    assert (data / "course.sqlite").exists() and not readable_by_others(data)


def test_copies_are_private(lab, tmp_path, usual_umask):
    lab.verdict(lab.team("Team A"), 0, strategy_zip(0, 1))
    copy = tmp_path / "copy.tar"
    copy.write_bytes(b"an older one, which all can read")
    assert pttt("course", "backup", copy, "--data", lab.data, "--force").returncode == 0
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with tarfile.open(copy, "a") as archive:  # rights in the copy do not matter
        for member in archive.getmembers():
            member.mode = 0o666
    assert pttt("course", "restore", copy, "--data", tmp_path / "again").returncode == 0
    assert not readable_by_others(tmp_path / "again")


def test_commands_make_private_files(tmp_path, usual_umask):
    make_settings(tmp_path / "course")
    assert pttt("course", "add-team", "Team A", "--data", tmp_path / "course").returncode == 0
    made = list((tmp_path / "course").glob("course.sqlite*"))
    assert made and not any(f.stat().st_mode & 0o077 for f in made)


def test_what_is_not_ours_is_told(tmp_path, monkeypatch, caplog):
    def refused(self, mode):
        raise PermissionError(1, "Operation not permitted")

    (tmp_path / "f").touch(mode=0o644)
    monkeypatch.setattr(type(tmp_path), "chmod", refused)
    assert permissions.tighten([tmp_path / "f", tmp_path / "missing"]) == 0
    assert [record.message for record in caplog.records] == ["other users may read this"]


def test_no_table_can_be_read_in_the_write_ahead_log(tmp_path, usual_umask):
    """SQLite gives its -wal and -shm the rights of the database."""
    with permissions.private():
        lab = Lab(tmp_path / "course")
    with lab.database.writing() as session:
        session.execute(text("DELETE FROM facts WHERE name = 'revision'"))
    names = {f.name for f in lab.data.glob("course.sqlite-*")}
    assert names == {"course.sqlite-wal", "course.sqlite-shm"}
    assert not any((lab.data / name).stat().st_mode & 0o077 for name in names)
    lab.close()
