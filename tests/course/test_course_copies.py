"""Copies of a grader that are damaged: nothing is restored of them, and nothing is overwritten."""

import shutil
import sqlite3
import tarfile
from contextlib import closing

import pytest

from tests.course.grader_kit import Lab, pttt, strategy_zip


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of a grader with submissions, and with a database of another part."""
    directory = tmp_path_factory.mktemp("copied")
    lab = Lab(directory / "grader")
    token = lab.team("Team A")
    for seed in range(2):
        lab.verdict(token, seed, strategy_zip(seed, seed))
    with closing(sqlite3.connect(lab.data / "play.sqlite")) as games, games:
        games.execute("CREATE TABLE games (id TEXT)")
        games.executemany("INSERT INTO games VALUES (?)", [(f"game {n}" * 100,) for n in range(100)])
    lab.close()
    assert pttt("grader", "backup", directory / "copy.tar", "--data", lab.data).returncode == 0
    return directory / "copy.tar"


def refused(file, data):
    done = pttt("grader", "restore", file, "--data", data)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1 and not done.stdout, done
    assert not data.exists() or not list(data.iterdir())
    assert not data.with_name(f"{data.name}.wip").exists()
    return done.stderr


def test_a_copy_that_is_cut_off_anywhere_is_refused(copy, tmp_path):
    with tarfile.open(copy) as archive:
        members = archive.getmembers()
    last = members[-1]
    end = last.offset_data + -(-last.size // 512) * 512  # two empty blocks follow
    cuts = {member.offset for member in members} | {100, last.offset_data + last.size // 2, end, end + 1023}
    for cut in sorted(cuts):
        (tmp_path / "cut.tar").write_bytes(copy.read_bytes()[:cut])
        assert "is not a copy of a grader, or is damaged" in refused(tmp_path / "cut.tar", tmp_path / "d")
    (tmp_path / "d").mkdir()  # a directory that is empty may be restored into
    (tmp_path / "whole.tar").write_bytes(copy.read_bytes()[: end + 1024])
    assert pttt("grader", "restore", tmp_path / "whole.tar", "--data", tmp_path / "d").returncode == 0


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize(
    "name, at, words",
    [
        ("uploads/", 100, "the file of submission"),
        ("others/play.sqlite", 4096, "malformed"),
        ("others/play.sqlite", 3, "not a database"),
        ("tables.jsonl", 5, "damaged"),
        ("settings.yaml", 0, "settings"),
    ],
)
def test_a_copy_with_changed_bytes_is_refused(copy, tmp_path, name, at, words, older):
    if older:
        copy = without_digests(copy, tmp_path / "older.tar")
    with tarfile.open(copy) as archive:
        place = next(m.offset_data for m in archive.getmembers() if m.name.startswith(name)) + at
    data = bytearray(copy.read_bytes())
    data[place : place + 8] = bytes(255 - byte for byte in data[place : place + 8])
    (tmp_path / "changed.tar").write_bytes(data)
    told = refused(tmp_path / "changed.tar", tmp_path / "d")
    assert words in told if older else (name in told and "has changed" in told)


def without_digests(copy, file):
    """The copy as an older version would have written it."""
    with tarfile.open(copy) as archive, tarfile.open(file, "w") as made:
        for member in archive.getmembers():
            if member.name != "digests.json":
                made.addfile(member, archive.extractfile(member))
    return file


@pytest.mark.parametrize(
    "line", ["[]", "3", '["teams", null]', '["teams", {"id": "x"}]', '["nothing", {}]', '["teams"]']
)
def test_a_copy_with_odd_rows_is_refused(copy, tmp_path, line):
    shutil.copy(copy, tmp_path / "odd.tar")
    odd = tmp_path / "tables.jsonl"
    with tarfile.open(copy) as archive:
        odd.write_bytes(archive.extractfile("tables.jsonl").read() + line.encode() + b"\n")
    with tarfile.open(tmp_path / "odd.tar", "a") as archive:
        archive.add(odd, "tables.jsonl")
    refused(tmp_path / "odd.tar", tmp_path / "d")
