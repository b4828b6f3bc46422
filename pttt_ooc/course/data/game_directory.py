"""The directories of a course's further games: where they are, how they are made, their teams and answerers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.assignments import all_assignments, further_games, further_of
from pttt_ooc.course.data.database import DEFAULT, Database
from pttt_ooc.course.data.models import Fact, Team
from pttt_ooc.course.data.rules import STRATEGIES
from pttt_ooc.course.data.settings import SETTINGS, CourseSettings, make_settings, read_settings
from pttt_ooc.course.data.standings import MIRRORED, out_of_game, touch
from pttt_ooc.course.data.term_tables import Assignment
from pttt_ooc.disk.files import atomic_write_text
from pttt_ooc.errors import CourseError

FOLDER = "games"
"""The folder in a course's directory that holds the directories of its further games."""

_ADDRESS = "answerer.address"
"""The file in a further game's directory with the address of its answerer's socket."""


def directory_of(data: Path, game: str) -> Path:
    """The directory of a further game of the course in `data`."""
    return data / FOLDER / game


def tell_address(data: Path, game: str, address: str) -> None:
    """Write down where the answerer of a further game is."""
    atomic_write_text(directory_of(data, game) / _ADDRESS, address)


def find_address(data: Path, game: str) -> str | None:
    """Where the answerer of a further game is; None if it has none, and so neither Explore nor Play."""
    file = directory_of(data, game) / _ADDRESS
    return file.read_text(encoding="utf-8") if file.is_file() else None


def games_in(data: Path) -> list[str]:
    """The further games whose directories are there."""
    return sorted(place.name for place in (data / FOLDER).glob("*") if (place / SETTINGS).is_file())


def course_of(directory: Path) -> Path | None:
    """The directory of the course whose further game is in `directory`; None if it is a course itself."""
    above = directory.resolve().parent
    return above.parent if above.name == FOLDER and (above.parent / SETTINGS).is_file() else None


def course_database(directory: Path) -> Database | None:
    """The database of the course whose further game is in `directory`; None if it is a course itself."""
    course = course_of(directory)
    if course is None:
        return None
    settings = read_settings(course)
    return Database.of(course, settings.database_url, settings.game)


def make_games(database: Database, data: Path) -> list[CourseSettings]:
    """Make the directories of all further games that assignments name; returns their settings.

    Raises
    ------
    PtttError
        If one cannot be made or opened.
    """
    with database.reading() as session:
        games = further_games(session)
    return [make_game(database, data, game) for game in games]


def make_game(database: Database, data: Path, game: str) -> CourseSettings:
    """Make the directory of a further game, if it is not there, and give it the course's teams."""
    directory = directory_of(data, game)
    settings = make_settings(directory, game)
    with closing(Database.of(directory, settings.database_url, game)) as own:
        mirror_teams(database, own)
    return settings


def mirror_teams(course: Database, own: Database) -> None:
    """Give a further game the course's teams; a removed team's strategies are deleted, a renamed one's stay.

    The game also learns which teams have no standing in it.
    """
    with own.reading() as session:
        game = session.get_one(Fact, "game").value
        known, out = _names(session.scalars(select(Team))), session.get(Fact, MIRRORED)
    with course.reading() as session:
        wanted = {team.id: team for team in session.scalars(select(Team))}
        without_standing = sorted(out_of_game(session, game))
    if known == _names(wanted.values()) and out is not None and out.value == without_standing:
        return
    with own.writing() as session:
        session.merge(Fact(name=MIRRORED, value=without_standing))
        renamed = []
        for team in session.scalars(select(Team)).all():
            now = wanted.get(team.id)
            if now is None or (team.name != now.name and team.created_at != now.created_at):
                session.delete(
                    team
                )  # numbers are never used again, but a new course may have taken the place of an old one
            elif team.name != now.name:
                renamed.append((team, now))
                team.name = team.key = f"\0{team.id}"  # two teams may have swapped their names, which are unique
        session.flush()
        for team, now in renamed:
            team.name, team.key = now.name, now.key
        session.flush()
        there = set(session.scalars(select(Team.id)))
        for number, team in wanted.items():
            if number not in there:
                session.add(Team(id=number, name=team.name, key=team.key, created_at=team.created_at))
        touch(session)


def _names(teams: object) -> set[tuple[int, str]]:
    return {(team.id, team.name) for team in teams}  # type: ignore[attr-defined]


@contextmanager
def writing_to_game(data: Path, game: str) -> Iterator[Session]:
    """A session of a further game, which is committed at the end; CourseError if the game has no database yet."""
    directory = directory_of(data, game)
    if not (directory / DEFAULT).is_file():
        raise CourseError(f"Nothing was handed in for {game} yet.")
    with closing(Database.of(directory, None, game, prepared=True)) as database, database.writing() as session:
        yield session


def sessions_of_games(session: Session, data: Path) -> Iterator[tuple[str, Session]]:
    """Each further game that has a database, and a session of it while it is looked at."""
    seen = set[str]()
    for assignment in all_assignments(session, STRATEGIES):
        game = further_of(assignment)
        if game is not None and game not in seen:
            seen.add(game)
            with strategies_of(session, assignment, data) as source:
                if source is not None:
                    yield game, source


@contextmanager
def strategies_of(session: Session, assignment: Assignment, data: Path) -> Iterator[Session | None]:
    """A session of the database that has the strategies of an assignment; None if there is none yet.

    Parameters
    ----------
    session
        Of the course's database, which has those of the course's game.
    """
    game = further_of(assignment) if assignment.kind == STRATEGIES else None
    if game is None:
        yield session
        return
    directory = directory_of(data, game)
    if not (directory / DEFAULT).is_file():
        yield None
        return
    with closing(Database.of(directory, None, game, prepared=True)) as database, database.reading() as own:
        yield own
