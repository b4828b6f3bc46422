"""An upgrade of a course from the version before, one that breaks off, and the way back, on both stores."""

import json
import shutil
import tarfile

import pytest
from sqlalchemy import MetaData, create_engine, func, select

from pttt_ooc.course.data import database as databases
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.database_rows import FORMAT
from pttt_ooc.course.data.models import CourseTables
from pttt_ooc.course.data.settings import SETTINGS
from pttt_ooc.errors import CourseError
from tests.course.older_databases import _digest, check_format_4, make_format_6
from tests.course.server_kit import GAME, Lab, make_settings, pttt, strategy_zip
from tests.course.test_course_postgres import cluster, empty_database, program  # noqa: F401  a fixture


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, tmp_path):
    """A function that gives the URL of an empty database."""
    if request.param == "postgresql" and program("initdb") is None:
        pytest.skip("there is no PostgreSQL (Debian: postgresql)")

    def empty(name):
        if request.param == "sqlite":
            return f"sqlite:///{tmp_path / name}.sqlite"
        return empty_database(request.getfixturevalue("cluster"), f"{name}_{tmp_path.name}".lower()[:60])

    return empty


def rows_of(url):
    """All rows of all tables, and the columns of each, as they are."""
    engine, there = create_engine(url), MetaData()
    there.reflect(engine)
    with engine.connect() as connection:
        found = {
            name: (sorted(table.columns.keys()), sorted(repr(tuple(row)) for row in connection.execute(select(table))))
            for name, table in there.tables.items()
            if name != "sqlite_sequence"
        }
    engine.dispose()
    return found


def copy_by_the_version_before(url, file):
    """A copy as the version before wrote it."""
    engine, there = create_engine(url), MetaData()
    there.reflect(engine)
    lines = []
    with engine.connect() as connection:
        highest = {}
        for name in (table.name for table in CourseTables.metadata.sorted_tables):
            if name == "sessions" or name not in there.tables:
                continue
            table = there.tables[name]
            lines += [[table.name, dict(row)] for row in connection.execute(select(table)).mappings()]
            if table.name in ("teams", "submissions"):
                highest[table.name] = connection.scalar(select(func.max(table.c.id))) or 0
    engine.dispose()
    lines.append(["numbers", highest])
    place = file.parent / "members"
    make_settings(place)
    (place / "tables.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    names = [SETTINGS, "tables.jsonl"]
    (place / "digests.json").write_text(json.dumps({name: _digest((place / name).read_bytes()) for name in names}))
    with tarfile.open(file, "w") as archive:
        for name in (*names, "digests.json"):
            archive.add(place / name, name)


@pytest.mark.slow
def test_a_course_is_upgraded_works_and_goes_back(store, tmp_path, capfd):
    url = store("course")
    make_format_6(url)
    before = rows_of(url)
    copy_by_the_version_before(url, tmp_path / "before.tar")

    lab = Lab(tmp_path / "course", database_url=url)
    told = capfd.readouterr().err
    assert f"is upgraded from format {FORMAT - 1} to {FORMAT}" in told
    check_format_4(lab)
    assert lab.submit(lab.tokens["Team B"], 0, strategy_zip(0, 1)) == 1
    lab.run()
    assert lab.client.get("/api/submissions/1").json()["status"] == "Accepted"
    lab.close()
    assert rows_of(url) != before

    if url.startswith("sqlite"):  # the way back of docs/course.md: the kept file in the place of the database
        file = tmp_path / "course.sqlite"
        kept = file.with_name("course.sqlite.format-6")
        assert str(kept) in told
        for left in (f"{file}-wal", f"{file}-shm"):
            (tmp_path / left).unlink(missing_ok=True)
        shutil.copy(kept, file)
        assert rows_of(url) == before  # what the version before left, in its own tables
        again = Lab(tmp_path / "later", database_url=url)
        check_format_4(again)
        again.close()
    else:
        assert "As it was" not in told
    there, data = store("restored"), tmp_path / "restored"  # of a copy that the version before made
    done = pttt("course", "restore", tmp_path / "before.tar", "--data", data, "--database-url", there)
    assert done.returncode == 0, done.stderr
    restored = Lab(data, database_url=there)
    check_format_4(restored)
    restored.close()


@pytest.mark.slow
def test_an_upgrade_that_breaks_off_leaves_the_older_database(store, monkeypatch):
    url = store("broken")
    make_format_6(url)
    before = rows_of(url)

    def breaks_off(session, rows):
        raise CourseError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(databases, "write_rows", breaks_off)
        with pytest.raises(CourseError, match="killed"):
            Database(url, GAME)
    assert rows_of(url) == before
    Database(url, GAME).close()
    assert rows_of(url) != before
