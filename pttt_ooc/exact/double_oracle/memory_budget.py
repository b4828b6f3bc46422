"""A run's memory: what plans, the restricted game and its solution need; tables of bounds get the rest.

The needs are projected from numbers of sequences and histories before they are allocated; tests compare the projection
with the peak of a process.
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.disk.memory import process_needs
from pttt_ooc.disk.resources import MB
from pttt_ooc.errors import MemoryBudgetError
from pttt_ooc.exact.double_oracle.restricted_histories import Plans
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables
from pttt_ooc.exact.double_oracle.transpositions import BYTES

_GROWN = 1.5  # a larger copy, while an array grows
_HISTORY = 16  # bytes for each won history
_REGRETS = 16  # bytes for each sequence, kept from round to round
_MATCHING = 100  # bytes for each sequence, in regret matching
_BUILT, _NUMBER = 120, 400  # bytes for each won history, and for each number, row and column of a linear program
_NUMBERS = 4  # numbers, rows and columns for each sequence, besides payoffs
_PIECE = 16 << 20  # bytes of an array that numpy writes at a time
_SENT = 3  # copies of plans in a process that gets them: as a message, and for two rounds
LEAST_TABLES = 2 * MB
"""Bytes for the bounds of both players, at least."""


class RunMemory:
    """The memory budget of one run.

    Parameters
    ----------
    name
        The game, for messages.
    rules
        Its tables.
    megabytes
        The budget of the process, with interpreter and libraries.
    """

    def __init__(self, name: str, rules: RuleTables, megabytes: float) -> None:
        self._name, self._megabytes = name, megabytes
        self._fixed = fixed_needs(rules)

    def for_bounds(self, plans: Plans, histories: int, exact: bool, best: Plans | None = None) -> float:
        """The megabytes that are left for tables of bounds.

        Parameters
        ----------
        histories
            Number of won histories of the restricted game.
        exact
            Whether the restricted game is solved by a linear program.
        best
            The best plans so far; default: as large as `plans`.

        Raises
        ------
        MemoryBudgetError
            If too little is left.
        """
        return self._megabytes_left(needs_of(plans, histories, exact, best))

    def for_worker(self, plans: Plans) -> float:
        """The megabytes that are left for tables of bounds in a process that only searches; errors as above."""
        return self._megabytes_left({"plans": _SENT * _bytes_of(plans)})

    def _megabytes_left(self, more: dict[str, float]) -> float:
        needs = self._fixed | more
        left = self._megabytes * MB - sum(needs.values())
        if left < LEAST_TABLES:
            wanted = -(-(sum(needs.values()) + LEAST_TABLES) // MB)
            largest = sorted(needs.items(), key=lambda need: -need[1])[:3]
            parts = ", ".join(f"{what} {size / MB:.0f} MB" for what, size in largest)
            raise MemoryBudgetError(
                f"The next round of {self._name} takes {wanted:.0f} MB of memory ({parts}), but the budget is "
                f"{self._megabytes:g} MB; give a larger one."
            )
        return left / MB


def fixed_needs(rules: RuleTables) -> dict[str, float]:
    """Bytes that a run needs whatever it plays, by purpose, without tables of bounds."""
    tables = [*rules.winning_sets, *(part for part in rules if isinstance(part, np.ndarray))]
    return {
        **process_needs(),
        "tables of the rules": sum(one.nbytes for one in tables),
        "transpositions": 2 * BYTES,
    }


def needs_of(plans: Plans, histories: int, exact: bool, best: Plans | None = None) -> dict[str, float]:
    """Bytes that a round needs, by purpose, without tables of bounds; see :meth:`RunMemory.for_bounds`.

    What grows, the solution, the part that is played, and the copies that are saved are not there at the same time.
    """
    sequences = sum(int(plan.counts[1]) for plan in plans)
    kept, won = _bytes_of(plans), _HISTORY * histories
    everything = kept + (_bytes_of(best) if best else kept) + won + _REGRETS * sequences
    if exact:
        solution = histories * _BUILT + (histories + _NUMBERS * sequences) * _NUMBER
    else:
        solution = sequences * _MATCHING
    turns = {
        "plans that grow": _GROWN * (kept + won),
        "the restricted game's solution": solution,
        "the part that is played": kept,
        "the saved state": everything + min(everything, _PIECE),
    }
    largest = max(turns, key=lambda what: turns[what])
    return {"plans": everything - won, "won histories": float(won), largest: turns[largest]}


def _bytes_of(plans: Plans) -> int:
    return sum(part.nbytes for plan in plans for part in plan)
