"""A player's plan with integer weights, written out without symmetry: a tree of all infosets that it leads to.

The *weight* of a sequence, divided by the plan's denominator, is its realization weight: the probability that the
player does their part of it.  At each infoset the weights of the actions add up to the weight that arrives there.

An infoset is in the tree if the plan comes there and, *as far as the player can tell*, the game may go on.  The next
infoset after an attempt is left out in these cases:

- The attempt fails, although earlier failures account for all attempts of the opponent.
- The player's marks win, or those of the opponent that the player knows do, or no square is left to attempt.
- All marks fill the board.  If a failed attempt keeps the turn, the player knows how many the opponent has.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import gcd
from typing import Protocol, TypeVar

from pttt_ooc.errors import GameError, StrategyError
from pttt_ooc.exact.double_oracle.rule_tables import rule_tables
from pttt_ooc.games.rules.game import Game

MOST_INFOSETS = 5_000_000
"""The most infosets of a plan."""

State = TypeVar("State")

Actions = list[tuple[int, int]]
"""Squares in ascending order, and their positive weights."""


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
    """The tree of one player.  Infosets are numbered depth first: by ascending squares, failed before placed.

    Attributes
    ----------
    denominator
        The weight of the empty sequence.
    texts
        For each infoset, its text.
    marks
        For each infoset, the player's marks, setup included.
    arriving
        For each infoset, the weight that arrives there.
    starts
        For each infoset, its first action.
    sizes
        For each infoset, its number of actions.
    squares, weights
        For each action with weight; at an infoset by ascending squares.
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


def integer_plan(game: Game, player: int, behaviour: Behaviour[State], most: int = MOST_INFOSETS) -> IntegerPlan:
    """Write a player's plan out.

    Parameters
    ----------
    most
        The largest number of infosets.

    Raises
    ------
    GameError
        If the game has a setup.
    StrategyError
        If there are more infosets.
    """
    check_board(game)
    plan = IntegerPlan(behaviour.denominator)
    wins, loses = rule_tables(game).wins[[player, 1 - player]].tolist()
    classical, full = game.turn_rule == "classical", (1 << game.squares) - 1

    def visit(state: State, text: str, own: int, fails: int, hidden: int, weight: int) -> int:
        """Add an infoset and all after it; the player knows nothing of `hidden` attempts of the opponent."""
        # The infoset and its actions; what comes after each is filled in below.
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
        # Depth first by ascending squares, failed before placed.
        for action, (square, part) in enumerate(played, first):
            bit = 1 << square
            known = own | fails | bit
            # An attempt can fail only if some attempt of the opponent is not accounted for. It accounts for one; where
            # it passes the turn, the opponent makes another.
            if hidden and known != full and not loses[fails | bit]:
                after = behaviour.after(state, square, False)
                plan.failed[action] = visit(after, f"{text}{square:x}.", own, fails | bit, hidden - classical, part)
            # A mark passes the turn, so that the opponent makes one more attempt.
            if known.bit_count() + classical * hidden < game.squares and not wins[own | bit]:
                after = behaviour.after(state, square, True)
                plan.placed[action] = visit(after, f"{text}{square:x}*", own | bit, fails, hidden + 1, part)
        return infoset

    visit(behaviour.start(), "|", 0, 0, player, plan.denominator)
    return plan


def check_board(game: Game) -> None:
    """Raise a GameError if a game has a setup: a certificate has no place for it."""
    if any(game.setup):
        raise GameError(f"Game {game.name} begins with marks on the board; certificates are for empty boards.")


def in_lowest_terms(plan: IntegerPlan) -> IntegerPlan:
    """The same plan, with the least denominator."""
    factor = gcd(plan.denominator, *plan.weights)
    weights, arriving = ([number // factor for number in numbers] for numbers in (plan.weights, plan.arriving))
    return replace(plan, denominator=plan.denominator // factor, weights=weights, arriving=arriving)
