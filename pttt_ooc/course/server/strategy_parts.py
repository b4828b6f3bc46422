"""The pages Explore and Play beside a course's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fastapi import FastAPI

from pttt_ooc.course.pages import strategy_mistakes as mistakes
from pttt_ooc.course.pages.context import Grader
from pttt_ooc.course.pages.game_exploring import OfFurtherGames
from pttt_ooc.course.pages.strategy_sources import SubmittedSources
from pttt_ooc.course.server.app import create_app
from pttt_ooc.site.explore import play
from pttt_ooc.site.explore.explorer import Explorer
from pttt_ooc.site.explore.games import Games
from pttt_ooc.site.explore.opponents import AskedOpponents
from pttt_ooc.site.explore.part import part_of
from pttt_ooc.site.explore.play_api import Playing
from pttt_ooc.site.service.wire import Client
from pttt_ooc.site.shell.parts import Link, Part

LOOKS = (Link("/submissions/{}/mistakes", "Where it loses"),)


def parts_at(grader: Grader, address: str) -> list[Part]:
    """The parts Explore and Play, whose answerer is at `address`."""
    return parts_of(grader, Client(Path(address)))


def parts_of(grader: Grader, client: Client) -> list[Part]:
    """The parts Explore and Play, which ask the answerer through `client`; and those of further games, as they come."""
    explorer = replace(_explorer(grader, client), others=OfFurtherGames(grader, _explorer))
    further = OfFurtherGames(grader, lambda own, asked: Playing(_games(own, asked)))
    playing = play.part_of(_games(grader, client))
    state = replace(playing.state, others=further)  # type: ignore[type-var]
    return [part_of(explorer, mistakes.router, mistakes.programs), replace(playing, state=state)]


def _explorer(grader: Grader, client: Client) -> Explorer:
    return Explorer(grader.settings.rules, client, SubmittedSources(grader))


def _games(grader: Grader, client: Client) -> Games:
    opened = SubmittedSources(grader).open_to_play
    return Games(grader.storage.data, AskedOpponents(grader.settings.rules, client, opened))


def app_of(grader: Grader, *parts: Part) -> FastAPI:
    """The application of a course with further parts."""

    def looks() -> Sequence[Link]:
        return LOOKS if SubmittedSources(grader).place.is_dir() else ()

    return create_app(grader, *parts, looks=looks)
