"""The pages Explore and Play beside a grader's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fastapi import FastAPI

from pttt_ooc.course.app import create_app
from pttt_ooc.course.context import Grader
from pttt_ooc.course.kinds.strategies import mistakes
from pttt_ooc.course.kinds.strategies.sources import SubmittedSources
from pttt_ooc.explore import play
from pttt_ooc.explore.answerer_client import AskedOpponents
from pttt_ooc.explore.explorer import Explorer
from pttt_ooc.explore.games import Games
from pttt_ooc.explore.part import part_of
from pttt_ooc.service.wire import Client
from pttt_ooc.web.parts import Link, Part

LOOKS = (Link("/submissions/{}/mistakes", "Where it loses"),)


def parts_at(grader: Grader, address: str) -> list[Part]:
    """The parts Explore and Play, whose answerer is at `address`."""
    return parts_of(grader, Client(Path(address)))


def parts_of(grader: Grader, client: Client) -> list[Part]:
    """The parts Explore and Play, which ask the answerer through `client`."""
    submitted, game = SubmittedSources(grader), grader.settings.rules
    games = Games(grader.storage.data, AskedOpponents(game, client, submitted.open_to_play))
    explorer = part_of(Explorer(game, client, submitted), mistakes.router, mistakes.programs)
    return [explorer, play.part_of(games)]


def app_of(grader: Grader, *parts: Part) -> FastAPI:
    """The application of a grader with further parts."""

    def looks() -> Sequence[Link]:
        return LOOKS if SubmittedSources(grader).place.is_dir() else ()

    return create_app(grader, *parts, looks=looks)
