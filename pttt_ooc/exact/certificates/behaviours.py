"""Behaviours with integer weights, from plans of the double oracle in fractions or strategies in double precision.

A product of probabilities has another denominator at each infoset.  A certificate has one for all, so weights are
rounded to multiples of one small fraction, and still add up.  What it proves is true of the rounded plan.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pttt_ooc.errors import StrategyError
from pttt_ooc.exact.certificates.integer_plan import (
    MOST_INFOSETS,
    Actions,
    IntegerPlan,
    check_board,
    in_lowest_terms,
    integer_plan,
)
from pttt_ooc.exact.double_oracle.clairvoyance import choice
from pttt_ooc.exact.double_oracle.complete_strategy import first_position, position_after
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables
from pttt_ooc.exact.double_oracle.sparse_plan import SparsePlan
from pttt_ooc.games.structure.infoset_places import Floats, Side, sides_of, write_row
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.jit import kernel

DENOMINATOR = 27720**7
"""Weights are rounded to multiples of 1 / this, which is less than 1e-31.

27720 is divisible by 1 to 12, so that equal probabilities are usually not rounded at all.
"""


def shares(weight: int, probabilities: list[float]) -> list[int]:
    """Integers that add up to `weight` in the proportion of some probabilities, rounded: each is off by less than 1."""
    ratios = [probability.as_integer_ratio() for probability in probabilities]
    scale = max(below for _, below in ratios)  # powers of two
    numbers = [above * (scale // below) for above, below in ratios]
    total = sum(numbers)
    parts = [weight * number // total for number in numbers]
    left = [weight * number % total for number in numbers]
    for k in sorted(range(len(parts)), key=lambda k: -left[k])[: weight - sum(parts)]:
        parts[k] += 1
    return parts


# ---------------------------------------------------------------------------------------------
# Plans


Position = tuple[Any, ...]
"""See :func:`.first_position`; the infoset is also -1 where the plan has no weight."""


class SparseBehaviour:
    """A plan and the pure rule; where the plan has no weight, the rule attempts one square.

    Parameters
    ----------
    rules, player
        The game, and whose plan it is.
    plan
        The sequences; its chances are not used.
    reach
        For each sequence, the reach of its class, as an integer.  The mirror images of the class share it evenly;
        there are as many as symmetries, divided by the size of its stabiliser.
    whole
        The reach of the empty sequence.
    """

    def __init__(self, rules: RuleTables, player: int, plan: SparsePlan, reach: list[int], whole: int) -> None:
        self._rules, self._player, self._plan, self._reach = rules, player, plan, reach
        self.denominator = whole * len(rules.images)

    def start(self) -> Position:
        """See :class:`pttt_ooc.exact.certificates.integer_plan.Behaviour`."""
        first: Position = first_position(self._rules, self._player)
        return first

    def actions(self, state: Position, text: str, weight: int) -> Actions:
        """See :class:`pttt_ooc.exact.certificates.integer_plan.Behaviour`."""
        rules, (infoset, g, marks, fails, stabiliser) = self._rules, state
        found, places = [], rules.places[g]
        for square, sequence in self._moves_at(infoset):
            part = self._reach[sequence] * int(stabiliser & rules.fixing[square]).bit_count()
            orbit = int(rules.orbits[stabiliser, square])
            images = [rules.images[h, square] for h in range(orbit.bit_length()) if orbit >> h & 1]
            found += [(int(places[image]), part) for image in images]
        if not found:
            found = [(int(places[choice(rules, self._player, g, marks, fails)]), weight)]
        return sorted(found)

    def after(self, state: Position, square: int, placed: bool) -> Position:
        """See :class:`pttt_ooc.exact.certificates.integer_plan.Behaviour`."""
        _, (infoset, *rest) = position_after(self._rules, self._plan, state, square, placed)
        return infoset if self._moves_at(infoset) else -1, *rest

    def _moves_at(self, infoset: int) -> list[tuple[int, int]]:
        """The squares and sequences with weight at an infoset of the plan."""
        if infoset < 0:
            return []
        sequences = enumerate(self._plan.actions[infoset].tolist())
        return [(square, sequence) for square, sequence in sequences if sequence >= 0 and self._reach[sequence]]


class RoundedBehaviour(SparseBehaviour):
    """A plan with chances in double precision; weights are rounded to multiples of 1 / :data:`DENOMINATOR`.

    Parameters
    ----------
    rules, player, plan
        As for :class:`SparseBehaviour`; the chances are used.
    """

    def __init__(self, rules: RuleTables, player: int, plan: SparsePlan) -> None:
        super().__init__(rules, player, plan, (plan.chances * plan.orbits).tolist(), 1)
        self.denominator = DENOMINATOR

    def actions(self, state: Position, text: str, weight: int) -> Actions:
        """See :class:`pttt_ooc.exact.certificates.integer_plan.Behaviour`."""
        squares, parts = zip(*super().actions(state, text, weight), strict=True)
        return [(square, part) for square, part in zip(squares, shares(weight, list(parts)), strict=True) if part]


# ---------------------------------------------------------------------------------------------
# Strategies


class Attempted(NamedTuple):
    """A player's attempts: their squares, and the mask of those that were placed."""

    squares: tuple[int, ...]
    placed: int


class StrategyBehaviour:
    """A strategy with weights rounded to multiples of 1 / :data:`DENOMINATOR`.

    Where an infoset is possible only as far as the player can tell, it attempts the first square that is left.
    """

    denominator = DENOMINATOR

    def __init__(self, strategy: Strategy) -> None:
        self._side: Side = sides_of(strategy.index)[strategy.player]
        self._probabilities: Floats = strategy.probabilities
        self._row = np.empty(strategy.index.game.squares)

    def start(self) -> Attempted:
        """See :class:`pttt_ooc.exact.certificates.integer_plan.Behaviour`."""
        return Attempted((), 0)

    def actions(self, state: Attempted, text: str, weight: int) -> Actions:
        """See :class:`pttt_ooc.exact.certificates.integer_plan.Behaviour`."""
        squares = np.array(state.squares, np.int64)
        if not write_row(self._side, self._probabilities, squares, len(squares), state.placed, self._row):
            return [(next(s for s in range(len(self._row)) if s not in state.squares), weight)]
        return [(square, part) for square, part in enumerate(shares(weight, self._row.tolist())) if part]

    def after(self, state: Attempted, square: int, placed: bool) -> Attempted:
        """See :class:`pttt_ooc.exact.certificates.integer_plan.Behaviour`."""
        return Attempted((*state.squares, square), state.placed | placed << square)


def rounded_plan(strategy: Strategy, most: int = MOST_INFOSETS) -> IntegerPlan:
    """A strategy as an integer plan.

    Parameters
    ----------
    most
        The largest number of infosets that the plan may reach.

    Raises
    ------
    GameError
        If the game has a setup.
    StrategyError
        If the plan reaches more infosets.
    """
    game, player, sides = strategy.index.game, strategy.player, sides_of(strategy.index)
    check_board(game)
    squares = np.zeros(game.squares, np.int64)
    classical = int(game.turn_rule == "classical")
    counted = _count_reached(
        sides[player], sides[1 - player].wins, strategy.probabilities, squares, 0, 0, player, classical, most
    )
    if counted > most:
        raise StrategyError(
            f"The strategy of player {player} reaches more than {most:,} infosets, and a certificate lists all that a "
            f"plan reaches; `pttt certify --game {game.name}` finds an equilibrium that reaches few."
        )
    return in_lowest_terms(integer_plan(game, player, StrategyBehaviour(strategy), most))


@kernel
def _count_reached(side, loses, probabilities, squares, n, placed, hidden, classical, most):
    """The number of infosets that a plan reaches, as ``integer_plan`` counts them, up to `most`."""
    row, tried = np.empty(side.squares), np.int64(0)
    for slot in range(n):
        tried |= 1 << squares[slot]
    if not write_row(side, probabilities, squares, n, placed, row):
        for square in range(side.squares - 1, -1, -1):
            if not tried >> square & 1:
                row[:] = 0
                row[square] = 1
    count, full = np.int64(1), (1 << side.squares) - 1
    for square in range(side.squares):
        if row[square] == 0 or count > most:
            continue
        bit = np.int64(1) << square
        known = tried | bit
        squares[n] = square
        if hidden > 0 and known != full and not _has_won(loses, known & ~placed):
            then = hidden - classical
            count += _count_reached(side, loses, probabilities, squares, n + 1, placed, then, classical, most - count)
        marks = np.int64(0)
        for other in range(side.squares):
            marks += known >> other & 1
        if marks + classical * hidden < side.squares and not _has_won(side.wins, placed | bit):
            then = hidden + 1
            count += _count_reached(
                side, loses, probabilities, squares, n + 1, placed | bit, then, classical, most - count
            )
    return count


@kernel
def _has_won(wins, marks):
    """Whether marks contain a winning set."""
    found = False
    for k in range(len(wins)):
        found |= marks & wins[k] == wins[k]
    return found
