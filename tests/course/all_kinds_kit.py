"""Shared by tests of operation: a course with all kinds of assignments, and a row in each table."""

import hashlib
import json
import sqlite3
from contextlib import closing, contextmanager
from types import SimpleNamespace

from sqlalchemy import select

from pttt_ooc.course.bots.league import League, LeagueSettings, league_directory, open_league
from pttt_ooc.course.bots.submissions import Bots, HardPositions
from pttt_ooc.course.data.models import CourseTables
from pttt_ooc.course.grades import gradebook
from pttt_ooc.other_games.extreme.tournament import Entry, settle
from tests.course.agents_kit import FIRST, LAST, judged, worker_of
from tests.course.games_kit import COURSE as TWO_GAMES
from tests.course.games_kit import two_games
from tests.course.league_kit import SANDBOX
from tests.course.server_kit import Lab
from tests.course.term_kit import upload


@contextmanager
def all_kinds(tmp_path):
    """A course with all kinds of assignments, a further game, a further league, and a row in each table."""
    lab = Lab(tmp_path / "course", openid_secret="secret.txt")
    cup = league_directory(lab.data, "cup")
    cup.mkdir(parents=True)
    (lab.data / "secret.txt").write_text("4711")
    for place in (lab.data, cup):
        open_league(place, LeagueSettings(pools=(1,), qualify=(1,), marks=(10,)))
        bots = Bots(League(place))
        bots.take_in(SimpleNamespace(id=2, name="Team A"), "team7.py", f"print({place.name!r})".encode())
        with bots.database.writing() as session:
            session.add(HardPositions(bot_id=1, team_id=2, hard="[]", trials="[]"))
        bots.close()
    (lab.data / "handed-out" / "kit").mkdir(parents=True)
    (lab.data / "handed-out" / "kit" / "evaluator.py").write_text("print('evaluator')")
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
        a_tournament(League(place))
    with lab.database.writing() as session:
        gradebook.settle(session, lab.data, "test")
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


def a_tournament(league):
    """A tournament of two bots that is over."""
    entries = [Entry(f"t{n}", f"Team {n}", "team7.py", f"# {n}, {league.data.name}".encode(), 3) for n in (2, 3)]
    settle(league.tournament, entries, league.settings.tournament)
    played = {"points": [9, 1], "winner": "P1", "message": "COMPLETE", "plies": 17, "seconds": 1.5}
    for pair in ("t2-t3", "t3-t2"):
        for folder, content in (("matches", played), ("curves", {"values": [0.5]})):
            file = league.tournament / folder / f"{league.settings.stages[0].name}-1-{pair}.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(content))
    (league.tournament / "marks.csv").write_text("team,marks\n")


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
