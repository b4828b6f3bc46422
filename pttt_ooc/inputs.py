"""What the command line is given: names of strategies, rows and values, and where indices are kept.

A strategy is named by a ``.zip`` or ``.npy`` (a tensor), an ``.h5`` (the hand-over file), the directory
of a solution, or the word ``uniform``.  Whatever it is, it is brought to the layout of the index that
the command works with.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pttt_ooc.bundle import read_bundle_strategy
from pttt_ooc.errors import ConfigError, StoreError, StrategyFileError
from pttt_ooc.evaluate import Interval, narrowed, reference_value
from pttt_ooc.formats import read_strategy_file, strategy_from_tensor
from pttt_ooc.game import Game, named_game
from pttt_ooc.index import Index, Symmetry
from pttt_ooc.infosets import default_rows, read_infosets
from pttt_ooc.kernels import ensure_compiled
from pttt_ooc.manifests import read_manifest
from pttt_ooc.provenance import source_digest
from pttt_ooc.solution import read_solution, solution_attrs
from pttt_ooc.stages import common, enumerate, index
from pttt_ooc.strategy import Strategy, fold, unfold, uniform_strategy
from pttt_ooc.tables import read_index
from pttt_ooc.views import Ints

Kind = Literal["uniform", "tensor", "bundle", "solution"]
SOLUTION = "solution.zarr"
_SUFFIXES: dict[str, Kind] = {".zip": "tensor", ".npy": "tensor", ".h5": "bundle"}
_KINDS = "a strategy is a .zip, a .npy, an .h5, the directory of a solution, or the word uniform"


# ---------------------------------------------------------------------------------------------
# Indices


def prepared(data: Path, game: str, symmetry: Symmetry) -> Path:
    """The directory with the products of the stages "enumerate" and "index"; what is missing is made.

    Parameters
    ----------
    data
        The directory of all games; the workflow's is ``data``.

    Raises
    ------
    PtttError
        If the game is unknown, a product is damaged, another run is at work there, or the disk cannot be written to.
    """
    named_game(game)
    ensure_compiled()
    directory = data / game / symmetry
    common.forget_lost(directory)
    stale = [stage for stage in ("enumerate", "index") if not _is_current(directory, stage)]
    if stale:
        print(
            f"Building the index of {game} once, in {directory}; a big game takes about a minute ...", file=sys.stderr
        )
    if "enumerate" in stale:
        enumerate.run(game, directory)
    if stale:
        index.run(game, symmetry, directory)
    common.inputs(directory, "enumerate", "index")
    return directory


def _is_current(directory: Path, stage: str) -> bool:
    """Whether a stage has been run, and by this version of its sources, as far as its manifest tells."""
    manifest = common.manifest_of(directory, stage)
    if not manifest.exists():
        return False
    return bool(read_manifest(manifest, stage).get("sources") == source_digest(stage))


def open_index(data: Path, game: str, symmetry: Symmetry = "none") -> Index:
    """The index of a game, from the products in `data`; errors as :func:`prepared`."""
    return read_index(prepared(data, game, symmetry) / "index.zarr", game, symmetry)


# ---------------------------------------------------------------------------------------------
# Strategies


@dataclass(frozen=True)
class Given:
    """A strategy as it is named on the command line.

    Attributes
    ----------
    name
        What was typed.
    kind
        ``"uniform"``, ``"tensor"``, ``"bundle"`` or ``"solution"``.
    path
        The file, or the Zarr group of the solution; of no meaning for ``"uniform"``.
    player
        Whose strategy is wanted.
    infosets
        The file that fixes the order of the rows of a tensor, if any.
    attrs
        What a solution says of itself.
    """

    name: str
    kind: Kind
    path: Path
    player: int
    infosets: Path | None
    attrs: dict[str, Any]


def given_strategy(name: str, player: int, game: str, infosets: Path | None = None) -> Given:
    """Find out what `name` is; a look at files that takes no time.

    Raises
    ------
    StrategyFileError
        If there is no such file, or it is of no known kind or of another game.
    ConfigError
        If there is an infoset file, but no tensor whose rows it could put in order.
    """
    kind, path = _kind_of(name)
    attrs = _attrs_of(path, game) if kind == "solution" else {}
    if infosets is not None and kind != "tensor":
        raise ConfigError(f"{name} is no .zip or .npy, so that {infosets} cannot fix its order of rows; leave it out.")
    if infosets is not None and not infosets.is_file():
        raise StrategyFileError(f"{infosets}: There is no such file.")
    return Given(name, kind, path, player, infosets, attrs)


def _kind_of(name: str) -> tuple[Kind, Path]:
    path = Path(name)
    if name == "uniform":
        return "uniform", path
    if path.is_dir():
        return "solution", path / SOLUTION if (path / SOLUTION).is_dir() else path
    if not path.exists():
        raise StrategyFileError(f"{name}: There is no such file or directory; {_KINDS}.")
    if path.suffix.lower() not in _SUFFIXES:
        raise StrategyFileError(f"{name}: Not a known kind of file; {_KINDS}.")
    return _SUFFIXES[path.suffix.lower()], path


def _attrs_of(path: Path, game: str) -> dict[str, Any]:
    try:
        attrs = solution_attrs(path)
    except StoreError as error:
        raise StrategyFileError(f"{path}: No readable solution is here ({str(error).rstrip('.')}).") from error
    if attrs["game"] != game:
        raise StrategyFileError(f"{path}: This is a solution of {attrs['game']}, not of {game}; add --game to say so.")
    if attrs["symmetry"] not in ("none", "full"):
        raise StrategyFileError(f"{path}: This solution has the unknown symmetry {attrs['symmetry']!r}.")
    return attrs


def load_strategy(given: Given, target: Index, data: Path) -> Strategy:
    """Read a strategy, check it and bring it to the layout of the index `target`.

    Raises
    ------
    PtttError
        If it cannot be read or is malformed, or is not symmetric where `target` wants that.
    """
    if given.kind == "uniform":
        return uniform_strategy(target, given.player)
    symmetry: Symmetry = given.attrs["symmetry"] if given.kind == "solution" else "none"
    own = target if symmetry == target.symmetry else open_index(data, target.game.name, symmetry)
    strategy = _read(given, own)
    if own is target:
        return strategy
    return unfold(strategy, target) if target.symmetry == "none" else fold(strategy, target)


def _read(given: Given, own: Index) -> Strategy:
    player = given.player
    if given.kind == "solution":
        return read_solution(given.path, own)[player]
    if given.kind == "bundle":
        return Strategy(own, player, read_bundle_strategy(given.path, own, player))
    rows = rows_of(own, player, given.infosets)
    tensor = read_strategy_file(given.path, (len(rows), own.game.squares))
    return Strategy(own, player, strategy_from_tensor(own, player, tensor, rows, source=str(given.path)))


def rows_of(whole: Index, player: int, infosets: Path | None) -> Ints:
    """Node number of each row of a tensor: in the order of a file of infosets, or else in the default order."""
    return default_rows(whole, player) if infosets is None else read_infosets(whole, player, infosets)


# ---------------------------------------------------------------------------------------------
# The value of the game


def parse_interval(text: str) -> Interval:
    """The interval that ``"0.55"`` or ``"0.5501,0.5502"`` stands for.

    Raises
    ------
    ConfigError
        If it is no interval within -1 .. 1.
    """
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2) or not -1 <= numbers[0] <= numbers[-1] <= 1:
        raise ConfigError(
            f"The value of the game is given as {text!r}, but must be a number from -1 to 1, or LOW,HIGH."
        )
    return numbers[0], numbers[-1]


def known_value(game: Game, strategies: tuple[Given, Given]) -> Interval | None:
    """The narrowest interval that the package and the given solutions know to hold the value of the game."""
    known = reference_value(game)
    for given in strategies:
        proved = (given.attrs.get("value_lower"), given.attrs.get("value_upper"))
        low, high = (float(x) if isinstance(x, int | float) else math.nan for x in proved)
        if low <= high:
            known = narrowed((low, high), known)
    return known
