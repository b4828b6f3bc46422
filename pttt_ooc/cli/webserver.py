"""The web process of `pttt serve` and `pttt explore`, with the pages of wings beside their own."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from pttt_ooc.course.context import Grader
from pttt_ooc.course.kinds.strategies import web_process as graderserver
from pttt_ooc.explore import web_process
from pttt_ooc.web.parts import Part


def main() -> None:
    """Serve the pages of WING, with others beside them.

    Arguments: WING WINGS and what the wing's own ``serve`` takes.  WING is ``grader`` or ``explore``.  WINGS, in JSON,
    are the names of the others, each with its arguments in :data:`PARTS`.
    """
    wing, wings, *own = sys.argv[1:]
    told: dict[str, list[str]] = json.loads(wings)

    def others(grader: Grader | None = None) -> list[Part]:
        return [part for name, arguments in told.items() for part in PARTS[name](grader, *arguments)]

    if wing == "explore":
        web_process.serve(*own, others=others)
    else:
        graderserver.serve(*own, others=others)


def secret_goals(grader: Grader | None, address: str, matches: str) -> list[Part]:
    """The part on secret goals, whose answerer is at `address`; matches of people are kept in `matches`."""
    from pttt_ooc.smbc.pages.part import part_at

    return [part_at(Path(address), Path(matches))]


def arena(grader: Grader | None, address: str) -> list[Part]:
    """The part of the arena, whose answerer is at `address`."""
    from pttt_ooc.arena.pages.part import part_at

    return [part_at(Path(address))]


def league(grader: Grader) -> list[Part]:
    """The parts of the league of a course."""
    from pttt_ooc.course.kinds.bots.parts import parts_of

    return parts_of(grader)


PARTS: dict[str, Callable[..., list[Part]]] = {"secret goals": secret_goals, "arena": arena, "league": league}
"""Makes the parts of a wing, given the grader that they stand beside, if any."""


if __name__ == "__main__":
    main()
