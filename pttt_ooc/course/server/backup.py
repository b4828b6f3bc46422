"""A copy of a course in one tar file: settings, tables as JSON lines, uploads, own lists, certificates, leagues with
their tournaments, further games, and the databases of other parts.

Other parts, such as the games that people play, have SQLite databases of their own in the course's directory, which are
copied whole.  Gradients, the index and practice matches are left out, as they can be made again; so are sessions, as
the copy gets a secret of its own.  The last member of the tar file has the digests of all others: restoring checks
each of them, and then the tables that it has written.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import sqlite3
import tarfile
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import make_url, select
from sqlalchemy.exc import SQLAlchemyError

from pttt_ooc.config import check_section
from pttt_ooc.course.bots.league import FILE as LEAGUE
from pttt_ooc.course.bots.league import FOLDER as LEAGUES
from pttt_ooc.course.bots.league import TOURNAMENT, League
from pttt_ooc.course.data.database import (
    DEFAULT,
    FILED,
    NUMBERS,
    Database,
    TableRow,
    check_format,
    read_rows,
    write_rows,
)
from pttt_ooc.course.data.game_directory import FOLDER, directory_of, games_in
from pttt_ooc.course.data.models import CourseTables
from pttt_ooc.course.data.settings import SETTINGS, CourseSettings, read_settings, settings_text
from pttt_ooc.course.data.storage import LISTS, Storage, upload_hash
from pttt_ooc.course.grades.similarity import FOLDER as HANDED_OUT
from pttt_ooc.disk.files import explain_errors, fsync_tree, replacing
from pttt_ooc.errors import CourseError, StoreError

OWN = "none"
"""Stands for a file of the course's own, in place of the address of a database."""

_TABLES, _OTHERS, _DIGESTS = "tables.jsonl", "others/", "digests.json"
_UPLOADED = {table.__tablename__: table for table in FILED}  # tables whose rows have a file
_PAIR = ("first_id", "second_id")
_ABOUT = {  # tables whose rows are about uploads of other tables, and the columns with their numbers
    "entries": ("submissions", _PAIR),
    "pairs": ("submissions", _PAIR),
    "likenesses": ("submissions", ("submission", "other")),
    "agent_matches": ("agents", _PAIR),
}
_TEXT = re.compile(r"[a-z]+\.yaml")
_NAME = re.compile(rf"{_OTHERS}([a-z]+\.sqlite)")
_PLAYED = re.compile(rf"{TOURNAMENT}(/[A-Za-z0-9_-]+)*/[A-Za-z0-9_-][A-Za-z0-9_.-]*")  # no path leads elsewhere
_HANDED_OUT = re.compile(rf"{HANDED_OUT}(/[A-Za-z0-9_-]+)*/[A-Za-z0-9_-][A-Za-z0-9_.-]*\.py")
_PROVEN = re.compile(r"certificates/\d+-\d+\.(json|txt\.gz|asked)")
_SECRET = "openid-secret"
_GAME = re.compile(rf"{FOLDER}/([a-z][a-z0-9-]*)\.tar")
_LEAGUE = re.compile(rf"{LEAGUES}/[a-z][a-z0-9-]*/({re.escape(LEAGUE)}|extreme\.sqlite|{_PLAYED.pattern})")
_FILES = (_TEXT, _HANDED_OUT, _PLAYED, _LEAGUE, _PROVEN)
_END = bytes(2 * tarfile.BLOCKSIZE)
_LOCK_SECONDS = 30.0  # seconds to wait for another writer
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


@dataclass(frozen=True)
class Copy:
    """What a copy holds.

    Attributes
    ----------
    submissions
        Number of its submissions of strategies.
    digest
        Identifies its content: copies with equal digests have equal files and tables.
    missing
        A sentence for each file that should be in it and is not.
    """

    submissions: int
    digest: str
    missing: tuple[str, ...] = ()


class _Archive:
    """A tar file that is being written, and the digests of its members."""

    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive
        self.digests: dict[str, str] = {}

    def add(self, name: str, content: bytes) -> None:
        """Add a member."""
        member = tarfile.TarInfo(name)
        member.size, member.mode = len(content), 0o600
        self._archive.addfile(member, io.BytesIO(content))
        self.digests[name] = _digest(content)

    def add_file(self, name: str, file: Path, expected: str | None = None) -> bool:
        """Add a file, unless its content has another digest than expected; returns whether it was added."""
        with open(file, "rb") as source:
            digest = hashlib.file_digest(source, upload_hash).hexdigest()
            if expected not in (None, digest):
                return False
            source.seek(0)
            member = self._archive.gettarinfo(arcname=name, fileobj=source)
            member.uid = member.gid = member.mtime = 0  # equal contents make equal files
            member.mode = 0o600
            member.uname = member.gname = ""
            self._archive.addfile(member, source)
        self.digests[name] = digest
        return True

    def close(self) -> str:
        """Add the digests; returns the digest of all."""
        content = (json.dumps(self.digests, sort_keys=True, indent=1) + "\n").encode()
        self.add(_DIGESTS, content)
        return _digest(content)


def _digest(content: bytes) -> str:
    hashed = upload_hash()
    hashed.update(content)
    return hashed.hexdigest()


def write_backup(database: Database, storage: Storage, file: Path) -> Copy:
    """Write a copy.  Submissions received meanwhile are not in it.

    Files that are lost or damaged are left out with their rows, and reported.

    Raises
    ------
    StoreError
        If it cannot be written.
    """
    # One transaction, so that all tables are of the same moment; whole uploads never change.
    with database.reading() as session:
        rows = read_rows(session)
    with replacing(file) as temporary, tarfile.open(temporary, "w") as opened:
        archive, lost = _Archive(opened), {}
        archive.add(SETTINGS, (storage.data / SETTINGS).read_bytes())
        # Uploads, each compared with its digest.  One that is lost or has changed does not stop the copy.
        for table, row in [(table, row) for table, row in rows if table in _UPLOADED]:
            try:
                whole = archive.add_file(f"uploads/{row['file']}", storage.upload(row["file"]), row["digest"])
                if not whole:
                    lost[table, row["id"]] = "has changed since it was received"
            except FileNotFoundError:
                lost[table, row["id"]] = "is lost"
        # Tables, without rows that are about a lost upload, so that what is restored fits together.
        complete = [[table, row] for table, row in rows if not lost.keys() & _uploads_of(table, row)]
        archive.add(_TABLES, _lines(complete))
        # Beside the tables: own lists of infosets, databases of other parts, course.yaml, own code, the tournament,
        # certificates, and the secret of OpenID Connect, if it is in the directory.
        for player, order in enumerate(read_settings(storage.data).orders(storage.data)):
            if order is not None:
                archive.add_file(f"{_OTHERS}{LISTS[player]}", order)
        for other in _others(database, storage):
            archive.add(f"{_OTHERS}{other.name}", _content_of(other))
        for name in _texts(storage.data):
            archive.add_file(name, storage.data / name)
        for file_proven in sorted(storage.certificates.iterdir()):
            if _PROVEN.fullmatch(name := f"certificates/{file_proven.name}"):
                with suppress(FileNotFoundError):  # the worker deletes those of a former best
                    archive.add_file(name, file_proven)
        if (secret := _secret_of(storage.data)) is not None and secret.is_file():
            archive.add_file(f"{_OTHERS}{_SECRET}", secret)
        # Further leagues with their bots and tournaments; further games, each a copy within the copy.
        for league in sorted((storage.data / LEAGUES).glob(f"*/{LEAGUE}")):
            place = f"{LEAGUES}/{league.parent.name}"
            archive.add_file(f"{place}/{LEAGUE}", league)
            if (bots := League(league.parent).database).is_file():
                archive.add(f"{place}/{bots.name}", _content_of(bots))
            for name in _tournament_files(league.parent):
                archive.add_file(f"{place}/{name}", league.parent / name)
        for game in games_in(storage.data):
            _add_game(archive, storage.data, game, file)
        # Last come the digests of all members, which restoring compares.
        digest = archive.close()
    count = sum(table == "submissions" for table, _ in complete)
    return Copy(count, digest, tuple(_describe_lost(database, lost)))


def _describe_lost(database: Database, lost: Mapping[tuple[str, int], str]) -> list[str]:
    """A sentence for each lost file; none for those whose team was removed meanwhile."""
    if not lost:
        return []
    with database.reading() as session:
        return [
            f"The file of {table.removesuffix('s')} {number} {what}, so that it is not in the copy; restore it from an "
            "older one."
            for (table, number), what in lost.items()
            if session.get(_UPLOADED[table], number) is not None
        ]


def _lines(rows: Iterable[Any]) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def _texts(data: Path) -> list[str]:
    """Names of the course's file, the settings of other kinds, its own code, and the files of the tournament."""
    texts = sorted(file.name for file in data.glob("*.yaml") if _TEXT.fullmatch(file.name) and file.name != SETTINGS)
    code = sorted(str(file.relative_to(data)) for file in (data / HANDED_OUT).rglob("*.py") if file.is_file())
    return [*texts, *(name for name in code if _HANDED_OUT.fullmatch(name)), *_tournament_files(data)]


def _tournament_files(data: Path) -> list[str]:
    """Names of the files of a league's tournament."""
    files = sorted(str(file.relative_to(data)) for file in (data / TOURNAMENT).rglob("*") if file.is_file())
    return [name for name in files if _PLAYED.fullmatch(name) and not name.endswith(".tmp")]


def _secret_of(data: Path) -> Path | None:
    """The file with the secret of OpenID Connect, if it is in this directory."""
    name = read_settings(data).openid_secret
    return data / name if name is not None and Path(name).name == name else None


def _add_game(archive: _Archive, data: Path, game: str, file: Path) -> None:
    """Add a copy of a further game, which is a file of the same form, made beside `file`."""
    directory, copy = directory_of(data, game), file.with_name(f"{file.name}.{game}")
    with closing(Database.of(directory, None, game)) as database:
        try:
            write_backup(database, Storage(directory), copy)
            archive.add_file(f"{FOLDER}/{game}.tar", copy)
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
    of, names = _ABOUT.get(table, (table, ("id",)))
    return {(of, row[name]) for name in names if of in _UPLOADED}


def read_backup(file: Path, data: Path, database_url: str | None = None) -> Copy:
    """Make a course in `data` from a copy, and check all of it by the copy's digests.

    Parameters
    ----------
    database_url
        Database for the tables; :data:`OWN`, or None if the copy's settings name no database: a file in `data`.

    Raises
    ------
    CourseError
        If `data` is not empty, the file is not a copy, or its settings name a database and `database_url` is None.
    """
    if data.exists() and any(data.iterdir()):
        raise CourseError(f"{data} is not empty; restore into a new directory, and nothing is overwritten.")
    if not file.is_file():
        raise CourseError(f"{file}: There is no such file.")
    aside = data.with_name(data.name + ".wip")
    if aside.exists():
        shutil.rmtree(aside)
    with explain_errors(f"restore into {data}"):
        try:
            copy = _unpack(file, aside, database_url)
            fsync_tree(aside)
            if data.exists():
                data.rmdir()
            aside.rename(data)
        except _DAMAGE as error:
            raise CourseError(f"{file} is not a copy of a course, or is damaged ({error}).") from error
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    return copy


def _unpack(file: Path, aside: Path, database_url: str | None) -> Copy:
    aside.mkdir(parents=True)
    with tarfile.open(file, "r:") as archive:
        # First the file as a whole: it is not cut off, and each member is there as it was written.
        members = {member.name: member for member in archive.getmembers()}
        _check_end(file, archive)
        digest = _check_digests(archive, members)
        # The settings.  A database that they name may still be in use: whoever restores says where the tables go.
        (aside / SETTINGS).write_bytes(_content(archive, members[SETTINGS]).read())
        settings, storage = read_settings(aside), Storage(aside)
        if settings.database_url is not None and database_url is None:
            raise CourseError(
                f"The tables of this copy were in {make_url(settings.database_url).render_as_string()}; add "
                f"`--database-url {OWN}` to keep them in the directory, or the address of an empty database."
            )
        # What changes here: where the tables are, and own lists of infosets, which move beside the settings.
        changes: dict[str, Any] = {} if database_url is None else {"database_url": database_url}
        if database_url == OWN:
            changes["database_url"] = None
        for player, order in enumerate(settings.orders(aside)):
            if order is not None:  # the copy's own file, wherever the original was
                changes[f"infosets_{player}"] = LISTS[player]
                _extract(archive, members[f"{_OTHERS}{LISTS[player]}"], aside / LISTS[player])
        if changes:
            content = {**settings.model_dump(mode="json"), **changes}
            settings = check_section(CourseSettings, content, "--database-url")
            (aside / SETTINGS).write_text(settings_text(settings), encoding="utf-8")
        # The rows of the tables, of this version's format.
        rows = [(table, row) for table, row in map(json.loads, _content(archive, members[_TABLES]))]
        facts = {row["name"]: row["value"] for table, row in rows if table == "facts"}
        check_format(facts["format"], str(file))
        # Uploads under the names in their rows, each compared with its row's digest.
        for table, row in rows:
            if table in _UPLOADED:
                _restore_upload(archive, members, table, row, storage)
        # Other members only if their names have a known form, so that none is written outside the directory.
        for name, member in members.items():
            if named := _NAME.fullmatch(name):
                _extract(archive, member, aside / named[1])
            elif name == f"{_OTHERS}{_SECRET}" and (secret := _secret_of(aside)) is not None:
                _extract(archive, member, secret)
            elif name != SETTINGS and any(one.fullmatch(name) for one in _FILES):
                _extract(archive, member, aside / name)
            elif of_game := _GAME.fullmatch(name):
                directory = directory_of(aside, of_game[1])
                copy = directory.with_name(f"{of_game[1]}.tar")
                _extract(archive, member, copy)
                read_backup(copy, directory, OWN)
                copy.unlink()
        # Last the tables, read back to see that the database keeps what it was given.
        with closing(Database.of(aside, settings.database_url, settings.game)) as database:
            _insert(database, rows)
            _check_rows(database, rows)
    return Copy(sum(table == "submissions" for table, _ in rows), digest)


def _check_digests(archive: tarfile.TarFile, members: Mapping[str, tarfile.TarInfo]) -> str:
    """Compare all members with their digests; returns the digest of all.

    Raises
    ------
    ValueError
        If a member is missing, does not belong to the copy, or has changed, or there are no digests.
    """
    if _DIGESTS not in members:
        raise ValueError("it has no digests")
    content = _content(archive, members[_DIGESTS]).read()
    expected = dict(json.loads(content))
    if len(archive.getmembers()) != len(members) or expected.keys() != members.keys() - {_DIGESTS}:
        raise ValueError("its members are not those that it lists")
    for name, digest in expected.items():
        with _content(archive, members[name]) as source:
            if hashlib.file_digest(source, upload_hash).hexdigest() != digest:
                raise ValueError(f"{name} has changed")
    return _digest(content)


def _check_rows(database: Database, rows: Iterable[Any]) -> None:
    """Compare the tables with the rows that were written; StoreError if the database has changed any."""
    with database.reading() as session:
        there = read_rows(session)
    texts = [sorted(json.dumps(row, sort_keys=True) for row in part if row[0] != NUMBERS) for part in (rows, there)]
    if texts[0] != texts[1]:
        raise StoreError("The database gives back other rows than were written into it; choose another one.")


def _check_end(file: Path, archive: tarfile.TarFile) -> None:
    """Raise a ValueError if a tar file has no end: one that is cut off between two members looks whole to `tarfile`."""
    last = archive.getmembers()[-1]
    with open(file, "rb") as copy:
        copy.seek(last.offset_data + -(-last.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE)
        if copy.read(len(_END)) != _END:
            raise ValueError("it is cut off")


def _restore_upload(
    archive: tarfile.TarFile, members: dict[str, tarfile.TarInfo], table: str, row: dict[str, Any], storage: Storage
) -> None:
    # Names of members are not trusted: the row's name must have the form of the server's names.
    if not row["file"].removesuffix(".zip").isalnum():
        raise ValueError(f"{row['file']!r} is no name of an upload")
    target = storage.upload(row["file"])
    _extract(archive, members[f"uploads/{row['file']}"], target)
    with open(target, "rb") as copy:
        if hashlib.file_digest(copy, upload_hash).hexdigest() != row["digest"]:
            raise ValueError(f"the file of {table.removesuffix('s')} {row['id']} has changed")


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    """Write a member to a new file; ValueError if it is a database that is damaged."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with _content(archive, member) as source, open(target, "xb") as copy:
        shutil.copyfileobj(source, copy)
    if target.suffix == ".sqlite":
        with closing(sqlite3.connect(target)) as database:
            message = database.execute("PRAGMA quick_check").fetchone()[0]
        if message != "ok":
            raise ValueError(f"{target.name}: {message}")


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Any:
    content = archive.extractfile(member) if member.isreg() else None
    if content is None:
        raise ValueError(f"{member.name} is no file")
    return content


def _insert(database: Database, rows: list[TableRow]) -> None:
    tables = CourseTables.metadata.tables
    with database.writing() as session:
        if session.execute(select(tables["teams"].c.id)).first() is not None:
            raise CourseError("The database that the settings name already holds teams; empty it first.")
        session.execute(tables["facts"].delete())
        write_rows(session, rows)
