"""A complete strategy: what a plan and the pure rule do at any infoset."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.exact.double_oracle.clairvoyance import choice
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables
from pttt_ooc.exact.double_oracle.sparse_plan import SparsePlan

Attempts = tuple[tuple[int, bool], ...]
"""A player's attempts after the setup: squares, and whether they were placed."""


class CompleteStrategy:
    """A plan with its chances, and the pure rule where it does not come.

    Parameters
    ----------
    rules
        The game.
    player
        Whose strategy it is.
    plan
        The plan; it is read, and must not change meanwhile.
    """

    def __init__(self, rules: RuleTables, player: int, plan: SparsePlan) -> None:
        self._rules, self._player, self._plan = rules, player, plan

    def probabilities(self, attempts: Attempts) -> NDArray[np.float64]:
        """The probability of each square at an infoset, float64 (n,).

        At an infoset of the plan that the plan itself never reaches, the pure rule holds.
        """
        at = self.position(attempts)
        return self._spread(self._chances(*at), *at)

    def allowed_squares(self, attempts: Attempts) -> list[int] | None:
        """The squares that the plan allows at an infoset; None if it allows none there."""
        infoset, *rest = self.position(attempts)
        if infoset < 0 or not self._plan.choices[infoset]:
            return None
        marked = (self._plan.actions[infoset] >= 0).astype(np.float64)
        return [int(square) for square in np.flatnonzero(self._spread(marked, infoset, *rest))]

    def position(self, attempts: Attempts) -> tuple[int, int, int, int, int]:
        """The infoset in the plan or -1, its orientation, marks, failed squares and stabiliser."""
        rules, plan = self._rules, self._plan
        infoset, g, stabiliser = 0, 0, rules.everything
        marks, fails = int(rules.setup[self._player]), 0
        for square, placed in attempts:
            canonical = int(rules.images[g, square])
            least = int(rules.least[stabiliser, canonical])
            h = next(h for h in range(len(rules.images)) if stabiliser >> h & 1 and rules.images[h, least] == canonical)
            g, stabiliser = int(rules.turned[h, g]), stabiliser & int(rules.fixing[least])
            infoset = int(plan.children[infoset, 2 * least + placed]) if infoset >= 0 else -1
            marks |= placed << square
            fails |= (not placed) << square
        return infoset, g, marks, fails, stabiliser

    def _spread(
        self, chances: NDArray[np.float64], infoset: int, g: int, marks: int, fails: int, stabiliser: int
    ) -> NDArray[np.float64]:
        """Numbers of the least squares of orbits, on all squares of the board."""
        rules = self._rules
        found = np.zeros(rules.squares)
        for least in map(int, np.flatnonzero(chances)):
            for h in range(len(rules.images)):
                if stabiliser >> h & 1:
                    found[rules.places[g, rules.images[h, least]]] = chances[least]
        return found

    def _chances(self, infoset: int, g: int, marks: int, fails: int, stabiliser: int) -> NDArray[np.float64]:
        """The probability of each action of an orbit, by the least square of the orbit."""
        rules, plan = self._rules, self._plan
        chances = np.zeros(rules.squares)
        if infoset >= 0:
            allowed = np.flatnonzero(plan.actions[infoset] >= 0)
            chances[allowed] = plan.chances[plan.actions[infoset, allowed]]
        if not chances.any():
            ruled = int(choice(rules, self._player, g, marks, fails))
            chances[ruled] = 1 / rules.orbit_sizes[stabiliser, ruled]
        return chances
