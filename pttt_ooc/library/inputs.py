"""Strategies that a person named, in the layout that is wanted, and the value of the game.

Whatever kind a strategy is of, it is brought to the layout of the index that the command works with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pttt_ooc.aliases import Interval, Symmetry
from pttt_ooc.errors import ConfigError, StoreError, StrategyFileError
from pttt_ooc.library.given import SOLUTION, Given
from pttt_ooc.products.bundle import read_bundle_strategy
from pttt_ooc.products.infosets import default_rows, read_infosets
from pttt_ooc.products.solution import read_solution, solution_attrs
from pttt_ooc.products.tensors import open_tensor, strategy_from_tensor
from pttt_ooc.rules.catalogue import reference_value
from pttt_ooc.rules.game import Game
from pttt_ooc.solving.evaluation import Evaluation, narrowed
from pttt_ooc.stages.prepare import is_prepared, open_index
from pttt_ooc.structure.index import Index
from pttt_ooc.structure.strategy import Strategy, uniform_strategy
from pttt_ooc.structure.symmetry import fold, fold_if_symmetric, unfold
from pttt_ooc.structure.views import Ints
from pttt_ooc.sweep.parallel import in_order

_ROUNDING = 1e-9


# ---------------------------------------------------------------------------------------------
# Strategies


def load_strategy(given: Given, target: Index, data: Path) -> Strategy:
    """Read a strategy, check it and bring it to the layout of the index `target`.

    Raises
    ------
    PtttError
        If it cannot be read or is malformed, or is not symmetric where `target` wants that.
    """
    if given.kind == "uniform":
        return uniform_strategy(target, given.player)
    symmetry: Symmetry = given.said["symmetry"] if given.kind == "solution" else "none"
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
    with open_tensor(given.path, (len(rows), own.game.squares)) as tensor:
        return Strategy(own, player, strategy_from_tensor(own, player, tensor, rows, source=str(given.path)))


def folded_if_possible(strategies: Sequence[Strategy], data: Path, threads: int) -> list[Strategy]:
    """Strategies on the index with symmetry, which is a seventh of the work, or else as they are.

    It is possible if all are symmetric up to rounding and that index is in `data` already: building it would take
    longer than it saves.
    """
    game = strategies[0].index.game.name
    if any(one.index.symmetry != "none" for one in strategies) or not is_prepared(data, game, "full"):
        return list(strategies)
    index = open_index(data, game, "full")
    folded = list(in_order(lambda one: fold_if_symmetric(one, index), strategies, threads))
    found = [one for one in folded if one is not None]
    return found if len(found) == len(strategies) else list(strategies)


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


def known_value(game: Game, given: Sequence[Given], data: Path) -> Interval | None:
    """The narrowest interval that is known to hold the value of the game.

    What tells it are the package, the given solutions and bundles, and the solutions of the game in `data`.
    """
    said = [_said_value(one.said) for one in given]
    for symmetry in ("full", "none"):
        with suppress(StoreError):  # most games have not been solved here
            said.append(_said_value(solution_attrs(data / game.name / symmetry / SOLUTION)))
    known = reference_value(game)
    for interval in said:
        if interval is not None:
            known = narrowed(interval, known)
    return known


def _said_value(said: Mapping[str, Any]) -> Interval | None:
    """The interval in what a solution says of itself, or in the facts of a bundle that was made of one."""
    solve = said.get("solve")
    for place in (said, said.get("solution"), solve.get("result") if isinstance(solve, Mapping) else None):
        if isinstance(place, Mapping):
            low, high = place.get("value_lower"), place.get("value_upper")
            if isinstance(low, int | float) and isinstance(high, int | float) and low <= high:
                return float(low), float(high)
    return None


def with_value(found: Evaluation, asked: Interval | None, known: Interval | None) -> Evaluation:
    """An evaluation, measured against the value of the game.

    Parameters
    ----------
    asked
        The interval that the user named, if any.
    known
        From :func:`known_value`.  The two best responses prove an interval as well, which narrows it.  If it is all
        that is known, the exploitabilities stay unknown: its middle would give both players half of NashConv.

    Raises
    ------
    StrategyFileError
        If what is known cannot be true.
    """
    if asked is not None:
        return found.against(asked)
    proved = -found.best_response_1, max(found.best_response_0, -found.best_response_1)  # equal at an equilibrium
    if known is None:
        return replace(found.against(None), game_value=proved)
    if known[0] > proved[1] + _ROUNDING or known[1] < proved[0] - _ROUNDING:
        raise StrategyFileError(
            f"The value of the game lies in {proved[0]:.9f} .. {proved[1]:.9f}, as these strategies prove, but a "
            f"solution says {known[0]:.9f} .. {known[1]:.9f}; give the value by --game-value."
        )
    return found.against(narrowed(proved, known))
