"""The pure rule: what a player does wherever their plan does not come, so that plan and rule are a complete strategy.

A player's *knowledge* is their marks, and the squares on which they failed: marks of the opponent.  Each winning set
without a failed square is worth 2 * 4^m if the player holds m of its squares, and each of the opponent's winning sets
without an own mark 4^m if m of its squares are known to be the opponent's.  The rule attempts a square whose winning
sets are worth most together; of several, the one with the least number.  This is a heuristic: any rule leads to an
equilibrium, and a better one in fewer rounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.structure.orders import popcount
from pttt_ooc.jit import bare_kernel, piece

if TYPE_CHECKING:
    from pttt_ooc.exact.double_oracle.rule_tables import RuleTables

_OWN = 2  # an own winning set is worth so many of the opponent's
_BASE_BITS = 2  # each mark of it makes it worth 4 times as much


@piece
def rule_square(rules: Any, player: int, marks: int, fails: int) -> Any:
    """The square of the rule; -1 if no square is left.

    A table keeps the number of the square, plus 1, by knowledge.  Threads may fill it at the same time, because they
    write the same.
    """
    known = rules.ternary[marks] + 2 * rules.ternary[fails]
    kept = np.int64(rules.choices[player, known])
    if kept:
        return kept - 1
    square, highest = np.int64(-1), np.int64(-1)
    for other in range(rules.squares):
        if not (marks | fails) >> other & 1:
            worth = _OWN * _worth(rules.winning_sets[player], other, marks, fails)
            worth += _worth(rules.winning_sets[1 - player], other, fails, marks)
            if worth > highest:
                square, highest = np.int64(other), worth
    rules.choices[player, known] = square + 1
    return square


@piece
def _worth(winning_sets: Any, square: int, held: int, lost: int) -> Any:
    """The worth of the winning sets with a square, for a player who holds and has lost some squares."""
    total = np.int64(0)
    for winning in winning_sets:
        if winning >> square & 1 and not winning & lost:
            total += np.int64(1) << (_BASE_BITS * popcount(winning & held))
    return total


def rule_squares(
    rules: RuleTables, player: int, marks: NDArray[np.int64], fails: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The rule's squares at many infosets of a player, int64 (infosets,); -1 where no square is left."""
    found = np.empty(len(marks), np.int64)
    _write_squares(rules, player, marks, fails, found)
    return found


@bare_kernel
def _write_squares(rules: Any, player: int, marks: Any, fails: Any, found: Any) -> None:
    for k in range(len(marks)):
        found[k] = rule_square(rules, player, marks[k], fails[k])
