"""The workers of a course's further games, beside the course's own processes."""

from __future__ import annotations

from pathlib import Path

from pttt_ooc.course.data.assignments import further_games
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.game_directory import directory_of, make_games
from pttt_ooc.course.strategies.game_facts import check_value_is_known
from pttt_ooc.site.explore.wing import answerer, games_file
from pttt_ooc.site.service.wing import Pages

MODULE = "pttt_ooc.course.server.strategy_worker"


def workers(data: Path, database: Database) -> list[tuple[str, ...]]:
    """Name, module and arguments of a worker for each further game, whose directory is made.

    Raises
    ------
    PtttError
        If a directory cannot be made, or the value of a game is not known.
    """
    games = make_games(database, data)
    for settings in games:
        check_value_is_known(settings)
    return [(f"worker of {one.game}", MODULE, str(directory_of(data, one.game))) for one in games]


def pages(data: Path, game: str) -> Pages:
    """The answerer of Explore and Play of a further game, whose directory must be there.

    Raises
    ------
    StoreError
        If the database of games that people play cannot be used.
    """
    directory = directory_of(data, game)
    games_file(directory)
    call = answerer(directory / "profiles", game, directory / "index")
    return Pages(name=f"{game} explore", what=game, parts=("",), answerer=call)


def further_game_names(database: Database) -> list[str]:
    """The further games that assignments name."""
    with database.reading() as session:
        return further_games(session)
