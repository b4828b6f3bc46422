"""The wing as a part of the web application."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter

from pttt_ooc.explore import api, differences, pages
from pttt_ooc.explore.explorer import Explorer
from pttt_ooc.show.numbers import gap, probability
from pttt_ooc.show.pictures import MARKS
from pttt_ooc.web.parts import Link, Part

LINKS = (Link("/explore", "Explore"),)


def part_of(explorer: Explorer, *routers: APIRouter) -> Part:
    """The part of an explorer, with more pages than Explore if there are any."""
    return Part(
        name="explore",
        directory=Path(__file__).parent,
        routers=(pages.router, api.router, differences.router, *routers),
        links=LINKS,
        state=explorer,
        filters={"gap": gap, "probability": probability},
        names={"MARKS": MARKS},
    )
