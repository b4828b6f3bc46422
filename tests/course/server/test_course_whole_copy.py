"""A copy of a course with all kinds of assignments: each file and each row is there again."""

import json
import sqlite3
from contextlib import closing
from fnmatch import fnmatch

import pytest

from pttt_ooc.course.data.models import CourseTables
from tests.course.server_kit import pttt


def run(*arguments, code=0):
    done = pttt(*arguments)
    assert done.returncode == code, done
    return done.stdout or done.stderr


def rows_of(file, without=("sessions", "sqlite_sequence")):
    """All rows of all tables of an SQLite database."""
    with closing(sqlite3.connect(file)) as database:
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: database.execute(f"SELECT * FROM {name}").fetchall() for name in names if name not in without}


MADE_AGAIN = ("secret", "serve.lock", "worker.*", "starter-kit.*", "*.sqlite-wal", "*.sqlite-shm", "index", "gradients")


def files_of(data):
    """All files but those that are made again."""
    files = [file for file in data.rglob("*") if file.is_file()]
    return {
        str(file.relative_to(data)): file
        for file in files
        if not any(fnmatch(part, one) for part in file.relative_to(data).parts for one in (*MADE_AGAIN, "samples"))
    }


@pytest.mark.slow
def test_a_copy_of_all_kinds_has_each_file_and_each_row(whole, tmp_path):
    there = tmp_path / "elsewhere" / "restored"
    told = json.loads(run("course", "backup", tmp_path / "1.tar", "--json", "--data", whole))
    assert told["missing"] == []
    there.parent.mkdir()
    restored = json.loads(run("course", "restore", tmp_path / "1.tar", "--json", "--data", there))
    assert restored["digest"] == told["digest"]
    before, after = files_of(whole), files_of(there)
    assert before.keys() == after.keys() and len([name for name in before if name.endswith(".sqlite")]) == 5
    assert {
        "leagues/cup/extreme/matches/final-1-t2-t3.json",
        "certificates/3-4.txt.gz",
        "secret.txt",
        "handed-out/kit/evaluator.py",
    } <= before.keys()
    for name, file in before.items():
        if name.endswith(".sqlite"):
            rows = rows_of(file)
            assert rows == rows_of(after[name]), name
            assert all(rows.values()) or name.startswith("games/"), [
                table for table, found in rows.items() if not found
            ]
        else:
            assert file.read_bytes() == after[name].read_bytes(), name
    assert rows_of(before["course.sqlite"]).keys() >= CourseTables.metadata.tables.keys() - {"sessions"}
    again = json.loads(run("course", "backup", tmp_path / "2.tar", "--json", "--data", there))
    assert again["digest"] == told["digest"]
