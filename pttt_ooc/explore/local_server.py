"""`pttt explore`: the pages on local strategies, without a grader."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from pathlib import Path

from pttt_ooc.disk.files import digest
from pttt_ooc.errors import StrategyFileError
from pttt_ooc.explore.games_file import games_file
from pttt_ooc.explore.solver_runs import with_run
from pttt_ooc.explore.sources import SOLUTION, Source, uniform
from pttt_ooc.library.strategy_names import game_of, games_of_shape, named_strategy
from pttt_ooc.products.tensor_reader import tensor_header
from pttt_ooc.rules.game import Game
from pttt_ooc.service import wire
from pttt_ooc.service.processes import Child, Web, listen, serve_until_stopped

PROFILES = "explore"
"""The folder of profiles, beside the structures of a game."""

MakeWeb = Callable[[Path], AbstractContextManager[Web]]
"""Makes the web process, given the directory of all games' structures."""


def local_sources(names: Sequence[str], game: str | None) -> tuple[Game, list[Source]]:
    """The strategies that were named, and the game that they are for.

    Raises
    ------
    PtttError
        If there is no such strategy, or they are for different games.
    """
    given = [(name, _players(name)) for name in names]
    read = [named_strategy(name, player) for name, players in given for player in players]
    rules = game_of([one for one in read if one.kind != "uniform"], game)
    sources = [_source(number, name, players) for number, (name, players) in enumerate(given) if name != "uniform"]
    return rules, [*sources, uniform()]


def _players(name: str) -> tuple[int, ...]:
    """Whose strategies a name stands for."""
    if Path(name).suffix.lower() not in (".zip", ".npy"):
        return (0, 1)
    shape, _ = tensor_header(Path(name))
    found = tuple(player for player in (0, 1) if games_of_shape(shape, player))
    if not found:
        raise StrategyFileError(f"{name}: A tensor of shape {shape} is no strategy of any game.")
    return found


def _source(number: int, name: str, players: tuple[int, ...]) -> Source:
    path = Path(name).absolute()
    label = path.name if path.is_file() else "/".join(path.parts[-2:])
    content = path / "solution.zarr" if (path / "solution.zarr").is_dir() else path
    return with_run(Source(SOLUTION if number == 0 else f"f{number}", label, str(path), digest(content), players))


def structures_of(given: Path, game: Game, data: Path) -> Path:
    """The directory of all games' structures: where a solution of the workflow is, or else `data`."""
    path = given.absolute()
    for place in (path, *path.parents):
        if place.parent.name == game.name and place.name in ("full", "none"):
            return place.parent.parent
    return data


@contextmanager
def answerer(profiles: Path, game: str, structures: Path) -> Iterator[tuple[Child, Path]]:
    """The process that answers, which is still to be started, and its address."""
    with wire.listening() as (made, address):
        descriptor = made.fileno()
        arguments = [str(profiles), str(descriptor), game, str(structures)]
        yield Child("answerer", ["-m", "pttt_ooc.explore.answerer_process", *arguments], (descriptor,)), address


def explore(
    names: Sequence[str],
    game: str | None,
    data: Path,
    profiles: Path | None,
    host: str,
    port: int,
    page: str | None,
    make_web: MakeWeb,
    home: str = "",
) -> None:
    """Serve the pages until SIGTERM or SIGINT.

    Parameters
    ----------
    names
        Of strategies, as `pttt evaluate` takes them; the first one is shown at first.
    data
        Where structures of games are kept, unless the first strategy lies beside them.
    profiles
        Where prepared strategies and games of people are kept; None: beside the structures.
    page
        The address of the page to open in a browser, such as ``/explore``; None: no browser.
    make_web
        Makes the web process, with the pages of other wings beside these.
    home
        The address of the page that is told.

    Raises
    ------
    PtttError
        If a strategy cannot be read, or the server cannot listen.
    """
    rules, sources = local_sources(names, game)
    structures = structures_of(Path(names[0]), rules, data)
    kept = profiles or structures / rules.name / PROFILES
    games_file(kept)  # better told now than by a process that would be started again and again
    with (
        listen(host, port) as listening,
        answerer(kept, rules.name, structures) as (answering, address),
        make_web(structures) as web,
    ):
        told = json.dumps([asdict(source) for source in sources])
        pages = web.child([rules.name, listening.fileno(), address, told, kept], listening)
        serve_until_stopped("explore", rules.name, listening, host, [pages, answering, *web.others], page, home)
