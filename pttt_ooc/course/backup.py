"""A copy of a grader in one tar file: settings, tables as JSON lines, uploads, own lists, and the databases of
other parts.

Other parts, such as the games that people play, have SQLite databases of their own in the grader's directory, which are
copied whole.  Gradients and the index are left out, as they can be made again; so are sessions, as the copy gets a
secret of its own.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from pttt_ooc.config import check_section
from pttt_ooc.course.database import DEFAULT, Database
from pttt_ooc.course.database_rows import FILED, TableRow, check_format, read_rows, upgraded, write_rows
from pttt_ooc.course.games.directory import FOLDER, directory_of, games_in
from pttt_ooc.course.handout import LISTS
from pttt_ooc.course.kinds.bots.league import FILE as LEAGUE
from pttt_ooc.course.kinds.bots.league import FOLDER as LEAGUES
from pttt_ooc.course.kinds.bots.league import League
from pttt_ooc.course.models import CourseTables
from pttt_ooc.course.settings import SETTINGS, CourseSettings, read_settings, settings_text
from pttt_ooc.course.storage import Storage, upload_hash
from pttt_ooc.disk.files import explained, fsync_tree, replacing
from pttt_ooc.errors import GraderError, StoreError

_TABLES, _OTHERS = "tables.jsonl", "others/"
_UPLOADED = tuple(table.__tablename__ for table in FILED)
_PAIR = ("first_id", "second_id")
_NAME = re.compile(rf"{_OTHERS}([a-z]+\.sqlite)")
_GAME = re.compile(rf"{FOLDER}/([a-z][a-z0-9-]*)\.tar")
_LEAGUE = re.compile(rf"{LEAGUES}/[a-z][a-z0-9-]*/({re.escape(LEAGUE)}|extreme\.sqlite)")
_END = bytes(2 * tarfile.BLOCKSIZE)
_LOCK_SECONDS = 30.0  # seconds that another writer is waited for
_DAMAGE = (
    tarfile.TarError,
    sqlite3.Error,
    SQLAlchemyError,
    AttributeError,
    IndexError,
    KeyError,
    StopIteration,
    TypeError,
    ValueError,
    EOFError,
)


def write_backup(database: Database, storage: Storage, file: Path) -> int:
    """Write a copy; returns the number of its submissions.  Submissions received meanwhile are not in it.

    Raises
    ------
    StoreError
        If it cannot be written.
    """
    # One transaction, so that all tables are of the same moment; whole uploads never change.
    with database.reading() as session:
        rows = read_rows(session)
    with replacing(file) as temporary, tarfile.open(temporary, "w") as archive:
        _add(archive, SETTINGS, (storage.data / SETTINGS).read_bytes())
        lost = set()
        for table, row in [(table, row) for table, row in rows if table in _UPLOADED]:
            try:
                archive.add(storage.upload(row["file"]), f"uploads/{row['file']}", recursive=False)
            except FileNotFoundError:  # its team was removed meanwhile
                lost.add((table, row["id"]))
        complete = [[table, row] for table, row in rows if not lost & _uploads_of(table, row)]
        _add(archive, _TABLES, "".join(f"{json.dumps(row)}\n" for row in complete).encode())
        for player, order in enumerate(read_settings(storage.data).orders(storage.data)):
            if order is not None:
                archive.add(order, f"{_OTHERS}{LISTS[player]}", recursive=False)
        for other in _others(database, storage):
            _add(archive, f"{_OTHERS}{other.name}", _content_of(other))
        for league in sorted((storage.data / LEAGUES).glob(f"*/{LEAGUE}")):
            _add(archive, f"{LEAGUES}/{league.parent.name}/{LEAGUE}", league.read_bytes())
            if (bots := League(league.parent).database).is_file():
                _add(archive, f"{LEAGUES}/{league.parent.name}/{bots.name}", _content_of(bots))
        for game in games_in(storage.data):
            _add_game(archive, storage.data, game, file)
    return sum(table == "submissions" for table, _ in complete)


def _add_game(archive: tarfile.TarFile, data: Path, game: str, file: Path) -> None:
    """Add a copy of a further game, which is a file of the same form, made beside `file`."""
    directory, copy = directory_of(data, game), file.with_name(f"{file.name}.{game}")
    with closing(Database.of(directory, None, game)) as database:
        try:
            write_backup(database, Storage(directory), copy)
            archive.add(copy, f"{FOLDER}/{game}.tar", recursive=False)
        finally:
            copy.unlink(missing_ok=True)


def _others(database: Database, storage: Storage) -> list[Path]:
    """The databases of other parts."""
    own = {DEFAULT, *(file.name for file in database.files())}
    return sorted(file for file in storage.data.glob("*.sqlite") if file.name not in own)


def _content_of(file: Path) -> bytes:
    """The content of an SQLite database between two transactions; other processes may go on writing."""
    try:
        with (
            closing(sqlite3.connect(file, timeout=_LOCK_SECONDS)) as source,
            closing(sqlite3.connect(":memory:")) as copy,
        ):
            source.backup(copy)
            return copy.serialize()
    except sqlite3.Error as error:
        raise StoreError(f"{file} cannot be copied: {error}; move it away to copy the rest.") from error


def _uploads_of(table: str, row: dict[str, Any]) -> set[tuple[str, int]]:
    """The uploads that a row is about: their tables and numbers."""
    of, names = {"entries": ("submissions", _PAIR), "agent_matches": ("agents", _PAIR)}.get(table, (table, ("id",)))
    return {(of, row[name]) for name in names if of in _UPLOADED}


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), 0o600
    archive.addfile(member, io.BytesIO(content))


def read_backup(file: Path, data: Path, database_url: str | None = None) -> int:
    """Make a grader in `data` from a copy; returns the number of its submissions.

    Parameters
    ----------
    database_url
        Database for the tables; None: the one in the copy's settings.

    Raises
    ------
    GraderError
        If `data` is not empty, or the file is no copy.
    """
    if data.exists() and any(data.iterdir()):
        raise GraderError(f"{data} is not empty; restore into a new directory, and nothing is overwritten.")
    if not file.is_file():
        raise GraderError(f"{file}: There is no such file.")
    aside = data.with_name(data.name + ".wip")
    if aside.exists():
        shutil.rmtree(aside)
    with explained(f"restore into {data}"):
        try:
            count = _unpack(file, aside, database_url)
            fsync_tree(aside)
            if data.exists():
                data.rmdir()
            aside.rename(data)
        except _DAMAGE as error:
            raise GraderError(f"{file} is not a copy of a grader, or is damaged ({error}).") from error
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    return count


def _unpack(file: Path, aside: Path, database_url: str | None) -> int:
    aside.mkdir(parents=True)
    with tarfile.open(file, "r:") as archive:
        members = {member.name: member for member in archive.getmembers()}
        _check_end(file, archive)
        (aside / SETTINGS).write_bytes(_content(archive, members[SETTINGS]).read())
        settings, storage = read_settings(aside), Storage(aside)
        changes = {} if database_url is None else {"database_url": database_url}
        for player, order in enumerate(settings.orders(aside)):
            if order is not None:  # the copy's own file, wherever the original was
                changes[f"infosets_{player}"] = LISTS[player]
                member = members[f"{_OTHERS}{LISTS[player]}"]
                with _content(archive, member) as source, open(aside / LISTS[player], "xb") as target:
                    shutil.copyfileobj(source, target)
        if changes:
            content = {**settings.model_dump(mode="json"), **changes}
            settings = check_section(CourseSettings, content, "--database-url")
            (aside / SETTINGS).write_text(settings_text(settings), encoding="utf-8")
        rows = [json.loads(line) for line in _content(archive, members[_TABLES])]
        form = next(row["value"] for table, row in rows if table == "facts" and row["name"] == "format")
        check_format(form, str(file))
        rows = upgraded(rows, form)
        for row in [row for table, row in rows if table in _UPLOADED]:
            _restore_upload(archive, members, row, storage)
        for name, member in members.items():
            if named := _NAME.fullmatch(name):
                with _content(archive, member) as source, open(aside / named[1], "xb") as target:
                    shutil.copyfileobj(source, target)
                _check_database(aside / named[1])
            if _LEAGUE.fullmatch(name):
                (aside / name).parent.mkdir(parents=True, exist_ok=True)
                with _content(archive, member) as source, open(aside / name, "xb") as target:
                    shutil.copyfileobj(source, target)
            if of_game := _GAME.fullmatch(name):
                _restore_game(archive, member, of_game[1], aside)
        database = Database.of(aside, settings.database_url, settings.game)
        try:
            _insert(database, rows)
        finally:
            database.close()
    return sum(table == "submissions" for table, _ in rows)


def _restore_game(archive: tarfile.TarFile, member: tarfile.TarInfo, game: str, aside: Path) -> None:
    directory = directory_of(aside, game)
    directory.parent.mkdir(exist_ok=True)
    copy = directory.with_name(f"{game}.tar")
    with _content(archive, member) as source, open(copy, "xb") as target:
        shutil.copyfileobj(source, target)
    read_backup(copy, directory)
    copy.unlink()


def _check_end(file: Path, archive: tarfile.TarFile) -> None:
    """Raise a ValueError if a tar file has no end: `tarfile` reads one that is cut off between two members as whole."""
    last = archive.getmembers()[-1]
    with open(file, "rb") as copy:
        copy.seek(last.offset_data + -(-last.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE)
        if copy.read(len(_END)) != _END:
            raise ValueError("it is cut off")


def _restore_upload(
    archive: tarfile.TarFile, members: dict[str, tarfile.TarInfo], row: dict[str, Any], storage: Storage
) -> None:
    # Names of members are not trusted: the row's name must have the form of the server's names.
    if not row["file"].removesuffix(".zip").isalnum():
        raise ValueError(f"{row['file']!r} is no name of an upload")
    target = storage.upload(row["file"])
    with _content(archive, members[f"uploads/{row['file']}"]) as source, open(target, "x+b") as copy:
        shutil.copyfileobj(source, copy)
        copy.seek(0)
        if hashlib.file_digest(copy, upload_hash).hexdigest() != row["digest"]:
            raise ValueError(f"the file of submission {row['id']} has changed")


def _check_database(file: Path) -> None:
    with closing(sqlite3.connect(file)) as database:
        message = database.execute("PRAGMA quick_check").fetchone()[0]
    if message != "ok":
        raise ValueError(f"{file.name}: {message}")


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Any:
    content = archive.extractfile(member) if member.isreg() else None
    if content is None:
        raise ValueError(f"{member.name} is no file")
    return content


def _insert(database: Database, rows: list[TableRow]) -> None:
    tables = CourseTables.metadata.tables
    with database.writing() as session:
        if session.execute(select(tables["teams"].c.id)).first() is not None:
            raise GraderError("The database that the settings name already holds teams; empty it first.")
        session.execute(tables["facts"].delete())
        write_rows(session, rows)
