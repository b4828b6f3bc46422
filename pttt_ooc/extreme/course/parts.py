"""The pages of a league beside a grader's."""

from __future__ import annotations

from pttt_ooc.extreme.course import handing
from pttt_ooc.extreme.course.receiving import Course
from pttt_ooc.extreme.pages import exports, part
from pttt_ooc.extreme.pages.shown import Shown
from pttt_ooc.grader.context import Grader
from pttt_ooc.web.parts import Part


def parts_of(grader: Grader) -> list[Part]:
    """The parts of the league of a course, which must be there."""
    course = Course.of(grader)
    return [part.part_of(Shown(course.league.tournament), exports.router), handing.part_of(course)]
