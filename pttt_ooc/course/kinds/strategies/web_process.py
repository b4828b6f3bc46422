"""The web process of a grader that has this wing as well."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from fastapi import FastAPI

from pttt_ooc.course import webserver
from pttt_ooc.course.app import create_app
from pttt_ooc.course.context import Grader
from pttt_ooc.course.kinds.strategies import mistakes
from pttt_ooc.course.kinds.strategies.sources import Submitted
from pttt_ooc.explore import play
from pttt_ooc.explore.answerer_client import Asked
from pttt_ooc.explore.explorer import Explorer
from pttt_ooc.explore.games import Games
from pttt_ooc.explore.part import part_of
from pttt_ooc.service.wire import Client
from pttt_ooc.web.parts import Link, Part

Beside: TypeAlias = Callable[[Grader], Sequence[Part]]
"""Makes further parts beside a grader's; a PtttError if that cannot be."""

LOOKS = (Link("/submissions/{}/mistakes", "Where it loses"),)


def serve(address: str, data: str, descriptor: str, *, others: Beside) -> None:
    """Serve the grader in the directory `data` on an open socket, with this wing, whose answerer is at `address`.

    `others` makes the parts beside these.
    """
    client = Client(Path(address))
    webserver.run(data, descriptor, lambda grader: app_of(grader, client, *others(grader)))


def app_of(grader: Grader, client: Client, *others: Part) -> FastAPI:
    """The application of a grader and of this wing, with the parts of others."""
    submitted, game = Submitted(grader), grader.settings.rules
    games = Games(grader.storage.data, Asked(game, client, submitted.open_to_play))
    explorer = part_of(Explorer(game, client, submitted), mistakes.router, mistakes.programs)

    def looks() -> Sequence[Link]:
        return LOOKS if submitted.place.is_dir() else ()

    return create_app(grader, explorer, play.part_of(games), *others, looks=looks)
