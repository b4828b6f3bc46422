"""Copies of a course that are damaged: nothing is restored of them, and nothing is overwritten."""

import re
import shutil
import sqlite3
import tarfile
from contextlib import closing

import pytest

from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.game_directory import directory_of
from pttt_ooc.course.data.settings import read_settings
from pttt_ooc.course.server.backup import write_backup
from tests.course.games_kit import OTHER, two_games
from tests.course.server_kit import GAME, Lab, pttt, rewritten, strategy_zip


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of a course with submissions, and with a database of another part."""
    directory = tmp_path_factory.mktemp("copied")
    lab = Lab(directory / "course")
    token = lab.team("Team A")
    for seed in range(2):
        lab.verdict(token, seed, strategy_zip(seed, seed))
    with closing(sqlite3.connect(lab.data / "play.sqlite")) as games, games:
        games.execute("CREATE TABLE games (id TEXT)")
        games.executemany("INSERT INTO games VALUES (?)", [(f"game {n}" * 100,) for n in range(100)])
    lab.close()
    assert pttt("course", "backup", directory / "copy.tar", "--data", lab.data).returncode == 0
    return directory / "copy.tar"


def refused(file, data):
    done = pttt("course", "restore", file, "--data", data)
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
        assert "is not a copy of a course, or is damaged" in refused(tmp_path / "cut.tar", tmp_path / "d")
    (tmp_path / "d").mkdir()  # a directory that is empty may be restored into
    (tmp_path / "whole.tar").write_bytes(copy.read_bytes()[: end + 1024])
    assert pttt("course", "restore", tmp_path / "whole.tar", "--data", tmp_path / "d").returncode == 0


@pytest.mark.parametrize("told", [False, True])
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
def test_a_copy_with_changed_bytes_is_refused(copy, tmp_path, name, at, words, told):
    with tarfile.open(copy) as archive:
        place = next(m.offset_data for m in archive.getmembers() if m.name.startswith(name)) + at
    data = bytearray(copy.read_bytes())
    data[place : place + 8] = bytes(255 - byte for byte in data[place : place + 8])
    (tmp_path / "changed.tar").write_bytes(data)
    if told:  # with the digests of what it holds now
        rewritten(tmp_path / "changed.tar", tmp_path / "told.tar", lambda name, content: content)
    sentence = refused(tmp_path / ("told.tar" if told else "changed.tar"), tmp_path / "d")
    assert words in sentence if told else (name in sentence and "has changed" in sentence)


def test_a_copy_without_digests_or_of_another_format_is_refused(copy, tmp_path):
    lost = rewritten(copy, tmp_path / "lost.tar", lambda name, content: content, digests=False)
    assert "it has no digests" in refused(lost, tmp_path / "d")

    def older(name, content):
        return re.sub(rb'("name": "format", "value": )\d+', rb"\g<1>6", content) if "tables" in name else content

    sentence = refused(rewritten(copy, tmp_path / "older.tar", older), tmp_path / "d")
    assert "older.tar has format 6, and this version reads 7 only; use it with the version that wrote it." in sentence


def test_a_copy_does_not_say_where_tables_are_written(lab, tmp_path):
    """Its settings name a database, which may be that of the course that still runs."""
    named = tmp_path / "elsewhere.sqlite"
    lab.team("Team A")
    copy = tmp_path / "copy.tar"
    settings = (lab.data / "settings.yaml").read_text()
    (lab.data / "settings.yaml").write_text(settings.replace("database_url: null", f"database_url: sqlite:///{named}"))
    other = Database.of(lab.data, f"sqlite:///{named}", GAME)
    assert write_backup(other, lab.storage, copy).digest
    other.close()
    named.unlink()
    told = refused(copy, tmp_path / "d")
    assert str(named) in told and "--database-url none" in told and not named.exists()
    done = pttt("course", "restore", copy, "--data", tmp_path / "d", "--database-url", "none")
    assert done.returncode == 0 and not named.exists() and (tmp_path / "d" / "course.sqlite").is_file()
    assert read_settings(tmp_path / "d").database_url is None
    done = pttt("course", "restore", copy, "--data", tmp_path / "e", "--database-url", f"sqlite:///{named}")
    assert done.returncode == 0 and named.is_file() and read_settings(tmp_path / "e").database_url


def test_a_refusal_does_not_show_the_databases_password(copy, tmp_path):
    url = b"postgresql+psycopg://course:secret4711@localhost/course"
    settings = {"settings.yaml": lambda content: content.replace(b"database_url: null", b"database_url: " + url)}
    there = rewritten(copy, tmp_path / "there.tar", lambda name, content: settings.get(name, bytes)(content))
    told = refused(there, tmp_path / "d")
    assert "course:***@localhost" in told and "4711" not in told


def test_a_copy_of_a_further_game_keeps_its_tables_beside_it(lab, tmp_path):
    second, named = two_games(lab, tmp_path), tmp_path / "elsewhere.sqlite"
    file = second.data / "settings.yaml"
    file.write_text(re.sub("database_url: null", f"database_url: sqlite:///{named}", file.read_text()))
    assert pttt("course", "backup", tmp_path / "copy.tar", "--data", lab.data).returncode == 0
    assert pttt("course", "restore", tmp_path / "copy.tar", "--data", tmp_path / "d").returncode == 0
    assert not named.exists() and (directory_of(tmp_path / "d", OTHER) / "course.sqlite").is_file()
    second.close()


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
