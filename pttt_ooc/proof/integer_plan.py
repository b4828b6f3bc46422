"""A player's plan with integer weights, written out without symmetry: a tree of all that the player may be asked.

The *weight* of a sequence, divided by the plan's denominator, is its realization weight: the probability that the
player does their part of it.  At each infoset the weights of the actions add up to the weight that comes there.

An infoset is in the tree if the plan reaches it and, *as far as the player knows*, it may come up.  That is the case
after an attempt, unless what the player has seen says that the game is over, or that the result was impossible:

- A mark is not placed on a square of the opponent's setup.  An attempt does not fail if all attempts of the opponent
  are accounted for by earlier failures; it may on a square of the opponent's setup.
- The player's own marks do not win, nor do the opponent's marks that they know; together they do not fill the board.
- If a failed attempt keeps the turn, every attempt of the opponent before the next own one becomes a mark in the end:
  own marks and these do not fill the board.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from pttt_ooc.errors import StrategyError
from pttt_ooc.rules.game import Game
from pttt_ooc.rules.play import first_infoset

State = TypeVar("State")

Actions = list[tuple[int, int]]
"""Squares, rising, and their weights, which are positive."""


class Behaviour(Protocol[State]):
    """What a player does, with integer weights.

    Attributes
    ----------
    denominator
        The weight of the empty sequence.
    """

    denominator: int

    def start(self) -> State:
        """The state at the player's first infoset."""

    def actions(self, state: State, text: str, weight: int) -> Actions:
        """The actions at the infoset `text`; their weights add up to `weight`.  Infosets come depth first."""

    def after(self, state: State, square: int, placed: bool) -> State:
        """The state after an attempt."""


@dataclass(eq=False)
class IntegerPlan:
    """The tree of one player.  Infosets are numbered depth first: by rising squares, failed before placed.

    Attributes
    ----------
    denominator
        The weight of the empty sequence.
    texts
        For each infoset, its text.
    marks
        For each infoset, the player's marks, setup included.
    arriving
        For each infoset, the weight that comes there.
    starts
        For each infoset, its first action.
    sizes
        For each infoset, its number of actions.
    squares, weights
        For each action with weight; at an infoset by rising squares.
    failed, placed
        For each action, the infoset after it; -1: there is none.
    """

    denominator: int
    texts: list[str] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    arriving: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    squares: list[int] = field(default_factory=list)
    weights: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    placed: list[int] = field(default_factory=list)

    @property
    def infosets(self) -> int:
        """Number of infosets."""
        return len(self.texts)

    @property
    def actions(self) -> int:
        """Number of actions."""
        return len(self.squares)


def integer_plan(game: Game, player: int, behaviour: Behaviour[State], most: int = 1 << 62) -> IntegerPlan:
    """Write a player's plan out.

    Parameters
    ----------
    most
        The largest number of infosets.

    Raises
    ------
    StrategyError
        If there are more.
    """
    plan, given = IntegerPlan(behaviour.denominator), game.setup_mask(1 - player)
    wins, loses = ([game.wins(p, marks) for marks in range(1 << game.squares)] for p in (player, 1 - player))
    abrupt, full = game.turn_rule == "abrupt", (1 << game.squares) - 1

    def visit(state: State, text: str, own: int, fails: int, hidden: int, weight: int) -> int:
        """Add an infoset and all after it; of `hidden` attempts of the opponent, the player knows nothing."""
        infoset, first = plan.infosets, plan.actions
        if infoset >= most:
            raise StrategyError(f"The plan of player {player} reaches more than {most:,} infosets.")
        played = behaviour.actions(state, text, weight)
        plan.texts.append(text)
        plan.marks.append(own)
        plan.arriving.append(weight)
        plan.starts.append(first)
        plan.sizes.append(len(played))
        for square, part in played:
            plan.squares.append(square)
            plan.weights.append(part)
            plan.failed.append(-1)
            plan.placed.append(-1)
        for action, (square, part) in enumerate(played, first):
            bit = 1 << square
            set_up, known = bool(given & bit), given | fails | bit
            if own | known == full:
                continue
            if (hidden or set_up) and not loses[known]:
                left = hidden + abrupt - (not set_up)
                after = behaviour.after(state, square, False)
                plan.failed[action] = visit(after, f"{text}{square}.", own, fails | bit, left, part)
            marks = (own | known).bit_count() + (0 if abrupt else hidden)  # on the board, at the least
            if not set_up and not wins[own | bit] and marks < game.squares:
                after = behaviour.after(state, square, True)
                plan.placed[action] = visit(after, f"{text}{square}*", own | bit, fails, hidden + 1, part)
        return infoset

    start = first_infoset(game, player)
    visit(behaviour.start(), start, game.setup_mask(player), 0, int(player != game.first_player), plan.denominator)
    return plan
