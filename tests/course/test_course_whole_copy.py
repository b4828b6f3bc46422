"""A copy of a course with all kinds of assignments: each file and each row is there again."""

import hashlib
import json
import sqlite3
from contextlib import closing
from fnmatch import fnmatch
from types import SimpleNamespace

import pytest
from sqlalchemy import select

from pttt_ooc.course.kinds.bots.league import League, LeagueSettings, league_directory, open_league
from pttt_ooc.course.kinds.bots.submissions import Bots, HardPositions
from pttt_ooc.course.models import CourseTables
from tests.course.agents_kit import FIRST, LAST, judged, worker_of
from tests.course.coursekit import SANDBOX
from tests.course.games_kit import COURSE as TWO_GAMES
from tests.course.games_kit import two_games
from tests.course.grader_kit import Lab, pttt
from tests.course.term_kit import upload


def run(*arguments, code=0):
    done = pttt(*arguments)
    assert done.returncode == code, done
    return done.stdout or done.stderr


@pytest.fixture
def all_kinds(tmp_path):
    """A course with all kinds of assignments, a further game, a further league, and a row in each table."""
    lab = Lab(tmp_path / "grader", openid_secret="secret.txt")
    cup = league_directory(lab.data, "cup")
    cup.mkdir(parents=True)
    (lab.data / "secret.txt").write_text("4711")
    for place in (lab.data, cup):
        open_league(place, LeagueSettings())
        bots = Bots(League(place))
        bots.hand_in(SimpleNamespace(id=2, name="Team A"), "team7.py", f"print({place.name!r})".encode())
        with bots.database.writing() as session:
            session.add(HardPositions(bot_id=1, team_id=2, hard="[]", trials="[]"))
        bots.close()
    for name in ("3-4.json", "3-4.txt.gz", "5-6.asked"):
        (lab.storage.certificates / name).write_text(name)
    with closing(sqlite3.connect(lab.data / "play.sqlite")) as games, games:
        games.execute("CREATE TABLE games (id TEXT)")
        games.execute("INSERT INTO games VALUES ('x')")
    second = two_games(lab, tmp_path, ALL_KINDS)
    for one in (lab, second):
        one.baseline()
    upload(lab, "Team A", 0, 1)
    second.verdict("Team A", 0, 1, 0.3)
    judged(lab, "Team A", FIRST)
    judged(lab, "Team B", LAST)
    assert worker_of(lab).play_next()
    with lab.database.writing() as session:
        fill_empty_tables(session, lab.storage)
    for place in (lab.data, cup):
        for name in ("tournament.json", "matches/1-1-t2-t4.json", "bots/t2.py", "curves/1-1-t2-t4.json", "marks.csv"):
            file = place / "extreme" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{place.name} {name}")
    yield lab
    second.close()
    lab.close()


ALL_KINDS = (
    TWO_GAMES
    + """
- {name: bots, kind: bots}
- {name: cup, kind: bots, settings: {league: cup}}
- {name: report, kind: report}
- name: rows
  kind: agents
  settings: {game: "mnk:3x3+need3", opponents: [random], games: 2, league: 2, sandbox: SANDBOX}
""".replace("SANDBOX", str(SANDBOX).lower())
)


def fill_empty_tables(session, storage):
    """A row in each table that has none, with a value in each column."""
    for table in CourseTables.metadata.sorted_tables:
        if session.execute(select(table)).first() is not None:
            continue
        row = {}
        for column in table.columns:
            if column.foreign_keys:
                (key,) = column.foreign_keys
                row[column.name] = session.scalars(select(key.column).order_by(key.column.desc())).first()
            else:
                row[column.name] = VALUES[type(column.type).__name__]
        if "file" in row:
            row["file"], content = f"{table.name}.zip".replace("_", ""), table.name.encode()
            storage.upload(row["file"]).write_bytes(content)
            row["digest"] = hashlib.blake2b(content, digest_size=32).hexdigest()
        if {"first_id", "second_id"} <= row.keys():
            row |= {"first_id": 1, "second_id": 2}
        session.execute(table.insert().values(row))


VALUES = {"Integer": 3, "Float": 4.25, "String": "text", "Text": "text", "Boolean": True, "JSON": {"a": [1, None]}}


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


def test_a_copy_of_all_kinds_has_each_file_and_each_row(all_kinds, tmp_path):
    lab, there = all_kinds, tmp_path / "elsewhere" / "restored"
    told = json.loads(run("course", "backup", tmp_path / "1.tar", "--json", "--data", lab.data))
    assert told["missing"] == []
    there.parent.mkdir()
    restored = json.loads(run("course", "restore", tmp_path / "1.tar", "--json", "--data", there))
    assert restored["digest"] == told["digest"]
    before, after = files_of(lab.data), files_of(there)
    assert before.keys() == after.keys() and len([name for name in before if name.endswith(".sqlite")]) == 5
    assert {"leagues/cup/extreme/matches/1-1-t2-t4.json", "certificates/3-4.txt.gz", "secret.txt"} <= before.keys()
    for name, file in before.items():
        if name.endswith(".sqlite"):
            rows = rows_of(file)
            assert rows == rows_of(after[name]), name
            assert all(rows.values()) or name.startswith("games/"), [
                table for table, found in rows.items() if not found
            ]
        else:
            assert file.read_bytes() == after[name].read_bytes(), name
    assert rows_of(before["grader.sqlite"]).keys() >= CourseTables.metadata.tables.keys() - {"sessions"}
    again = json.loads(run("course", "backup", tmp_path / "2.tar", "--json", "--data", there))
    assert again["digest"] == told["digest"]
