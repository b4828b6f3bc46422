"""Plans of the double oracle with integer weights, and the pure rule outside of them."""

from __future__ import annotations

from typing import NamedTuple

from pttt_ooc.exact.certificates.integer_plan import Actions
from pttt_ooc.exact.certificates.strategy_behaviour import DENOMINATOR, shares
from pttt_ooc.exact.double_oracle.clairvoyance import choice
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables
from pttt_ooc.exact.double_oracle.sparse_plan import SparsePlan


class Orientation(NamedTuple):
    """How a sequence lies on the board.

    Attributes
    ----------
    symmetry
        It takes the board to the canonical orientation of the sequence.
    stabiliser
        The symmetries that fix the canonical sequence, as a mask.
    """

    symmetry: int
    stabiliser: int

    def after(self, rules: RuleTables, square: int) -> tuple[int, Orientation]:
        """The canonical square of an attempt, and the orientation of the longer sequence."""
        image = int(rules.images[self.symmetry, square])
        least = int(rules.least[self.stabiliser, image])
        h = next(h for h in members(self.stabiliser) if rules.images[h, least] == image)
        return least, Orientation(int(rules.turned[h, self.symmetry]), self.stabiliser & int(rules.fixing[least]))


def members(symmetries: int) -> list[int]:
    """The numbers of the symmetries in a mask."""
    return [h for h in range(symmetries.bit_length()) if symmetries >> h & 1]


class Place(NamedTuple):
    """Where a player is.

    Attributes
    ----------
    infoset
        The infoset of the plan; -1: outside of it, or never reached by it.
    orientation
        Of the player's sequence.
    marks, fails
        On the board.
    """

    infoset: int
    orientation: Orientation
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
        For each sequence, the reach of its class, as an integer.  A class has as many mirror images as there are
        symmetries for each one of its stabiliser; they share it evenly.
    whole
        The reach of the empty sequence.
    """

    def __init__(self, rules: RuleTables, player: int, plan: SparsePlan, reach: list[int], whole: int) -> None:
        self._rules, self._player, self._plan, self._reach = rules, player, plan, reach
        self.denominator = whole * len(rules.images)

    def start(self) -> Place:
        """See :class:`pttt_ooc.exact.certificates.integer_plan.Behaviour`."""
        return Place(0, Orientation(0, self._rules.everything), 0, 0)

    def actions(self, state: Place, text: str, weight: int) -> Actions:
        """See :class:`pttt_ooc.exact.certificates.integer_plan.Behaviour`."""
        rules, (symmetry, stabiliser) = self._rules, state.orientation
        found, places = [], rules.places[symmetry]
        for square, sequence in self._moves_at(state.infoset):
            part = self._reach[sequence] * (stabiliser & int(rules.fixing[square])).bit_count()
            orbit = members(int(rules.orbits[stabiliser, square]))
            found += [(int(places[rules.images[h, square]]), part) for h in orbit]
        if not found:
            ruled = choice(rules, self._player, symmetry, state.marks, state.fails)
            found = [(int(places[ruled]), weight)]
        return sorted(found)

    def after(self, state: Place, square: int, placed: bool) -> Place:
        """See :class:`pttt_ooc.exact.certificates.integer_plan.Behaviour`."""
        least, orientation = state.orientation.after(self._rules, square)
        infoset = int(self._plan.children[state.infoset, 2 * least + placed]) if state.infoset >= 0 else -1
        marks, fails = state.marks | placed << square, state.fails | (not placed) << square
        return Place(infoset if self._moves_at(infoset) else -1, orientation, marks, fails)

    def _moves_at(self, infoset: int) -> list[tuple[int, int]]:
        """The squares and sequences with weight at an infoset of the plan."""
        if infoset < 0:
            return []
        sequences = enumerate(self._plan.actions[infoset].tolist())
        return [(square, sequence) for square, sequence in sequences if sequence >= 0 and self._reach[sequence]]


class RoundedBehaviour(SparseBehaviour):
    """A plan with chances in double precision; weights are rounded to multiples of 1 / :data:`.DENOMINATOR`.

    Parameters
    ----------
    rules, player, plan
        As for :class:`SparseBehaviour`; the chances are used.
    """

    def __init__(self, rules: RuleTables, player: int, plan: SparsePlan) -> None:
        super().__init__(rules, player, plan, (plan.chances * plan.orbits).tolist(), 1)
        self.denominator = DENOMINATOR

    def actions(self, state: Place, text: str, weight: int) -> Actions:
        """See :class:`pttt_ooc.exact.certificates.integer_plan.Behaviour`."""
        squares, parts = zip(*super().actions(state, text, weight), strict=True)
        return [(square, part) for square, part in zip(squares, shares(weight, list(parts)), strict=True) if part]
