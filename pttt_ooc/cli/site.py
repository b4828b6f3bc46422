"""Everything in a directory of results, as one site."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from pttt_ooc.cli.home_cards import FIRST, Opened, Solution, cards, found_solutions, in_order, reports, tournaments
from pttt_ooc.config import solving_command
from pttt_ooc.errors import PtttError, StrategyFileError
from pttt_ooc.other_games.arena import wing as arena
from pttt_ooc.other_games.extreme import wing as extreme
from pttt_ooc.other_games.smbc import wing as smbc
from pttt_ooc.pipeline.stages.strategy_store import strategies_of
from pttt_ooc.site.service.wing import Pages

if TYPE_CHECKING:
    from pttt_ooc.site.shell.parts import Part

_OPENED = TypeAdapter(Opened)


def games_of(solutions: Sequence[Solution], game: str | None, data: Path) -> list[list[Solution]]:
    """The solutions of each game, the one with the smallest gap first.

    Parameters
    ----------
    game
        The game that comes first; None: :data:`~pttt_ooc.cli.home_cards.FIRST`, or else as in the catalogue.

    Raises
    ------
    StrategyFileError
        If a game is named that is not solved.
    """
    if game is not None and game not in {one.game for one in solutions}:
        place = data / game / "full"
        if strategies_of(place).is_dir():
            raise StrategyFileError(f"The solution in {place} is not evaluated; `pttt web {place}` shows it as it is.")
        raise StrategyFileError(
            f"There is no solution of {game} in {data}; `{solving_command(game, data)}` makes one, and `pttt web "
            f"{place}` shows it."
        )
    return in_order(solutions, game or FIRST)


def site_pages(data: Path, game: str | None = None) -> list[Pages]:
    """The pages on everything in a directory, the home first; nothing is computed, and no game is begun.

    Raises
    ------
    PtttError
        If the named game is not solved.
    """
    pages: list[Pages] = []
    games = games_of(found_solutions(data)[0], game, data)
    notes: dict[str, list[str]] = {}
    opened = Opened(
        game or FIRST,
        _add_phantom_pages(pages, games, data, notes.setdefault("phantom", [])),
        _match(pages, data / smbc.SOLVED, notes.setdefault("secret goals", [])),
        _tournament(pages, data, notes.setdefault("extreme", [])),
        notes,
    )
    home = Pages(
        name="web",
        what=f"All of {data}",
        title="Tic-tac-toe, computed",
        parts=("pttt_ooc.cli.site:home_parts", str(data.resolve()), json.dumps(asdict(opened))),
    )
    return [home, *pages]


def home_parts(data: str, opened: str) -> list[Part]:
    """The part with the home and the pages that stages have written; `opened` is an :class:`Opened` as JSON."""
    from pttt_ooc.site.shell.home import part_of

    directory, told = Path(data), _OPENED.validate_json(opened)
    return [part_of(lambda: cards(directory, told), directory, lambda: reports(directory))]


def _add_phantom_pages(
    pages: list[Pages], games: Sequence[Sequence[Solution]], data: Path, notes: list[str]
) -> tuple[str, ...]:
    """Add the pages on phantom games; returns the games' names."""
    from pttt_ooc.site.explore.local_sources import local_pages
    from pttt_ooc.site.explore.wing import several

    found: dict[str, Pages] = {}
    for solutions in games:
        game = solutions[0].game
        try:
            found[game] = local_pages([str(one.directory) for one in solutions], game, data)[0]
        except PtttError as error:
            notes.append(str(error))
    if found:
        one, *others = found.values()
        pages.append(several([one, *others]) if others else one)
    return tuple(found)


def _match(pages: list[Pages], directory: Path, notes: list[str]) -> bool:
    if not (directory / "solve.json").exists():
        return False
    try:
        pages.append(smbc.pages(directory))
    except PtttError as error:
        notes.append(str(error))
        return False
    return True


def _tournament(pages: list[Pages], data: Path, notes: list[str]) -> str:
    """Add the pages of the arena and of the latest tournament; returns the tournament's directory."""
    pages.append(arena.pages(data / arena.WING.name))
    for place in tournaments(data)[:1]:
        try:
            pages.append(
                replace(extreme.pages(place), workers=())
            )  # positions are evaluated by `pttt web --tournament`
            return place.relative_to(data).as_posix()
        except PtttError as error:
            notes.append(str(error))
    return ""
