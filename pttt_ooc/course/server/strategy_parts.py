"""The pages Explore and Play beside a course's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fastapi import FastAPI

from pttt_ooc.course.data.assignments import term_of
from pttt_ooc.course.pages import strategy_mistakes as mistakes
from pttt_ooc.course.pages.context import Course
from pttt_ooc.course.pages.game_exploring import OfFurtherGames
from pttt_ooc.course.pages.strategy_sources import SubmittedSources
from pttt_ooc.course.server.app import create_app
from pttt_ooc.course.strategies.game_facts import solution_store
from pttt_ooc.site.explore import play_pages
from pttt_ooc.site.explore.explorer import Explorer
from pttt_ooc.site.explore.game_store import Games
from pttt_ooc.site.explore.opponents import AskedOpponents
from pttt_ooc.site.explore.part import part_of
from pttt_ooc.site.explore.play_api import Playing
from pttt_ooc.site.service.wire import Client
from pttt_ooc.site.shell.parts import Link, Part

LOOKS = (Link("/submissions/{}/mistakes", "Where it loses"),)


def parts_at(course: Course, address: str) -> list[Part]:
    """The parts Explore and Play, whose answerer is at `address`."""
    return parts_of(course, Client(Path(address)))


def parts_of(course: Course, client: Client) -> list[Part]:
    """The parts Explore and Play, which ask the answerer through `client`; and those of further games."""

    def sources_of(own: Course) -> SubmittedSources:
        return SubmittedSources(own, lambda: shows_solution(course))

    def explorer_of(own: Course, asked: Client) -> Explorer:
        return Explorer(own.settings.rules, asked, sources_of(own))

    def games_of(own: Course, asked: Client) -> Games:
        opponents = AskedOpponents(own.settings.rules, asked, sources_of(own).open_to_play)
        return Games(own.storage.data, opponents)

    explorer = replace(explorer_of(course, client), others=OfFurtherGames(course, explorer_of))
    further = OfFurtherGames(course, lambda own, asked: Playing(games_of(own, asked)))
    playing = play_pages.part_of(games_of(course, client))
    state = replace(playing.state, others=further)  # type: ignore[type-var]
    return [part_of(explorer, mistakes.router, mistakes.programs), replace(playing, state=state)]


def shows_solution(course: Course) -> bool:
    """Whether students of a course see the solutions of its games."""
    with course.database.reading() as session:
        return term_of(session).show_solution


def app_of(course: Course, *parts: Part) -> FastAPI:
    """The application of a course with further parts."""

    def looks() -> Sequence[Link]:
        return LOOKS if solution_store(course.settings, course.storage).is_dir() else ()

    return create_app(course, *parts, looks=looks)
