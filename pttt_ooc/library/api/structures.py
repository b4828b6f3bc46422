"""Indices and engines of games, opened or built once for each process."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pttt_ooc.cfr.sweep.engine import Engine
from pttt_ooc.disk.resources import cores, small_threads
from pttt_ooc.errors import ConfigError, GameError
from pttt_ooc.games.rules.catalogue import find_game
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure.building import build_timing
from pttt_ooc.games.structure.counts import total_infosets
from pttt_ooc.games.structure.index import Index, build_index
from pttt_ooc.games.structure.timing import Timing
from pttt_ooc.games.structure.views import find_pairs
from pttt_ooc.pipeline.files.structure_store import read_index, read_timings
from pttt_ooc.pipeline.stages.compilation import ensure_compiled
from pttt_ooc.pipeline.stages.directories import INDEX
from pttt_ooc.pipeline.stages.preparation import prepare_index
from pttt_ooc.types import Symmetry

BIG = 1_000_000
"""Games with more infosets keep their structure on disk: building it takes longer than reading it."""


@dataclass
class _Cache:
    """Settings, and what this process has opened or built."""

    data: Path = Path("data")
    threads: int | None = None
    directories: dict[tuple[Game, Symmetry], Path] = field(default_factory=dict)
    indices: dict[tuple[Game, Symmetry], Index] = field(default_factory=dict)
    engines: dict[tuple[Game, Symmetry], Engine] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)


_cache = _Cache()


def configure(data: str | Path | None = None, threads: int | None = None) -> None:
    """Set the directory for the structures of big games, and the number of threads.

    Parameters
    ----------
    data
        The directory of all games; initially ``data`` in the current directory, as in the workflow and
        the commands.  Small games do not need it, nor do solutions that have their own index.
    threads
        Initially the number of cores.  Sessions of :func:`iterate` that have begun keep theirs.

    Raises
    ------
    ConfigError
        If the number of threads is not a whole number above 0.

    Examples
    --------
    >>> import pttt_ooc as pttt
    >>> pttt.configure(threads=2)
    """
    if threads is not None and (not isinstance(threads, int) or threads < 1):
        raise ConfigError(f"The number of threads is {threads!r}, but must be a whole number, at least 1.")
    with _cache.lock:
        if data is not None:
            _cache.data = Path(data)
        if threads is not None and threads != _cache.threads:
            _cache.threads = threads
            _cache.engines.clear()  # but not closed: sessions may be using them


def data_directory() -> Path:
    """The directory for the structures of big games."""
    return _cache.data


def threads() -> int:
    """The number of threads."""
    return _cache.threads or cores()


def remember(game: Game, symmetry: Symmetry, directory: Path) -> None:
    """Take the structure of a game from a directory of the workflow, if it is there."""
    if (directory / INDEX).is_dir():
        with _cache.lock:
            for kept in (symmetry, "none"):
                _cache.directories.setdefault((game, kept), directory.absolute())  # a program may change its directory


def index_of(game: Game, symmetry: Symmetry = "none") -> Index:
    """The index of a game: mapped from disk, or in memory if the game is small or has no name.

    Raises
    ------
    PtttError
        If it can be neither read nor made.
    """
    key = (checked_game(game), symmetry)
    with _cache.lock:
        if key not in _cache.indices:
            directory = _directory_of(game, symmetry)
            if directory is None:
                _cache.indices[key] = build_index(game, symmetry)
            else:
                _cache.indices[key] = read_index(directory / INDEX, game.name, symmetry)
        return _cache.indices[key]


def engine_of(game: Game, symmetry: Symmetry = "none") -> Engine:
    """An engine for a game, in double precision; for errors see :func:`index_of`."""
    key = (game, symmetry)
    with _cache.lock:
        if key not in _cache.engines:
            small_threads()
            ensure_compiled(["evaluation"])
            index = index_of(game, symmetry)
            _cache.engines[key] = Engine(index, _timings_of(index), np.float64, threads())
        return _cache.engines[key]


def _timings_of(index: Index) -> tuple[Timing, Timing]:
    own = _own_directory(index.game, index.symmetry)
    if own is not None and own.name == index.symmetry:
        return read_timings(own / INDEX, index.game.name)
    if is_big(index.game):
        return read_timings(prepare_index(_cache.data, index.game.name, index.symmetry) / INDEX, index.game.name)
    pairs = find_pairs(index.game)
    return build_timing(index, pairs, 0), build_timing(index, pairs, 1)


def checked_game(game: Game) -> Game:
    """The argument; a GameError if it is not a game."""
    if isinstance(game, str):
        raise GameError(f"Expected a game, found its name {game!r}; pttt.game({game!r}) gives the game.")
    if not isinstance(game, Game):
        raise GameError(f"Expected a game, found a {type(game).__name__}; pttt.game and pttt.tic_tac_toe give one.")
    return game


def checked_player(player: int) -> int:
    """The argument; a ConfigError if it is not a player's number."""
    if not isinstance(player, int | np.integer) or player not in (0, 1):
        raise ConfigError(f"There is no player {player!r}; players are 0 and 1.")
    return int(player)


def is_named(game: Game) -> bool:
    """Whether the package has a name for this game."""
    return find_game(game.name) == game


def is_big(game: Game) -> bool:
    """Whether the structure of this game is kept on disk."""
    return is_named(game) and sum(total_infosets(game.name)) > BIG


def _own_directory(game: Game, symmetry: Symmetry) -> Path | None:
    """The directory that :func:`remember` took, while it is there."""
    directory = _cache.directories.get((game, symmetry))
    return directory if directory and (directory / INDEX).is_dir() else None


def _directory_of(game: Game, symmetry: Symmetry) -> Path | None:
    if directory := _own_directory(game, symmetry):
        return directory
    return prepare_index(_cache.data, game.name, symmetry) if is_big(game) else None


def widest_symmetry(game: Game) -> Symmetry:
    """The symmetry to fold strategies of this game by: full, unless it has no symmetry or too many orders."""
    if len(checked_game(game).symmetries) == 1:
        return "none"
    try:
        index_of(game, "full")
    except GameError:  # a view has too many orders
        return "none"
    return "full"
