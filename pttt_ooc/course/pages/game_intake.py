"""How strategies of a further game are taken in: by the course's dates, into the game's own directory."""

from __future__ import annotations

from fastapi import HTTPException

from pttt_ooc.course.data.assignments import check_open, further_games
from pttt_ooc.course.data.game_directory import mirror_teams
from pttt_ooc.course.data.models import Submission, Team
from pttt_ooc.course.data.rules import STRATEGIES
from pttt_ooc.course.data.storage import Incoming
from pttt_ooc.course.pages.context import Course
from pttt_ooc.course.pages.uploads import Fields, Intake, strategies


def game_course(course: Course, game: str) -> Course:
    """The `Course` of a further game, with the course's teams; 404 if no assignment names the game."""
    with course.database.reading() as session:
        known = further_games(session)
    if game not in known:
        raise HTTPException(404, f"No assignment of this course has the further game {game}.")
    own = course.of_game(game)
    mirror_teams(course.database, own.database)
    return own


def intake_of(course: Course, own: Course) -> Intake[Submission]:
    """How strategies of a further game are taken in."""
    base, game = strategies(own), own.settings.game

    def check_dates(team: Team, at: float) -> None:
        with course.database.reading() as session:
            check_open(session, STRATEGIES, team, at, further=game)

    def check(team: Team, in_flight: int, at: float) -> None:
        check_dates(team, at)
        base.check_limits(team, in_flight, at)

    def take(team: Team, fields: Fields, incoming: Incoming) -> tuple[Submission, bool]:
        try:
            check_dates(team, incoming.begun_at)
        except BaseException:
            incoming.discard()
            raise
        return base.take(team, fields, incoming)

    return Intake(base.largest, base.fields, check, take, base.check_fields)
