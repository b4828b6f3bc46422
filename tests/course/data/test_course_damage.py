"""Damaged databases: one sentence, a status that is not 0, and nothing is overwritten."""

import errno
import os
import shutil
import sqlite3
from contextlib import closing

import pytest

from pttt_ooc.course.pages import uploads
from tests.course.server_kit import Lab, pttt, strategy_zip

PAGE = 4096


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A course with rows in all tables."""
    lab = Lab(tmp_path_factory.mktemp("whole") / "course")
    token = [lab.team(f"Team {n}") for n in range(3)][0]
    for player in range(2):
        lab.verdict(token, player, strategy_zip(player, player))
    lab.sign_in(token)
    lab.close()
    return lab.data


def damaged(whole, data, content):
    shutil.copytree(whole, data)
    for file in data.glob("course.sqlite*"):
        file.unlink()
    (data / "course.sqlite").write_bytes(content)


def ran(command, data):
    more = [data.parent / "copy.tar"] if command == ["backup"] else []
    return pttt("course", *command, *more, "--data", data)


DAMAGE = {
    "text": lambda database: b"no database" * 1000,
    "the first half": lambda database: database[: len(database) // 2],
    "another head": lambda database: b"x" + database[1:],
    "a few bytes": lambda database: database[:50],
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_database_is_told_in_one_sentence(whole, tmp_path, kind):
    content = DAMAGE[kind]((whole / "course.sqlite").read_bytes())
    damaged(whole, tmp_path / "course", content)
    for command in (["list-teams"], ["backup"]):
        done = ran(command, tmp_path / "course")
        assert done.returncode == 1 and "course.sqlite" in done.stderr and len(done.stderr.splitlines()) == 1, done
        assert (tmp_path / "course" / "course.sqlite").read_bytes() == content
        assert not (tmp_path / "copy.tar").exists()
    done = pttt("course", "serve", "--data", tmp_path / "course", "--port", "0")
    assert done.returncode == 1 and "course.sqlite" in done.stderr and len(done.stderr.splitlines()) == 1, done


@pytest.fixture
def without_submissions(whole, tmp_path):
    """A course whose table of submissions is damaged, and nothing else."""
    with closing(sqlite3.connect(whole / "course.sqlite")) as database:
        page = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'submissions'").fetchone()[0]
    content = (whole / "course.sqlite").read_bytes()
    damaged(whole, tmp_path / "course", content[: (page - 1) * PAGE] + b"\xff" * PAGE + content[page * PAGE :])
    return tmp_path / "course"


@pytest.mark.parametrize("command", [["list-teams"], ["rejudge", "1"], ["remove-team", "Team 0", "--yes"], ["backup"]])
def test_a_command_that_needs_what_is_damaged_says_so(without_submissions, command):
    done = ran(command, without_submissions)
    assert done.returncode == 1 and "course.sqlite cannot be used: " in done.stderr, done
    assert len(done.stderr.splitlines()) == 1 and not (without_submissions.parent / "copy.tar").exists()


def test_a_page_that_needs_what_is_damaged_says_so(without_submissions):
    lab = Lab(without_submissions)
    for path in ("/", "/submissions", "/api/leaderboard", "/submissions/1"):
        answer = lab.client.get(path)
        assert answer.status_code == 503 and "course.sqlite cannot be used" in answer.text, (path, answer.text)
    assert lab.client.get("/livez").status_code == lab.client.get("/about").status_code == 200
    lab.close()


def test_uploads_of_another_database_are_not_swept(lab, monkeypatch, caplog):
    """A database that has been taken away or replaced by an older copy does not take the uploads with it."""
    lab.baseline()
    for n in range(20):
        file = lab.storage.upload(f"{n:032x}.zip")
        file.write_bytes(strategy_zip(0, 1))
        os.utime(file, (0, 0))
    known = [file.name for file in lab.storage.uploads.iterdir() if file.stat().st_mtime]
    assert lab.storage.sweep(known) == 0 and len(list(lab.storage.uploads.iterdir())) == 22
    assert "most uploads have no row" in caplog.text
    more = [f"{n:032x}.zip" for n in range(10)]
    assert lab.storage.sweep([*known, *more]) == 10
    assert len(list(lab.storage.uploads.iterdir())) == 12


@pytest.mark.parametrize("number", [errno.EROFS, errno.EIO])
def test_a_disk_that_takes_nothing_is_told(lab, monkeypatch, number):
    """As where the system has turned a disk read-only after errors."""

    def broken(*arguments):
        raise OSError(number, os.strerror(number))

    token = lab.team("Team A")
    with monkeypatch.context() as patch:
        patch.setattr(uploads, "Incoming", broken)
        answer = lab.post(token, 0, strategy_zip(0, 1))
    assert answer.status_code == 503 and f"disk cannot be used ({os.strerror(number)})" in answer.json()["error"]
    assert lab.post(token, 0, strategy_zip(0, 1)).status_code == 201  # once it is mended
