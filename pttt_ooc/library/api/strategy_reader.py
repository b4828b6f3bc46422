"""Reading of named strategies, and the value of the game.

A strategy of any kind is converted to the layout of a given index.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pttt_ooc.cfr.solving.evaluation import Evaluation, WorstCase, intersect
from pttt_ooc.config import Config, check_listed, solving_command
from pttt_ooc.disk.memory import MemoryNeeds, in_memory, virtual_array
from pttt_ooc.disk.numbers import span
from pttt_ooc.errors import ConfigError, StoreError, StrategyFileError
from pttt_ooc.games.rules.catalogue import reference_value
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.strategy import Floats, Strategy, uniform_strategy
from pttt_ooc.games.structure.symmetry import fold, unfold
from pttt_ooc.games.structure.views import Ints
from pttt_ooc.library.api.strategy_names import NamedStrategy, further_of, named_strategy
from pttt_ooc.pipeline.files.file_headers import solution_attrs
from pttt_ooc.pipeline.files.infosets import BLOCK_ROWS, DefaultRows, Rows, default_rows, read_infosets
from pttt_ooc.pipeline.files.solution import read_player
from pttt_ooc.pipeline.files.tensor_reader import open_tensor
from pttt_ooc.pipeline.files.tensors import strategy_from_tensor
from pttt_ooc.pipeline.stages.directories import results_of, runs_of
from pttt_ooc.pipeline.stages.preparation import open_index
from pttt_ooc.pipeline.stages.strategy_store import strategies_of
from pttt_ooc.types import Interval, Symmetry

_ROUNDING = 1e-9
_ROWS_BYTES = BLOCK_ROWS * 10 * 3 * 8  # in the file, as numbers, and in HDF5's buffers


# ---------------------------------------------------------------------------------------------
# Strategies


@dataclass(frozen=True)
class ReadingArrays:
    """Arrays for reading one strategy; an empty tuple stands for an array that is not needed.

    Attributes
    ----------
    probabilities
        float, shape (sequences,): the strategy on the target index.
    read
        float, shape (sequences,): the strategy on the index of its own symmetry, if that is another index.
    rows
        int64, shape (infosets,): the node number of each row, if a file gives the order of rows.
    """

    probabilities: Floats
    read: Floats | tuple[()]
    rows: Ints | tuple[()]


def reading_needs(
    named: Sequence[NamedStrategy], target: Index, data: Path, normalised: bool = True
) -> MemoryNeeds[tuple[ReadingArrays, ...]]:
    """Memory that :func:`load_strategy` needs for some strategies, each with its own arrays.

    Parameters
    ----------
    normalised
        If false, single-precision probabilities stay as they are in the file where possible; the engine scales them.
    """
    fixed, arrays = {"rows being read": len(named) * _ROWS_BYTES}, []
    for one in named:
        in_rows = one.kind in ("tensor", "bundle")
        in_order = one.kind == "bundle" or one.infosets is not None
        own = target if one.kind == "uniform" else _own_index(one, target, data)
        mine = own.players[one.player]
        narrow = one.dtype is not None and one.dtype.itemsize <= 4
        as_is = own is target and not normalised and narrow
        dtype = np.float64 if (in_rows and not as_is) or (one.dtype is not None and not narrow) else np.float32
        arrays.append(
            ReadingArrays(
                virtual_array(target.players[one.player].sequences, dtype),
                () if own is target else virtual_array(mine.sequences, dtype),
                virtual_array(int(mine.infosets_by_slice().sum()), np.int64) if in_order else (),
            )
        )
        if in_order:
            fixed[f"infosets read of player {one.player}"] = mine.nodes  # a byte each
        elif one.kind == "tensor":
            fixed[f"order of rows of player {one.player}"] = DefaultRows(own, one.player).nbytes
    return MemoryNeeds(fixed, tuple(arrays))


def load_strategy(
    named: NamedStrategy, target: Index, data: Path, arrays: ReadingArrays | None = None, scratch: Path | None = None
) -> Strategy:
    """Read a strategy, check it and convert it to the layout of the index `target`.

    Parameters
    ----------
    arrays
        See :func:`reading_needs`; default: new arrays in memory.
    scratch
        A directory for a tensor in Fortran order; default: the directory of its file.

    Raises
    ------
    PtttError
        If it cannot be read, is malformed, or is not symmetric although `target` is.
    """
    if arrays is None:
        [arrays] = in_memory(reading_needs([named], target, data).arrays)
    if named.kind == "uniform":
        return uniform_strategy(target, named.player, into=arrays.probabilities)
    own = _own_index(named, target, data)
    if isinstance(arrays.read, tuple):
        return _read(named, own, arrays.probabilities, arrays.rows, scratch)
    strategy = _read(named, own, arrays.read, arrays.rows, scratch)
    if target.symmetry == "none":
        return unfold(strategy, target, arrays.probabilities)
    return fold(strategy, target, into=arrays.probabilities)


def read_opponent(name: str, player: int, target: Index, data: Path) -> Strategy:
    """A player's strategy by its name, on the index `target`; for errors see :func:`load_strategy` and `further_of`."""
    named = named_strategy(name, player)
    further_of([named], target.game.name)
    return load_strategy(named, target, data)


def common_symmetry(named: Sequence[NamedStrategy]) -> Symmetry:
    """The symmetry of all these strategies, as far as their headers tell."""
    solutions = [one.metadata["symmetry"] for one in named if one.kind == "solution"]
    others = {one.kind for one in named} - {"solution", "uniform"}
    return "full" if solutions and set(solutions) == {"full"} and not others else "none"


def _own_index(named: NamedStrategy, target: Index, data: Path) -> Index:
    """The index in whose layout a strategy is read."""
    symmetry: Symmetry = named.metadata["symmetry"] if named.kind == "solution" else "none"
    return target if symmetry == target.symmetry else open_index(data, target.game.name, symmetry)


def _read(named: NamedStrategy, own: Index, into: Floats, rows: Ints | tuple[()], scratch: Path | None) -> Strategy:
    player, collected = named.player, None if isinstance(rows, tuple) else rows
    if named.kind == "solution":
        return read_player(named.path, own, player, into)
    if named.kind == "bundle":
        from pttt_ooc.pipeline.files.bundle import read_bundle_strategy  # HDF5 takes long to import

        return Strategy(own, player, read_bundle_strategy(named.path, own, player, collected, into))
    order: Rows = DefaultRows(own, player)
    if named.infosets is not None:
        order = read_infosets(own, player, named.infosets, collected)
    with open_tensor(named.path, (len(order), own.game.squares), scratch) as tensor:
        # Single precision keeps the file's numbers; scaling would round them.
        scaled = into.dtype == np.float64
        read = strategy_from_tensor(own, player, tensor, order, source=str(named.path), into=into, normalise=scaled)
    return Strategy(own, player, read)


def rows_of(whole: Index, player: int, infosets: Path | None, into: Ints | None = None) -> Ints:
    """Node number of each row of a tensor, in the order of a file of infosets or in the default order."""
    return default_rows(whole, player, into) if infosets is None else read_infosets(whole, player, infosets, into)


# ---------------------------------------------------------------------------------------------
# The value of the game


def parse_interval(text: str) -> Interval:
    """The interval of a text such as ``"0.55"`` or ``"0.5501,0.5502"``.

    Raises
    ------
    ConfigError
        If it is not an interval within -1 .. 1.
    """
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2) or not -1 <= numbers[0] <= numbers[-1] <= 1:
        raise ConfigError(f"The value of the game is {text!r}, but must be a number from -1 to 1, or LOW,HIGH.")
    return numbers[0], numbers[-1]


def known_value(game: Game, named: Sequence[NamedStrategy], data: Path) -> Interval | None:
    """The narrowest interval that is known to hold the value of the game.

    With a certificate, it is the proven value; otherwise it comes from the given solutions and bundles, and from the
    solutions of the game in `data`.
    """
    if (proven := reference_value(game)) is not None:
        return proven
    intervals = [_value_in(one.metadata) for one in named]
    for symmetry in ("full", "none"):
        for results in runs_of(results_of(data, game.name, symmetry)):
            with suppress(StoreError):  # most games have not been solved here
                intervals.append(_value_in(solution_attrs(strategies_of(results))))
    known: Interval | None = None
    for interval in intervals:
        if interval is not None:
            known = intersect(interval, known)
    return known


def required_value(game: Game, named: Sequence[NamedStrategy], data: Path) -> Interval:
    """Like :func:`known_value`, but raises a ConfigError if nothing is known."""
    known = known_value(game, named, data)
    if known is None:
        raise ConfigError(f"The value of {game.name} is not known here; give it by --game-value.")
    return known


def best_solution(game: Game, data: Path) -> Path:
    """The directory in `data` of the solution with the narrowest interval for the game's value; no plans.

    Raises
    ------
    StoreError
        If there is none.
    GameError
        If there is none because the game's infosets are not listed.
    """
    found: list[tuple[float, Path]] = []
    for symmetry in ("full", "none"):
        for results in runs_of(results_of(data, game.name, symmetry)):
            with suppress(StoreError):
                attrs = solution_attrs(strategies_of(results))
                if attrs.get("listed") is not False:
                    interval = _value_in(attrs)
                    found.append((interval[1] - interval[0] if interval else math.inf, results))
    if not found:
        check_listed(Config(game=game.name), "a solution that this command can read")
        raise StoreError(
            f"There is no solution of {game.name} in {data}; `{solving_command(game.name, data)}` makes one, or name a "
            "strategy by --equilibrium."
        )
    return min(found)[1]


def _value_in(metadata: Mapping[str, Any]) -> Interval | None:
    """The interval in the metadata of a solution, or of a bundle made from one."""
    solve = metadata.get("solve")
    for place in (metadata, metadata.get("solution"), solve.get("result") if isinstance(solve, Mapping) else None):
        if isinstance(place, Mapping):
            low, high = place.get("value_lower"), place.get("value_upper")
            if isinstance(low, int | float) and isinstance(high, int | float) and low <= high:
                return float(low), float(high)
    return None


def with_value(result: Evaluation, interval: Interval | None, known: Interval | None) -> Evaluation:
    """An evaluation, measured against the value of the game.

    Parameters
    ----------
    interval
        The interval that the user gave, if any.
    known
        From :func:`known_value`.  The two best responses prove another interval, which narrows it.  If only that
        interval is known, the exploitabilities stay unknown: its middle would give each player half of NashConv.

    Raises
    ------
    StrategyFileError, ConfigError
        If `known` or `interval` contradicts the best responses.
    """
    proved = (
        -result.best_response_1,
        max(result.best_response_0, -result.best_response_1),
    )  # equal at an equilibrium
    if interval is not None:
        if interval[0] > proved[1] + _ROUNDING or interval[1] < proved[0] - _ROUNDING:
            raise ConfigError(
                f"The value of the game cannot be {span(*interval, 9)}: it lies in {span(*proved, 9)}, as the best "
                "responses to these strategies prove."
            )
        return result.against(interval)
    if known is None:
        return replace(result.against(None), game_value=proved)
    if known[0] > proved[1] + _ROUNDING or known[1] < proved[0] - _ROUNDING:
        raise StrategyFileError(
            f"The value of the game lies in {span(*proved, 9)}, as these strategies prove, but a "
            f"solution says {span(*known, 9)}; give the value by --game-value."
        )
    return result.against(intersect(known, proved))  # disjoint only by rounding: keep what was known


def check_worst_case(found: WorstCase) -> None:
    """Raise a ConfigError if a strategy guarantees more than the value of the game that it is measured against."""
    if found.game_value is None:
        return
    value = found.game_value[1] if found.player == 0 else -found.game_value[0]
    if found.worst_case > value + _ROUNDING:
        raise ConfigError(
            f"The value of the game for player {found.player} cannot be {value:.9f}: this strategy gets at least "
            f"{found.worst_case:.9f}. Give another value by --game-value."
        )
