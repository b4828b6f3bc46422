"""The wing as a part of the web application."""

from __future__ import annotations

from pathlib import Path

from pttt_ooc.explore import pages
from pttt_ooc.explore.explorer import Explorer
from pttt_ooc.show.numbers import gap, probability
from pttt_ooc.web.parts import Link, Part

LINKS = (Link("/explore", "Explore"),)


def part_of(explorer: Explorer) -> Part:
    """The part of an explorer."""
    return Part(
        name="explore",
        directory=Path(__file__).parent,
        routers=(pages.router,),
        links=LINKS,
        state=explorer,
        filters={"gap": gap, "probability": probability},
        names={"MARKS": "×○"},
    )
