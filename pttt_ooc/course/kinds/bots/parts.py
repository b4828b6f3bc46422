"""The pages of a league beside a grader's."""

from __future__ import annotations

from pttt_ooc.course.context import Grader
from pttt_ooc.course.kinds.bots import submission_pages
from pttt_ooc.course.kinds.bots.context import OpenLeague
from pttt_ooc.extreme.pages import exports, part
from pttt_ooc.extreme.pages.tournament_reader import TournamentReader
from pttt_ooc.web.parts import Part


def parts_of(grader: Grader) -> list[Part]:
    """The parts of the league of a course, which must be there."""
    league = OpenLeague.of(grader)
    return [part.part_of(TournamentReader(league.files.tournament), exports.router), submission_pages.part_of(league)]
