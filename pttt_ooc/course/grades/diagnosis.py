"""What `pttt course doctor` says about a course: its problems, and what is damaged or missing in its directory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from pttt_ooc.course.bots.league import FOLDER as LEAGUES
from pttt_ooc.course.data.assignments import further_games, settle_assignments, term_of
from pttt_ooc.course.data.database import DEFAULT, Database
from pttt_ooc.course.data.game_directory import FOLDER as GAMES
from pttt_ooc.course.data.game_directory import directory_of
from pttt_ooc.course.data.settings import SETTINGS, CourseSettings, check_openid, read_settings, secret_of
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.course.grades.checkup import damaged_files, problems, run_check, unsettled_grades
from pttt_ooc.course.strategies.game_facts import solution_note
from pttt_ooc.disk.files import explain_errors
from pttt_ooc.errors import PtttError

_LOCK_SECONDS = 30.0


def diagnosis(data: Path, digests: bool = False) -> list[str]:
    """A sentence for each problem of the course in `data`, the most urgent first.

    Parameters
    ----------
    digests
        Whether to read all files, and compare their digests.

    Raises
    ------
    CourseError
        If there is no course.
    """
    with explain_errors(f"look into {data}"):
        there = any((data / name).exists() for name in (SETTINGS, DEFAULT))
    if not there:
        read_settings(data)  # raises the error
    damage = run_check("the databases", lambda: [told for file in _databases(data) for told in _damage_of(file)])
    return list(dict.fromkeys([*damage, *run_check("the course", partial(_of_course, data, digests))]))


def notes(data: Path) -> list[str]:
    """Sentences on whether students of the course in `data` see its solutions; none if it cannot be read."""
    with suppress(PtttError, SQLAlchemyError, OSError):
        settings = read_settings(data)
        if settings.database_url is None and not (data / DEFAULT).is_file():
            return []
        database = Database.of(data, settings.database_url, settings.game)
        with closing(database), database.reading() as session:
            shown, games = term_of(session).show_solution, further_games(session)
        places = [place for place in (data, *(directory_of(data, game) for game in games)) if place.is_dir()]
        return [note for place in places if (note := solution_note(read_settings(place), Storage(place), shown))]
    return []


def _of_course(data: Path, digests: bool) -> list[str]:
    settings = read_settings(data)
    if settings.database_url is None and not (data / DEFAULT).is_file():
        return [f"The database {data / DEFAULT} is missing; restore a backup into a new directory."]
    found = run_check("the sign-in by OpenID Connect", partial(_openid, settings, data))
    for place in (data, *sorted((data / GAMES).glob("*/"))):
        found += run_check("the key of forms", partial(_key, place))
    with closing(Database.of(data, settings.database_url, settings.game)) as database:
        storage = Storage(data)
        settle_assignments(database, data)
        found += problems(database, storage)
        found += run_check("grades", lambda: unsettled_grades(database, storage))
        if digests:
            found += run_check("the digests of files", lambda: damaged_files(database, storage))
    return found


def _key(data: Path) -> list[str]:
    file = data / "secret"
    if file.exists() and not file.read_bytes():
        return [f"{file} is empty; delete it, and `pttt course serve` makes another one."]
    return []


def _openid(settings: CourseSettings, data: Path) -> list[str]:
    check_openid(settings, data)
    secret_of(settings, data)
    return []


def _databases(data: Path) -> Iterator[Path]:
    """All SQLite databases of a course."""
    for pattern in ("*.sqlite", f"{GAMES}/*/*.sqlite", f"{LEAGUES}/*/*.sqlite"):
        yield from sorted(data.glob(pattern))


def _damage_of(file: Path) -> list[str]:
    try:
        with closing(
            sqlite3.connect(f"{file.resolve().as_uri()}?mode=rw", uri=True, timeout=_LOCK_SECONDS)
        ) as database:
            message = database.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        message = str(error)
    if message == "ok":
        return []
    return [f"The database {file} is damaged ({' '.join(message.split())}); restore a backup into a new directory."]
