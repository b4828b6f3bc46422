"""A plan of the double oracle with integer weights, and the pure rule outside of it."""

from __future__ import annotations

from typing import NamedTuple

from pttt_ooc.double_oracle.clairvoyance import choice
from pttt_ooc.double_oracle.rule_tables import RuleTables
from pttt_ooc.double_oracle.sparse_plan import SparsePlan
from pttt_ooc.proof.integer_plan import Actions


class Place(NamedTuple):
    """Where a player is.

    Attributes
    ----------
    infoset
        The infoset of the plan; -1: outside of it.
    orientation, stabiliser
        The symmetry that takes the board to the infoset's canonical orientation, and those that fix the sequence.
    marks, fails
        On the board.
    """

    infoset: int
    orientation: int
    stabiliser: int
    marks: int
    fails: int


class SparseBehaviour:
    """A plan and the pure rule; where the plan has no weight, the rule attempts one square.

    Parameters
    ----------
    rules, player
        The game, and whose plan it is.
    plan
        The sequences; its chances are not used.
    reach
        For each sequence, the integer reach of its orbit.  Times the number of symmetries, it is shared evenly.
    whole
        The reach of the empty sequence.
    """

    def __init__(self, rules: RuleTables, player: int, plan: SparsePlan, reach: list[int], whole: int) -> None:
        self._rules, self._player, self._plan, self._reach = rules, player, plan, reach
        self.denominator = whole * len(rules.images)

    def start(self) -> Place:
        """See :class:`pttt_ooc.proof.integer_plan.Behaviour`."""
        rules = self._rules
        return Place(0, 0, rules.everything, int(rules.setup[self._player]), 0)

    def actions(self, state: Place, text: str, weight: int) -> Actions:
        """See :class:`pttt_ooc.proof.integer_plan.Behaviour`."""
        rules, places = self._rules, self._rules.places[state.orientation]
        found = []
        if state.infoset >= 0:
            for square, sequence in enumerate(self._plan.actions[state.infoset].tolist()):
                if sequence >= 0 and self._reach[sequence]:
                    part = self._reach[sequence] * (state.stabiliser & int(rules.fixing[square])).bit_count()
                    orbit = int(rules.orbits[state.stabiliser, square])
                    found += [(int(places[rules.images[h, square]]), part) for h in _members(orbit)]
        if not found:
            ruled = choice(rules, self._player, state.orientation, state.marks, state.fails)
            found = [(int(places[ruled]), weight)]
        return sorted(found)

    def after(self, state: Place, square: int, placed: bool) -> Place:
        """See :class:`pttt_ooc.proof.integer_plan.Behaviour`."""
        rules, bit = self._rules, 1 << square
        canonical = int(rules.images[state.orientation, square])
        least = int(rules.least[state.stabiliser, canonical])
        h = next(h for h in _members(state.stabiliser) if rules.images[h, least] == canonical)
        infoset = int(self._plan.children[state.infoset, 2 * least + placed]) if state.infoset >= 0 else -1
        return Place(
            infoset=infoset if infoset >= 0 and self._reached(infoset) else -1,
            orientation=int(rules.turned[h, state.orientation]),
            stabiliser=state.stabiliser & int(rules.fixing[least]),
            marks=state.marks | bit * placed,
            fails=state.fails | bit * (not placed),
        )

    def _reached(self, infoset: int) -> bool:
        return any(s >= 0 and self._reach[s] for s in self._plan.actions[infoset].tolist())


def _members(symmetries: int) -> list[int]:
    """The numbers of the symmetries in a mask."""
    return [h for h in range(symmetries.bit_length()) if symmetries >> h & 1]
