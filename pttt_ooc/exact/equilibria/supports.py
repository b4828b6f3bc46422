"""What some equilibrium plays, and the dimension of the set of equilibrium strategies.

Some sequences of a player have reach in some equilibrium strategy.  A strategy in the relative interior of the
optimal face plays all of them: it is a mean of strategies, each of which maximises the reach of sequences that no
earlier one plays.

An infoset is *met* if equilibrium strategies of both players lead to it.  Elsewhere a player of such a strategy is free
as long as the other gains nothing by going there, so most dimensions of the whole face are about what never happens.
At met infosets, linear equations that hold on the face give the dimension: flow, and the equal payoffs of all sequences
that the other player plays in some equilibrium (strict complementarity: Goldman and Tucker 1956).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pttt_ooc.exact.double_oracle.restricted_histories import HistoryFinder, Plans, WonHistories
from pttt_ooc.exact.double_oracle.sequence_form import sequence_form
from pttt_ooc.exact.double_oracle.sparse_plan import SparsePlan, first_infoset
from pttt_ooc.exact.double_oracle.warm_start import allow_played
from pttt_ooc.exact.equilibria.optimal_face import OptimalFace
from pttt_ooc.exact.equilibria.plan_places import PlanPlaces
from pttt_ooc.exact.equilibria.responses import Floats
from pttt_ooc.games.structure.strategy import Strategy

REACHED = 1e-8
"""A sequence is played by some equilibrium strategy if its reach can be larger than this."""

_PLAYED = 1e-12  # a probability that counts

PRIME = (1 << 61) - 1
"""The rank is computed modulo this prime: it is never too high, and too low only if the prime divides a minor."""


@dataclass(frozen=True, eq=False)
class Supports:
    """What some equilibrium plays.

    Attributes
    ----------
    plans
        The infosets that are met, and at each of them the actions that some equilibrium strategy plays.
    interior
        An equilibrium strategy of each player that plays all of them.
    steps
        Numbers of searches for an equilibrium strategy.
    """

    plans: Plans
    interior: tuple[Strategy, Strategy]
    steps: tuple[int, int]


def supports(face: OptimalFace, on_step: Callable[[int, float, Plans], None] = lambda *step: None) -> Supports:
    """Find the supports of both players.

    Parameters
    ----------
    on_step
        Called after each search with the player, the reach that was found, and the plans so far.
    """
    means = [_Mean(face, player) for player in (0, 1)]
    player, idle = 0, 0
    while idle < 2:
        plans = _common_plans(face, means)
        payoffs = _left_out(face, player, plans[player])
        found = face.extreme(player, payoffs) if payoffs.any() else None
        on_step(player, found.value if found else 0.0, plans)
        if found and found.value > REACHED:
            means[player].add(found.strategy)
            idle = 0
        else:
            player, idle = 1 - player, idle + 1
    first, second = means
    return Supports(_common_plans(face, means), (first.strategy, second.strategy), (first.count, second.count))


class _Mean:
    """The mean of realization plans of one player, beginning with the exact equilibrium."""

    def __init__(self, face: OptimalFace, player: int) -> None:
        self._responses, self._player, self.count = face.responses, player, 1
        self.strategy = face.exact_strategy(player)

    def add(self, strategy: Strategy) -> None:
        """Add a plan to the mean."""
        responses, player = self._responses, self._player
        plan = responses.reach(player, self.strategy.probabilities).sequences * np.float64(self.count)
        plan += responses.reach(player, strategy.probabilities).sequences
        self.count += 1
        self.strategy = Strategy(responses.index, player, responses.behaviour(player, plan))


def _common_plans(face: OptimalFace, means: list[_Mean]) -> Plans:
    """What both players play where both come."""
    blank = first_infoset(face.rules, 0), first_infoset(face.rules, 1)
    return allow_played(face.rules, blank, (means[0].strategy, means[1].strategy), _PLAYED)


def _left_out(face: OptimalFace, player: int, plan: SparsePlan) -> Floats:
    """A payoff of 1 for each action at a met infoset that no strategy so far plays."""
    index = face.responses.index
    payoffs = np.zeros(index.players[player].sequences)
    PlanPlaces(face.rules, index, player).mark_left_out(plan, payoffs)
    return payoffs


def dimensions(face: OptimalFace, plans: Plans) -> tuple[int, int]:
    """For each player, the dimension of what equilibrium strategies do at met infosets.

    Strategies are symmetric, and mirror images count once.

    Parameters
    ----------
    plans
        See :class:`Supports`.
    """
    plans, won = HistoryFinder(face.rules).find_won(plans)
    return _dimension(face, plans, won, 0), _dimension(face, plans, won, 1)


def _dimension(face: OptimalFace, plans: Plans, won: WonHistories, player: int) -> int:
    """The unknowns are the player's reach and the other's values; all that some equilibrium plays is equally good."""
    from scipy import sparse

    form = sequence_form(plans, won, player)
    # The reach of the empty sequence and the value of the root are given.
    unknown = np.delete(np.arange(form.matrix.shape[1]), [0, form.sequences])
    whole = sparse.csr_matrix(form.matrix[1:, unknown] * len(face.rules.images))
    return len(unknown) - rank_of(whole)


def rank_of(matrix: Any) -> int:
    """The rank of a sparse matrix.

    Rows and columns with a single entry are taken out first, as long as there are any.  FLINT finds the rank of the
    rest.

    Parameters
    ----------
    matrix
        Sparse; its entries are whole numbers of any numeric type.

    Raises
    ------
    ValueError
        If an entry is not a whole number.
    """
    import flint

    # The entries as whole numbers, without zeros.
    entries = matrix.tocoo()
    numbers = np.rint(entries.data)
    if np.abs(entries.data - numbers).max(initial=0) > 1e-6:
        raise ValueError("the rank is that of a matrix of whole numbers")
    kept = numbers != 0
    rows, columns, numbers = entries.row[kept], entries.col[kept], numbers[kept].astype(np.int64)
    found = 0
    # An entry that is alone in its row or column adds 1 to the rank; its row and column are taken out.
    while len(rows):
        alone = (np.bincount(rows)[rows] == 1) | (np.bincount(columns)[columns] == 1)
        if not alone.any():
            break
        # One entry of each row and column at most: pivots that need no elimination.
        pivots = np.flatnonzero(alone)
        pivots = pivots[np.unique(rows[pivots], return_index=True)[1]]
        pivots = pivots[np.unique(columns[pivots], return_index=True)[1]]
        found += len(pivots)
        left = ~np.isin(rows, rows[pivots]) & ~np.isin(columns, columns[pivots])
        rows, columns, numbers = rows[left], columns[left], numbers[left]
    if not len(rows):
        return found
    # What is left, with its rows and columns numbered anew, modulo the prime.
    rows, columns = (np.unique(part, return_inverse=True)[1] for part in (rows, columns))
    dense = np.zeros((int(rows.max()) + 1, int(columns.max()) + 1), np.int64)
    dense[rows, columns] = numbers % PRIME
    return found + int(flint.nmod_mat(*dense.shape, dense.ravel().tolist(), PRIME).rank())
