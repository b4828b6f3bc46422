"""The host as a part of the web application."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

from pydantic import TypeAdapter

from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.site.explore.opponents import AskedOpponents, JudgingOpponents
from pttt_ooc.site.explore.sources import Source
from pttt_ooc.site.host import host_api, host_pages
from pttt_ooc.site.host.host_api import Hosting
from pttt_ooc.site.host.matches import Matches
from pttt_ooc.site.host.wing import host_file
from pttt_ooc.site.play import owners
from pttt_ooc.site.service.wire import Client
from pttt_ooc.site.shell.parts import Link, Part

LARGEST_BODY = 65_536
"""Bytes of the largest request: a message of MCP."""


def part_of(matches: Matches) -> Part:
    """The part with these matches; it speaks MCP if the package ``mcp`` is installed."""
    hosting = Hosting(matches, speaks_mcp=find_spec("mcp") is not None)
    routers, running = [host_pages.router, host_api.router], None
    if hosting.speaks_mcp:
        from pttt_ooc.site.host.mcp_http import mcp_router

        router, running = mcp_router(hosting, LARGEST_BODY)
        routers.append(router)
    return Part(
        name="host",
        directory=Path(__file__).parent,
        routers=routers,
        links=(Link(host_pages.ADDRESS, "Agents"),),
        state=hosting,
        explain=owners.explain,
        largest_body=LARGEST_BODY,
        running=running,
    )


def host_parts(*arguments: str) -> list[Part]:
    """The part whose answerers are at the first arguments; for the others see :func:`matches_of`."""
    matches = matches_of(*arguments)
    matches.restart_clocks()
    return [part_of(matches)]


def matches_of(*arguments: str) -> Matches:
    """The matches of several games.

    Parameters
    ----------
    arguments
        The addresses of the answerers; for each game, its name and its strategies as JSON; the directory of matches;
        and an agent's seconds for a match.
    """
    *both, directory, seconds = arguments
    half = len(both) // 2
    pairs = zip(both[:half], both[half:], strict=True)
    return Matches(host_file(Path(directory)), [_opponents(*pair) for pair in pairs], float(seconds))


def _opponents(address: str, told: str) -> JudgingOpponents:
    game, listed = json.loads(told)
    known = TypeAdapter(tuple[Source, ...]).validate_json(listed)
    return AskedOpponents(named_game(game), Client(Path(address)), lambda: known)
