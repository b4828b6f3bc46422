"""The strategies of `pttt web`, and the structures of their game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pttt_ooc.disk.files import digest
from pttt_ooc.errors import StrategyFileError
from pttt_ooc.games.rules.catalogue import check_listable
from pttt_ooc.games.rules.game import Game
from pttt_ooc.library.api.strategy_names import further_of, games_of_shape, named_strategy, only_plan
from pttt_ooc.pipeline.files.tensor_reader import tensor_header
from pttt_ooc.pipeline.stages.strategy_store import strategies_of
from pttt_ooc.site.explore.sources import SOLUTION, Source, uniform, with_run
from pttt_ooc.site.explore.wing import pages
from pttt_ooc.site.service.wing import Pages

_LABELS = {"full": "Solution", "none": "Solution without symmetry"}

PROFILES = "explore"
"""The folder of profiles, beside the structures of a game."""


def local_sources(names: Sequence[str], game: str | None) -> tuple[Game, list[Source]]:
    """The strategies that were named, and the game that they are for; a plan has to be the only one.

    Raises
    ------
    PtttError
        If there is no such strategy, or they are for different games.
    """
    named = [(name, _players(name)) for name in names]
    read = [named_strategy(name, player, plans=True) for name, players in named for player in players]
    plan = only_plan(read)
    rules = further_of([one for one in read if one.kind != "uniform"], game)
    if plan is None:
        check_listable(rules.name)
    sources = [_source(number, name, players) for number, (name, players) in enumerate(named) if name != "uniform"]
    return rules, _told_apart(sources) if plan else [*_told_apart(sources), uniform()]


def _told_apart(sources: Sequence[Source]) -> list[Source]:
    """The sources; if several have the same label, their places are added to it."""
    labels = [source.label for source in sources]
    places = [f"{source.label} in {Path(source.name).parent}" for source in sources]
    return [
        replace(source, label=place if labels.count(source.label) > 1 else source.label)
        for source, place in zip(sources, places, strict=True)
    ]


def _players(name: str) -> tuple[int, ...]:
    """The players of which a file or directory has strategies."""
    if Path(name).suffix.lower() not in (".zip", ".npy"):
        return (0, 1)
    shape, _ = tensor_header(Path(name))
    players = tuple(player for player in (0, 1) if games_of_shape(shape, player))
    if not players:
        raise StrategyFileError(f"{name}: A tensor of shape {shape} is no strategy of any game.")
    return players


def _source(number: int, name: str, players: tuple[int, ...]) -> Source:
    path = Path(name).absolute()
    store = strategies_of(path)
    content = store if store.is_dir() else path
    key = SOLUTION if number == 0 else f"f{number}"
    return with_run(Source(key, label_of(path), str(path), digest(content), players))


def label_of(path: Path) -> str:
    """The name for people of a strategy file or of a directory with a solution.

    Examples
    --------
    >>> label_of(Path("data/pttt-abrupt/full"))
    'Solution'
    >>> label_of(Path("data/pttt-abrupt/full/runs/cfrplus"))
    'Run cfrplus'
    """
    if path.is_file():
        return path.name
    if path.parent.name == "runs":
        return f"Run {path.name}"
    return _LABELS.get(path.name) or path.name


def structures_of(directory: Path, game: Game, data: Path) -> Path:
    """The directory of all games' structures: the one of a solution of the workflow, or else `data`."""
    path = directory.absolute()
    for place in (path, *path.parents):
        if place.parent.name == game.name and place.name in ("full", "none"):
            return place.parent.parent
    return data


def local_pages(names: Sequence[str], game: str | None, data: Path, profiles: Path | None = None) -> tuple[Pages, Path]:
    """The pages on strategies, and the directory of all games' structures.

    Parameters
    ----------
    names
        Strategies, as for `pttt evaluate`; the first one is shown first.
    data
        The directory of structures, unless the first strategy is in another one.
    profiles
        The directory of prepared strategies and people's games; None: beside the structures.

    Raises
    ------
    PtttError
        If a strategy cannot be read, or games cannot be kept.
    """
    rules, sources = local_sources(names, game)
    first = named_strategy(names[0], sources[0].players[0], plans=True)
    plan = first.path.absolute() if first.kind == "plan" else None
    structures = structures_of(Path(names[0]), rules, data)
    return pages(sources, rules.name, profiles or structures / rules.name / PROFILES, structures, plan), structures
