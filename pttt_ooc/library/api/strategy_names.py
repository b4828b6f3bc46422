"""Strategies by their names, and the game they are for; only headers are read.

A name is that of a ``.zip`` or ``.npy`` file (a tensor), an ``.h5`` file (a bundle), the directory of a solution, or
the word ``uniform``.  Errors in a name or a header are raised before any index is built.

An equilibrium of a game whose infosets are not listed is a *plan*: it answers questions about infosets, but it does not
have numbers at every infoset, so most commands refuse it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pttt_ooc.disk.numbers import join_words
from pttt_ooc.errors import ConfigError, InfosetFileError, StoreError, StrategyError, StrategyFileError
from pttt_ooc.games.rules.catalogue import DEFAULT_GAME, GAMES, find_game, named_game
from pttt_ooc.games.rules.game import MOST_ENUMERATED_SQUARES, Game
from pttt_ooc.games.structure.counts import total_infosets
from pttt_ooc.pipeline.files.file_headers import solution_attrs, solution_dtype
from pttt_ooc.pipeline.files.tensor_reader import tensor_header
from pttt_ooc.pipeline.files.zipped_array import other_player
from pttt_ooc.pipeline.stages.directories import EQUILIBRIUM, SOLUTION
from pttt_ooc.pipeline.stages.strategy_store import strategies_of

Kind = Literal["uniform", "tensor", "bundle", "solution", "plan"]
_SUFFIXES: dict[str, Kind] = {".zip": "tensor", ".npy": "tensor", ".h5": "bundle"}
_KINDS = "a strategy is a .zip, a .npy, an .h5, the directory of a solution, or the word uniform"


@dataclass(frozen=True)
class NamedStrategy:
    """A strategy by its name, with the facts of its header.

    Attributes
    ----------
    name
        As typed.
    kind
        ``"uniform"``, ``"tensor"``, ``"bundle"``, ``"solution"`` or ``"plan"``.
    path
        The file, or the Zarr group of the solution; not used for ``"uniform"``.
    player
        The strategy's player.
    infosets
        The file that gives the order of a tensor's rows, if any.
    game
        Name of the game, from the header of a bundle or solution; None for the other kinds.
    shape
        Shape of the tensor, for a tensor or bundle; None for the other kinds.
    dtype
        Data type of a tensor or solution; None for the other kinds.
    metadata
        Other facts in the header of a bundle or solution.
    """

    name: str
    kind: Kind
    path: Path
    player: int
    infosets: Path | None = None
    game: str | None = None
    shape: tuple[int, ...] | None = None
    dtype: np.dtype[Any] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


def named_strategy(name: str, player: int, infosets: Path | None = None, plans: bool = False) -> NamedStrategy:
    """Find out what `name` is; only headers are read.

    Parameters
    ----------
    plans
        Whether it may be a plan without a list of the game's infosets.

    Raises
    ------
    StrategyFileError, StrategyError
        If there is no such file, its kind is unknown, or its header is not a strategy's.
    ConfigError
        If there is an infoset file, but `name` is not a tensor.
    """
    kind, path = _kind_of(name)
    if infosets is not None:
        if kind != "tensor":
            raise ConfigError(
                f"{name} is no .zip or .npy, so {infosets} cannot give the order of its rows; leave it out."
            )
        check_infosets_file(infosets)
    if kind == "tensor":
        shape, dtype = tensor_header(path)
        return NamedStrategy(name, kind, path, player, infosets, shape=shape, dtype=dtype)
    if kind == "bundle":
        from pttt_ooc.pipeline.files.bundle import read_bundle_header  # HDF5 takes long to import

        header = read_bundle_header(path, player)
        return NamedStrategy(name, kind, path, player, game=header.game, shape=header.shape, metadata=header.facts)
    metadata = _solution_metadata(path, plans) if kind == "solution" else {}
    if metadata.get("listed") is False:
        return NamedStrategy(name, "plan", path, player, game=metadata["game"], metadata=metadata)
    of_solution = solution_dtype(metadata) if kind == "solution" else None
    return NamedStrategy(name, kind, path, player, game=metadata.get("game"), dtype=of_solution, metadata=metadata)


def player_of(names: Sequence[str], asked_game: str | None) -> int:
    """The player of these strategies, by the shapes of tensors.

    Parameters
    ----------
    asked_game
        Name of the game, if known.

    Raises
    ------
    ConfigError
        If the shapes do not show it.
    StrategyFileError, StrategyError
        See :func:`named_strategy`.
    """
    for name in names:
        kind, path = _kind_of(name)
        if kind == "tensor":
            shape, _ = tensor_header(path)
            games = [
                [game for game in games_of_shape(shape, player) if asked_game in (None, game)] for player in (0, 1)
            ]
            if bool(games[0]) != bool(games[1]):
                return 0 if games[0] else 1
            if not games[0]:
                return 0  # no player has this shape: a later check refuses it
    raise ConfigError(f"{' and '.join(names)} may be for either player; say whose by --player.")


def is_of_both_players(name: str) -> bool:
    """Whether a name stands for a strategy of each player: a solution, a bundle, or uniform play."""
    return _kind_of(name)[0] != "tensor"


def _kind_of(name: str) -> tuple[Kind, Path]:
    path = Path(name)
    if name == "uniform":
        return "uniform", path
    if not name:
        raise StrategyFileError(f"A strategy's name is empty; {_KINDS}.")
    if path.is_dir():
        if (store := strategies_of(path)).is_dir():
            return "solution", store
        if not (path / "zarr.json").exists():
            below = sorted(store for name in (SOLUTION, EQUILIBRIUM) for store in path.glob(f"*/*/{name}"))
            hint = f"; did you mean {below[0].parent}?" if below else f"; {_KINDS}."
            raise StrategyFileError(f"{name}: This directory holds no solution{hint}")
        return "solution", path
    if not path.exists():
        raise StrategyFileError(f"{name}: There is no such file or directory; {_KINDS}.")
    if path.suffix.lower() not in _SUFFIXES or not path.is_file():
        raise StrategyFileError(f"{name}: Not a known kind of file; {_KINDS}.")
    return _SUFFIXES[path.suffix.lower()], path


def check_infosets_file(path: Path) -> None:
    """Raise an InfosetFileError if the first byte of a file shows that it is not a list of infosets."""
    if not path.is_file():
        raise InfosetFileError(f"{path}: There is no such file.")
    with open(path, "rb") as f:
        begins = f.read(1)
    if begins and begins != b"|":
        raise InfosetFileError(f"{path}: This is no list of infosets, in which every line begins with a bar, '|'.")


def _solution_metadata(path: Path, plans: bool) -> dict[str, Any]:
    try:
        metadata = solution_attrs(path)
    except StoreError as error:
        raise StrategyFileError(f"{path}: There is no readable solution ({str(error).rstrip('.')}).") from error
    if not isinstance(metadata["game"], str) or metadata["symmetry"] not in ("none", "full"):
        raise StrategyFileError(f"{path}: This solution has the unknown symmetry or game {metadata['symmetry']!r}.")
    if metadata.get("listed") is False and not plans:
        _refuse_plan(path, metadata["game"])
    return metadata


def _refuse_plan(path: Path, game: str) -> None:
    """Raise a StrategyFileError: this command needs numbers at all infosets."""
    what = f"{path}: This is a plan of {game} without a list of its infosets"
    answers = "`pttt show` and `pttt web` answer from it"
    if named_game(game).squares > MOST_ENUMERATED_SQUARES:
        raise StrategyFileError(f"{what}, which are too many to be listed; {answers}.")
    raise StrategyFileError(
        f"{what}; {answers}. For other commands set listed: true in config.yaml, and run the workflow again."
    )


# ---------------------------------------------------------------------------------------------
# The game that strategies are for


def further_of(strategies: Sequence[NamedStrategy], game_name: str | None) -> Game:
    """The game named `game_name`; default: the game in the strategies' headers.

    A solution and a bundle name their game; the shape of a tensor shows which games it fits.

    Raises
    ------
    UnknownGameError
        If there is no such game.
    StrategyFileError, StrategyError
        If a strategy is for another game or player, or several games are possible.
    """
    rules = None if game_name is None else named_game(game_name)
    for one in strategies:
        if one.game is not None and find_game(one.game) is None:
            raise StrategyFileError(f"{one.path}: This is for the game {one.game!r}, which this program does not know.")
    named = [one for one in strategies if one.game is not None]
    for one in named:
        if rules is not None and one.game != rules.name:
            what = "a solution" if one.kind == "solution" else "a pair of strategies"
            raise StrategyFileError(
                f"{one.path}: This is {what} of {one.game}, not of {rules.name}; leave out --game, or name the other."
            )
        if one.game != named[0].game:
            raise StrategyFileError(f"{named[0].name} is for {named[0].game}, but {one.name} is for {one.game}.")
    shaped = [one for one in strategies if one.shape is not None]
    if rules is None and named:
        rules = named_game(str(named[0].game))
    if rules is None and shaped:
        rules = _game_by_shape(shaped)
    rules = rules or named_game(DEFAULT_GAME)
    for one in shaped:
        _check_shape(one, rules)
    return rules


def _shape(game: Game, player: int) -> tuple[int, int]:
    return total_infosets(game.name)[player], game.squares


def games_of_shape(shape: tuple[int, ...] | None, player: int) -> list[str]:
    """Names of the games in which a player's tensors have this shape."""
    possible = [game for game in GAMES.values() if shape is not None and shape[1:] == (game.squares,)]
    return [game.name for game in possible if _shape(game, player) == shape]


def _game_by_shape(shaped: Sequence[NamedStrategy]) -> Game:
    possible = [games_of_shape(one.shape, one.player) for one in shaped]
    for one, games in zip(shaped, possible, strict=True):
        if not games:
            _refuse_shape(one, "as no game has")
    common = [name for name in possible[0] if all(name in games for games in possible)]
    if not common:
        fits = [f"{one.name} fits {join_words(games, 'or')}" for one, games in zip(shaped, possible, strict=True)]
        raise StrategyError(f"The strategies are for different games: {', but '.join(fits)}.")
    if len(common) > 1:
        raise StrategyError(
            f"{shaped[0].name}: The shape {shaped[0].shape} fits {join_words(common, 'or')}; say which by --game."
        )
    return named_game(common[0])


def _check_shape(one: NamedStrategy, game: Game) -> None:
    expected = _shape(game, one.player)
    if one.shape != expected:
        _refuse_shape(one, f"expected {expected}", game)


def _refuse_shape(one: NamedStrategy, expected: str, game: Game | None = None) -> None:
    """Refuse a tensor whose shape does not fit the player in the game; say what the shape fits."""
    own, other = games_of_shape(one.shape, one.player), games_of_shape(one.shape, 1 - one.player)
    where = f" for player {one.player}" + (f" in {game.name}" if game else "")
    hint = ""
    if (game.name in other) if game else other:
        games = "" if game else f" in {join_words(other, 'or')}"
        hint = f". {other_player(one.player, games)}"
    elif own:
        hint = f"; it fits {join_words(own, 'or')}: give the game by --game."
    elif other:
        hint = f"; it fits player {1 - one.player} in {join_words(other, 'or')}."
    raise StrategyError(f"{one.path}: Invalid tensor shape: found {one.shape}, {expected}{where}{hint or '.'}")


def only_plan(named: list[NamedStrategy]) -> NamedStrategy | None:
    """The plan among some strategies; None if there is none.

    Raises
    ------
    StrategyFileError
        If there are other strategies.
    """
    plan = next((one for one in named if one.kind == "plan"), None)
    other = next((one for one in named if plan and (one.kind, one.path) != (plan.kind, plan.path)), None)
    if plan and other:
        raise StrategyFileError(
            f"{plan.name} is a plan of {plan.game} without a list of its infosets, and cannot be looked at together "
            f"with {other.name}; name it alone."
        )
    return plan
