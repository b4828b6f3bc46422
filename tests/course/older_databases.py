"""Databases as older versions made them."""

import pytest
from sqlalchemy import Column, Float, Integer, MetaData, String, Table, create_engine
from sqlalchemy.exc import DatabaseError

from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.models import CourseTables
from pttt_ooc.course.data.storage import upload_hash
from pttt_ooc.course.data.term_tables import Assignment, LogLine
from pttt_ooc.course.grades.exports import lines
from pttt_ooc.course.grades.gradebook import settle
from pttt_ooc.course.people.invitations import link_to_sign_in
from pttt_ooc.course.people.people import find_person, team_of
from tests.course.server_kit import GAME


def make_format_1(url, names):
    """Tables with these teams, a submission of each of the first two, and the value of their match."""
    old = MetaData()
    name = Column("name", String(60), nullable=False, unique=True)
    columns = Column("id", Integer, primary_key=True), name, Column("token_hash", String(64))
    Table("teams", old, *columns, Column("created_at", Float, nullable=False))
    _without_play(old)
    for table in ("entries", "facts"):
        CourseTables.metadata.tables[table].to_metadata(old)
    old.tables["submissions"].dialect_options["sqlite"]["autoincrement"] = False
    engine = create_engine(url)
    facts = [("game", GAME), ("format", 1), ("revision", 5.5)]
    teams = [{"id": n, "name": name, "token_hash": f"hash {n}", "created_at": 1.5} for n, name in enumerate(names, 1)]
    with engine.begin() as connection:
        old.create_all(connection)
        connection.execute(old.tables["facts"].insert(), [{"name": n, "value": value} for n, value in facts])
        connection.execute(old.tables["teams"].insert(), teams)
        connection.execute(old.tables["submissions"].insert(), [_submission(n) for n in (1, 2)])
        connection.execute(old.tables["entries"].insert(), [{"first_id": 1, "second_id": 2, "value": 0.5}])
        if engine.dialect.name == "postgresql":
            for table in ("teams", "submissions"):
                connection.exec_driver_sql(f"SELECT setval('{table}_id_seq', (SELECT max(id) FROM {table}))")
    engine.dispose()


def _without_play(old):
    """The table of submissions before any could be opened for play."""
    now = CourseTables.metadata.tables["submissions"]
    columns = [column._copy() for column in now.columns if column.name not in ("open_to_play", "begun_at", "ruling")]
    Table("submissions", old, *columns, sqlite_autoincrement=True)


def _digest(content):
    hashed = upload_hash()
    hashed.update(content)
    return hashed.hexdigest()


def _submission(n):
    """Of a file whose content is an x."""
    return {
        **{"id": n, "team_id": n, "player": n - 1, "file": f"file{n}.zip", "digest": _digest(b"x"), "size": 1},
        **{"received_at": 2.5, "changed_at": 3.5, "status": "Accepted", "progress": 1.0, "note": "", "detail": ""},
        **{"attempts": 1, "exploitability": 0.5, "best": True, "improved": True, "opening": [0.25, 0.75]},
    }


LATER_TABLES = (
    *("agents", "agent_matches", "invitations", "rulings", "disqualifications", "rejudgements", "pairs", "likenesses"),
    "deliveries",
)
LATER_COLUMNS = {
    "assignments": ("settings",),
    "people": ("password_hash", "subject", "guest"),
    "teams": ("house", "roster_name", "roster_key"),
    "submissions": ("ruling",),
    "reports": ("ruling",),
}
GUESTS = {"people": ("guest",), "invitations": ("of_team",)}
TRIGGERS = {
    "sqlite": ["CREATE TRIGGER log_no_delete BEFORE DELETE ON log BEGIN SELECT RAISE(ABORT, 'append-only'); END"],
    "postgresql": [
        "CREATE OR REPLACE FUNCTION log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'append-only'; END $$",
        "CREATE TRIGGER log_is_append_only BEFORE UPDATE OR DELETE ON log FOR EACH ROW "
        "EXECUTE FUNCTION log_is_append_only()",
    ],
}


def make_format_6(url):
    """The same tables before there were guests."""
    _make_course(url, 6, (), GUESTS)


def make_format_5(url):
    """The same tables before agents could be judged again."""
    _make_course(url, 5, (), {"rejudgements": ("kind",), **GUESTS})


def make_format_4(url):
    """Tables of a course before there were agents, with a team, a student, an assignment, a mark, a line of the log."""
    _make_course(url, 4, LATER_TABLES, LATER_COLUMNS)


def _make_course(url, form, later_tables, later_columns):
    old = MetaData()
    for table in CourseTables.metadata.sorted_tables:
        later = later_columns.get(table.name, ())
        if table.name not in later_tables:
            columns = [column._copy() for column in table.columns if column.name not in later]
            Table(table.name, old, *columns, sqlite_autoincrement=table.dialect_options["sqlite"]["autoincrement"])
    dates = dict.fromkeys(("opens_at", "due_at", "closes_at", "frozen_at", "unveiled_at"))
    assignment = {"id": 3, "name": "phantom", "title": "Phantom", "kind": "strategies", "position": 0, **dates}
    assignment |= {"late_percent": 5.0, "late_days": 1, "choice": "best", "rubric": [{"name": "viva", "points": 10}]}
    assignment |= {"rule": {"kind": "rank", "points": [50.0], "rest": 0.0}, "largest_mb": None, "released": True}
    person = {"id": 2, "key": "ann@x.org", "email": "Ann@x.org", "name": "Ann", "number": "7", "role": "student"}
    decided = {"id": 1, "at": 5.5, "by": "Ada"}
    rows = {
        "facts": [{"name": "game", "value": GAME}, {"name": "format", "value": form}],
        "teams": [
            {"id": n, "name": name, "key": name.casefold(), "token_hash": None, "created_at": 1.5}
            for n, name in ((1, "Uniform"), (4, "Team A"))
        ],
        "assignments": [assignment],
        "people": [{**person, "token_hash": None, "created_at": 2.5, "removed_at": None}],
        "memberships": [{"id": 1, "person_id": 2, "team_id": 4, "joined_at": 3.5, "left_at": None}],
        "marks": [
            {**decided, "team_id": 4, "assignment_id": 3, "criterion": "viva", "points": 4.0, "comment": "Well."}
        ],
        "log": [{**decided, "what": "mark", "facts": {"team": "Team A"}}],
    }
    engine = create_engine(url)
    with engine.begin() as connection:
        old.create_all(connection)
        for name, listed in rows.items():
            filled = [{**_defaults(old.tables[name]), **row} for row in listed]
            connection.execute(old.tables[name].insert(), filled)
        for statement in TRIGGERS[engine.dialect.name]:
            connection.exec_driver_sql(statement)
        if engine.dialect.name == "postgresql":
            for name in ("teams", "assignments", "people", "memberships", "marks", "log"):
                connection.exec_driver_sql(f"SELECT setval('{name}_id_seq', (SELECT max(id) FROM {name}))")
    engine.dispose()


def _defaults(table):
    """What the versions since then write into columns that a row of format 4 does not have."""
    known = {"house": False, "roster_name": None, "roster_key": None, "settings": None}
    return {name: value for name, value in known.items() if name in table.columns}


def check_format_4(lab):
    """What became of the tables of an older version: all of it is there, and can be used."""
    with lab.database.writing() as session:
        one = session.query(Assignment).filter_by(name="phantom").one()
        person = find_person(session, "ann@x.org")
        assert (one.id, one.settings, one.released, one.rule["kind"]) == (3, None, True, "rank")
        assert (person.id, person.number, person.password_hash, person.subject) == (2, "7", None, None)
        assert team_of(session, person).name == "Team A"
        assert [line.facts for line in session.query(LogLine)] == [{"team": "Team A"}]
        session.add(
            Agent(
                team_id=4, assignment_id=3, file="a", given="a.py", digest="", size=0, received_at=0.0, changed_at=0.0
            )
        )
        link_to_sign_in(session, "Ada", person)
        settle(session, lab.data, "test")
        assert [(line.team.name, line.points) for line in lines(session) if line.points] == [("Team A", 4.0)]
    with pytest.raises(DatabaseError), lab.database.writing() as session:
        session.query(LogLine).delete()
    lab.team("Team B")
    assert lab.tokens["Team B"].startswith("5.")
