"""Equilibria on disk: a Zarr group with both players' sparse plans and, if the game is listed, their whole strategies.

The strategies are those of a solution in double precision, see :mod:`pttt_ooc.pipeline.files.solution`.  The plans are
stored for each player p, with their infosets and sequences in the order in which they were made:

========================== ============================================================================
``plan/<p>/before``        int32 (infosets,): the sequence that leads to an infoset; -1: none
``plan/<p>/placed``        bool (infosets,): whether the last attempt was placed
``plan/<p>/infosets``      int32 (sequences,): the infoset of a sequence
``plan/<p>/squares``       int8 (sequences,): the square that is attempted
``plan/<p>/chances``       float64 (sequences,): its probability at the infoset
========================== ============================================================================

An infoset stands for its mirror images, in its canonical orientation, and a square for all squares of its orbit, each
of which has the probability; see :mod:`pttt_ooc.exact.double_oracle.sparse_plan`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.disk.files import fresh_store
from pttt_ooc.disk.manifests import FORMAT_VERSION
from pttt_ooc.disk.store import read_array, write_array, write_attrs
from pttt_ooc.errors import StoreError
from pttt_ooc.exact.double_oracle.complete_strategy import CompleteStrategy, write_whole
from pttt_ooc.exact.double_oracle.restricted_histories import Plans
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables, rule_tables
from pttt_ooc.exact.double_oracle.sparse_plan import (
    SparsePlan,
    allow,
    first_infoset,
    next_infoset,
    squares_of,
    with_capacity,
)
from pttt_ooc.games.rules.game import Game
from pttt_ooc.pipeline.files.solution import Strategies, write_solution
from pttt_ooc.types import Attempts, Symmetry

SUPPORTS = "supports.zarr"
"""The name of the group with what some equilibrium plays."""

_SUM_TOLERANCE = 1e-6
_NAMES = ("before", "placed", "infosets", "squares", "chances")


def write_equilibrium(
    root: Path,
    game: Game,
    plans: Plans,
    attrs: Mapping[str, Any],
    symmetry: Symmetry = "full",
    otherwise: Strategies | None = None,
    always: bool = False,
    threads: int = 1,
    complete: bool = False,
) -> None:
    """Store an equilibrium in the (new) Zarr group `root`.

    Parameters
    ----------
    attrs
        JSON values for the attributes of the group.
    symmetry
        The symmetry of the run.
    otherwise
        If the game is listed: strategies, float64, for the infosets that a player's own actions never lead to.  They
        are changed at the others, and stored.
    always
        Whether the pure rule replaces them there too.
    complete
        Whether these strategies are an equilibrium already; they stay as they are, and the plans are another one.

    Raises
    ------
    StoreError
        If it cannot be written.
    """
    write_plans(root, plans)
    # Without a list of infosets, the plans are all there is.
    if otherwise is None:
        own = {"game": game.name, "symmetry": symmetry, "format_version": FORMAT_VERSION, "listed": False}
        write_attrs(root, dict(sorted({**attrs, **own}.items())))
        return
    # Where a player's own actions lead, plan and pure rule hold; elsewhere the strategies stay,
    # unless the rule is to hold there too.
    if not complete:
        rules = rule_tables(game)
        first, second = (
            write_whole(rules, plans[s.player], s.index, s.player, s.probabilities, always, threads) for s in otherwise
        )
        otherwise = first, second
    write_solution(root, otherwise, attrs, np.float64)


def write_plans(root: Path, plans: Plans) -> None:
    """Store both players' plans in the Zarr group `root`; a StoreError if it cannot be written."""
    for player, plan in enumerate(plans):
        for name, array in zip(_NAMES, _columns(plan), strict=True):
            write_array(root, f"plan/{player}/{name}", array, compress=True)


def _columns(plan: SparsePlan) -> tuple[NDArray[Any], ...]:
    """The arrays of a plan, in the order of their names."""
    infosets, sequences = plan.counts
    placed = np.zeros(infosets, np.bool_)
    at, step = np.nonzero(plan.children[:infosets] >= 0)
    placed[plan.children[at, step]] = step % 2 == 1
    return plan.before[:infosets], placed, plan.infosets[:sequences], squares_of(plan), plan.chances[:sequences]


def write_supports(directory: Path, game: Game, plans: Plans) -> Path:
    """Store, beside a game's index, what some equilibrium plays, as plans; returns the Zarr group.

    Raises
    ------
    StoreError
        If it cannot be written.
    """
    with fresh_store(directory / SUPPORTS) as root:
        write_plans(root, plans)
        write_attrs(root, {"game": game.name, "format_version": FORMAT_VERSION})
    return directory / SUPPORTS


def read_supports(directory: Path, rules: RuleTables) -> Plans | None:
    """What :func:`write_supports` stored; None if there is nothing.

    Raises
    ------
    StoreError
        If it is damaged.
    """
    root = directory / SUPPORTS
    return (_read(root, rules, 0, plays=False), _read(root, rules, 1, plays=False)) if root.is_dir() else None


def stored_support(directory: Path, game: Game) -> Support | None:
    """What :func:`write_supports` stored, if anything; errors as :func:`read_supports`."""
    plans = read_supports(directory, rule_tables(game))
    return Support(game, plans) if plans else None


class Support:
    """What some equilibrium plays, by the attempts of a player."""

    def __init__(self, game: Game, plans: Plans) -> None:
        rules = rule_tables(game)
        self._players = [CompleteStrategy(rules, player, plan) for player, plan in enumerate(plans)]

    def played_squares(self, player: int, attempts: Attempts) -> list[int] | None:
        """The squares that some equilibrium strategy attempts at an infoset.

        Parameters
        ----------
        attempts
            The player's attempts after the setup.

        Returns
        -------
        None if no pair of equilibrium strategies brings a game there.
        """
        return self._players[player].allowed_squares(attempts)


def read_plans(root: Path, rules: RuleTables) -> Plans:
    """Both players' plans.

    Raises
    ------
    StoreError
        If they are missing or damaged, or not of this game.
    """
    return _read(root, rules, 0, plays=True), _read(root, rules, 1, plays=True)


def _check_columns(
    rules: RuleTables,
    before: NDArray[Any],
    placed: NDArray[Any],
    leads: NDArray[Any],
    squares: NDArray[Any],
    chances: NDArray[Any],
) -> None:
    """Raise a ValueError if the arrays of a plan have other types or numbers out of range: kernels use them."""
    if not len(before) == len(placed) > 0 or not len(leads) == len(squares) == len(chances):
        raise ValueError("its arrays have different lengths")
    kinds = [(array.ndim, array.dtype.kind) for array in (before, placed, leads, squares, chances)]
    if kinds != [(1, "i"), (1, "b"), (1, "i"), (1, "i"), (1, "f")]:
        raise ValueError("its arrays have other types")
    ranges = ((before, -1, len(leads)), (leads, 0, len(before)), (squares, 0, rules.squares))
    if any(len(array) and not low <= array.min() <= array.max() < high for array, low, high in ranges):
        raise ValueError("its numbers are out of range")
    if not np.all((chances >= 0) & (chances <= 1)):
        raise ValueError("its probabilities are not between 0 and 1")


def _read(root: Path, rules: RuleTables, player: int, *, plays: bool) -> SparsePlan:
    """A player's plan; unless it `plays`, it is only what is allowed, and its chances are 0."""
    before, placed, leads, squares, chances = (read_array(root, f"plan/{player}/{name}") for name in _NAMES)
    try:
        _check_columns(rules, before, placed, leads, squares, chances)
        plan = with_capacity(first_infoset(rules, player), max(len(before), len(leads)))
        made = [1, 0]  # infosets and sequences; each comes after those that it needs
        while made != [len(before), len(leads)]:
            infoset, sequence = made
            if sequence < len(leads) and leads[sequence] < infoset:
                where, square = int(leads[sequence]), int(squares[sequence])
                known = plan.marks[where] | plan.fails[where]
                if known >> square & 1 or rules.least[plan.stabilisers[where], square] != square:
                    raise ValueError(f"square {square} is no action at one of its infosets")
                found, made[1] = allow(rules, plan, where, square), sequence + 1
                right = found == sequence
            else:
                above = int(before[infoset])
                step = (int(leads[above]), int(squares[above]), int(placed[infoset]))
                found, made[0] = next_infoset(rules, plan, *step), infoset + 1
                right = found == infoset and 0 <= above < sequence
            if not right:
                raise ValueError("its parts are doubled, or in another order")
        plan.chances[: len(chances)] = chances
        total = np.bincount(leads, chances * plan.orbits[: len(leads)], len(before))
        comes = np.append(chances, 1.0)[before] > 0  # -1, before the first infoset: the last entry
        decides = np.bincount(leads, minlength=len(before)) > 0
        if np.any((np.abs(total - 1) > _SUM_TOLERANCE) & ((total != 0) | (comes & decides & plays))):
            raise ValueError("its probabilities do not sum to 1 at each infoset to which it comes")
        return plan
    except (IndexError, ValueError) as error:
        raise StoreError(f"The plan of player {player} in {root} is damaged ({error}); make it again.") from error
