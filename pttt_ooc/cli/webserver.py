"""The web process of `pttt serve` or `pttt explore` with the pages of wings beside their own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pttt_ooc.cli.arena_pages import ARENA
from pttt_ooc.explore import localserver
from pttt_ooc.explore import webserver as graderserver
from pttt_ooc.grader.context import Grader
from pttt_ooc.web.parts import Part


def main() -> None:
    """Serve the pages of WING, and the ones on secret goals, whose answerer is at ADDRESS.

    Arguments: WING, those of the wing's own web process, ADDRESS MATCHES; matches are kept in the directory MATCHES.
    WING is ``grader``, ``explore``, or ``league``: a grader with the league of a course.  The last two may be missing.
    ``arena=ADDRESS``, anywhere: with the arena, whose answerer is there.
    """
    wing, *told = sys.argv[1:]
    own = [one for one in told if not one.startswith(ARENA)]
    arena = [part for one in told if one.startswith(ARENA) for part in arena_parts(one)]
    if wing == "explore":
        game, descriptor, answerer, sources, kept, *match = own
        localserver.serve(game, descriptor, answerer, sources, kept, lambda: [*secret_goals(match), *arena])
    else:
        data, descriptor, answerer, *match = own

        def others(grader: Grader) -> Sequence[Part]:
            return [*secret_goals(match), *arena, *(league_parts(grader) if wing == "league" else [])]

        graderserver.serve(data, descriptor, answerer, others)


def secret_goals(match: Sequence[str]) -> list[Part]:
    """The part on secret goals, from ADDRESS and MATCHES, if they are given."""
    if not match:
        return []
    from pttt_ooc.smbc.pages.part import part_at

    address, matches = match
    return [part_at(Path(address), Path(matches))]


def arena_parts(told: str) -> list[Part]:
    """The part of the arena, from ``arena=ADDRESS``."""
    from pttt_ooc.arena.pages.part import part_at

    return [part_at(Path(told.removeprefix(ARENA)))]


def league_parts(grader: Grader) -> list[Part]:
    """The parts of the league of a course, which must be there."""
    from pttt_ooc.extreme.course import handing
    from pttt_ooc.extreme.course.receiving import Course
    from pttt_ooc.extreme.pages import exports, part
    from pttt_ooc.extreme.pages.shown import Shown

    course = Course.of(grader)
    return [part.part_of(Shown(course.league.tournament), exports.router), handing.part_of(course)]


if __name__ == "__main__":
    main()
