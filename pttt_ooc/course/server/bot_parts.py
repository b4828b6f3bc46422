"""The pages of a league beside a course's."""

from __future__ import annotations

from pttt_ooc.course.pages import bot_pages as submission_pages
from pttt_ooc.course.pages.bot_pages import OpenLeague, before_tournament
from pttt_ooc.course.pages.context import Course
from pttt_ooc.other_games.extreme.pages import exports, part, play_pages, practice_pages
from pttt_ooc.other_games.extreme.pages.tournament_reader import TournamentReader
from pttt_ooc.site.shell.parts import Part
from pttt_ooc.site.shell.shell import Account


def parts_of(course: Course) -> list[Part]:
    """The parts of the league of a course, which must be there."""
    league = OpenLeague.of(course)
    tournament = part.part_of(
        TournamentReader(league.files.tournament),
        exports.router,
        practice_pages.router,
        before=before_tournament(league.files, course.database),
    )
    return [tournament, submission_pages.part_of(league)]


def play_parts(course: Course, address: str) -> list[Part]:
    """The part on which teams play against their bots, whose answerer is at `address`."""
    return [play_pages.part_of(address, _owner)]


def _owner(account: Account | None) -> str | None:
    """Who plays: the team; None if nobody is signed in."""
    return None if account is None else part.key_of(account.id)
