"""Databases as version 0.1 made them."""

from sqlalchemy import Column, Float, Integer, MetaData, String, Table, create_engine

from pttt_ooc.course.models import CourseTables
from pttt_ooc.course.storage import upload_hash
from tests.course.grader_kit import GAME


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
