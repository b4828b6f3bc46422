"""The wing as parts of the web application."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from fastapi import APIRouter
from pydantic import TypeAdapter

from pttt_ooc.config import MOST_REPLIED_SQUARES
from pttt_ooc.disk.numbers import NOISE, fraction, gap, percent, probability, reach, share
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.rules.infoset_text import DIGITS
from pttt_ooc.pipeline.show.pictures import MARKS
from pttt_ooc.site.explore import api, exports, flow_map, loss_lists, pages, play_pages
from pttt_ooc.site.explore.boards import LOSS
from pttt_ooc.site.explore.explorer import Explorer
from pttt_ooc.site.explore.game_store import Games
from pttt_ooc.site.explore.opponents import AskedOpponents
from pttt_ooc.site.explore.sources import FixedSources, Source
from pttt_ooc.site.service.wire import Client
from pttt_ooc.site.shell.parts import MAIN, Link, Part

LINKS = (Link("/explore", "Explore", MAIN),)


def part_of(explorer: Explorer, *routers: APIRouter) -> Part:
    """The part Explore, with the pages of further routers."""
    return Part(
        name="explore",
        directory=Path(__file__).parent,
        routers=(pages.router, api.router, loss_lists.router, exports.router, flow_map.router, *routers),
        links=LINKS,
        state=explorer,
        filters={
            "fraction": fraction,
            "gap": gap,
            "percent": percent,
            "probability": probability,
            "reach": reach,
            "share": share,
        },
        names={
            "MARKS": MARKS,
            "DIGITS": DIGITS,
            "MOST_REPLIED_SQUARES": MOST_REPLIED_SQUARES,
            "LOSS": LOSS,
            "NOISE": NOISE,
        },
    )


def local_parts(address: str, game: str, sources: str, games_directory: str) -> list[Part]:
    """The parts Explore and Play, whose answerer is at `address`.

    Parameters
    ----------
    sources
        The strategies as JSON.
    games_directory
        The directory of people's games.
    """
    explorer, games = _of_game(address, game, sources, games_directory)
    return [part_of(explorer), play_pages.part_of(games)]


def _of_game(address: str, game: str, sources: str, games_directory: str) -> tuple[Explorer, Games]:
    known = TypeAdapter(tuple[Source, ...]).validate_json(sources)
    rules, client = named_game(game), Client(Path(address))
    games = Games(Path(games_directory), AskedOpponents(rules, client, lambda: known))
    return Explorer(rules, client, FixedSources(known)), games


def parts_of_games(*arguments: str) -> list[Part]:
    """The parts Explore and Play on several games; the first is the default.

    Parameters
    ----------
    arguments
        The addresses of the answerers, and then, for each game, the further arguments of :func:`local_parts` as a JSON
        list.
    """
    half = len(arguments) // 2
    pairs = zip(arguments[:half], arguments[half:], strict=True)
    explorers, games = zip(*(_of_game(address, *json.loads(told)) for address, told in pairs), strict=True)
    return [part_of(replace(explorers[0], others=explorers[1:])), play_pages.part_of(*games)]
