"""`pttt course doctor` on damaged courses: a sentence for each damage, and never a traceback."""

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from pttt_ooc.course.grades import checkup
from pttt_ooc.course.grades.diagnosis import diagnosis
from pttt_ooc.errors import PtttError
from tests.course.server_kit import pttt

MADE_AGAIN = ("gradients", "samples", "curves", "certificates", "index", "marks.csv", "incoming", "handed-out")
"""Directories and files that the server makes again, or that may have any content."""


@pytest.fixture(scope="module")
def told_before(whole):
    """What the doctor says of it, as nobody serves it."""
    told = diagnosis(whole, digests=True)
    assert told and all(one.startswith("No worker ") for one in told)
    return told


@pytest.fixture
def data(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "course")
    return tmp_path / "course"


def doctor(data, *more):
    """Its sentences; a traceback would be an error here."""
    done = pttt("course", "doctor", "--digests", *more, "--data", data)
    assert done.returncode == 1, done
    lines = [*done.stdout.splitlines(), *done.stderr.splitlines()]
    assert lines and not any(line[0].islower() for line in lines), lines
    assert all(line.endswith((".", ")")) and len(line) < 500 for line in lines), lines
    return lines


def swap(path, kind):
    content = path.read_bytes() if path.is_file() else b""
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    if kind == "garbage":
        path.write_bytes(b"\xff\x00{" * 700)
    elif kind == "half":
        path.write_bytes(content[: len(content) // 2])
    elif kind == "directory":
        path.mkdir()
    elif kind == "file":
        path.write_bytes(b"")


def each(whole, wanted):
    return [path for path in sorted(whole.rglob("*")) if wanted(path)]


@pytest.mark.slow
@pytest.mark.long_but("garbage")
@pytest.mark.parametrize("kind", ["garbage", "directory", "half", "missing"])
def test_each_file_is_damaged_in_turn(whole, told_before, tmp_path, kind):
    silent = []
    for path in each(whole, Path.is_file):
        name = path.relative_to(whole)
        if not {"gradients", "samples"}.isdisjoint(name.parts) and path.name != "zarr.json":
            continue
        shutil.copytree(whole, tmp_path / "course")
        swap(tmp_path / "course" / name, kind)
        told = set(doctor(tmp_path / "course")) - set(told_before)
        shutil.rmtree(tmp_path / "course")
        if not told and set(MADE_AGAIN).isdisjoint(name.parts):
            silent.append(str(name))
    # Half of a text may be whole settings; a match that is missing is played again, a key or a database made anew.
    harmless = {
        "garbage": ["secret"],
        "half": ["secret", "secret.txt", "settings.yaml", "extreme.yaml"],
        "missing": ["secret", "play.sqlite", "final-1-t2-t3.json", "final-1-t3-t2.json"],
    }
    assert [name for name in silent if Path(name).name not in harmless.get(kind, [])] == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["missing", "file"])
def test_each_folder_is_damaged_in_turn(whole, told_before, tmp_path, kind):
    for path in each(whole, Path.is_dir):
        name = path.relative_to(whole)
        if any(part.endswith(".zarr") for part in name.parts):
            continue
        shutil.copytree(whole, tmp_path / "course")
        swap(tmp_path / "course" / name, kind)
        told = doctor(tmp_path / "course")
        shutil.rmtree(tmp_path / "course")
        if name.name == "uploads" or (kind == "file" and "handed-out" not in name.parts):
            assert any(one not in told_before for one in told), (name, told)


def test_a_damaged_tournament_is_told_with_its_file(data):
    facts = data / "leagues" / "cup" / "extreme" / "tournament.json"
    facts.write_text("{")
    assert any(str(facts) in one and "cannot be read" in one for one in doctor(data))
    facts.write_text("[]")
    assert any(str(facts) in one and "no object of JSON" in one for one in doctor(data))
    facts.unlink()
    assert any(f"{facts} is missing" in one for one in doctor(data))


def test_a_bot_of_a_tournament_that_has_changed_is_told(data):
    bot = data / "extreme" / "bots" / "t2.py"
    bot.write_text("other")
    assert any(f"{bot} has changed since the tournament began" in one for one in doctor(data))


def test_a_truncated_database_and_a_missing_one_are_told(data):
    file = data / "course.sqlite"
    content = file.read_bytes()
    file.write_bytes(content[: len(content) * 2 // 3])
    assert doctor(data)[0].startswith(f"The database {file} is damaged (")
    file.unlink()
    assert doctor(data) == [f"The database {file} is missing; restore a backup into a new directory."]
    assert not file.exists()


def test_values_that_no_version_writes_are_told(data):
    with closing(sqlite3.connect(data / "course.sqlite")) as database, database:
        database.execute("UPDATE assignments SET settings = 'no JSON' WHERE name = 'rows'")
        database.execute("UPDATE grades SET facts = '[]'")
    told = doctor(data)
    assert any("damaged" in one and "JSONDecodeError" in one for one in told)


def test_what_nobody_foresaw_of_one_check_leaves_the_others(data, monkeypatch):
    def broken(session):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(checkup, "_clock", broken)
    told = doctor(data)
    assert any(one.startswith("The clock cannot be looked at") for one in told)
    assert any("No worker judges agents" in one for one in told)


@contextmanager
def somebody_else():
    """Not the superuser, who may read everything."""
    if os.geteuid():
        yield
        return
    os.setegid(65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["settings.yaml", "course.sqlite", "extreme.yaml", "extreme", "uploads", "games", "."])
def test_wrong_permissions_are_told(whole, told_before, name):
    with tempfile.TemporaryDirectory() as directory:
        data = Path(directory) / "course"
        shutil.copytree(whole, data)
        if not os.geteuid():
            os.chmod(directory, 0o711)
            for path in (data, *data.rglob("*")):
                os.chown(path, 65534, 65534)
        (data / name).chmod(0)
        with somebody_else():
            try:
                told = diagnosis(data, digests=True)
            except PtttError as error:
                told = [str(error)]
        (data / name).chmod(0o700)
        assert [one for one in told if "ermission denied" in one or "unable to open" in one or "cannot be" in one], told


def test_where_there_is_no_course_the_doctor_says_so(tmp_path):
    for place in (tmp_path, tmp_path / "nowhere"):
        done = pttt("course", "doctor", "--data", place)
        assert done.returncode == 1 and "There is no course in" in done.stderr and not done.stdout
