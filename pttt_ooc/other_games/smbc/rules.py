"""The rules of one round: goals, outcomes of the board, positions and their symmetries.

A position is a pair of bit masks: the squares of the first and of the second player.  The order of the moves matters to
the players, because it reveals goals, and so the tree (:mod:`pttt_ooc.other_games.smbc.tree`) has a node for each
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pttt_ooc.games.rules.game import Squares, tic_tac_toe

GOALS = ("win", "tie", "lose")
"""Each is drawn with probability 1/3, independently of the other player's."""

SQUARES = 9
FULL = (1 << SQUARES) - 1

UNDECIDED, FIRST, TIE, SECOND, BOTH = -1, 0, 1, 2, 3
"""Outcomes of a board: who has three in a row.  Both can have it only if boards are filled."""

MET = ((0, 1, 2, 0), (2, 1, 0, 0))
"""For the first and for the second player: the number of the goal that each outcome meets."""

BOARD = tic_tac_toe("secret-goals", 3, 3, 3, "classical")

Position = tuple[int, int]
START: Position = (0, 0)


def position_of(squares: Sequence[int]) -> Position:
    """The position after these squares have been taken in turn."""
    first, second = (sum(1 << square for square in squares[player::2]) for player in (0, 1))
    return first, second


def scores(outcome: int, goals: tuple[int, int]) -> tuple[int, int]:
    """The points of both players, 0 or 1, for an outcome and their goals."""
    return int(MET[0][outcome] == goals[0]), int(MET[1][outcome] == goals[1])


def image(mask: int, symmetry: Squares) -> int:
    """The image of a bit mask by a symmetry."""
    return sum(1 << symmetry[square] for square in range(SQUARES) if mask >> square & 1)


@dataclass(frozen=True)
class Rules:
    """The rules of a round, and simplifications of its tree.

    Attributes
    ----------
    fill_board
        Whether a round continues until the board is full, as in the comic.
    merge
        Whether images of a move by symmetries of the position are one move.
    cut
        Whether a round ends as soon as its outcome is forced.
    """

    fill_board: bool = False
    merge: bool = True
    cut: bool = True

    def outcome(self, position: Position) -> int:
        """The outcome if the round ends here by its own rule, else `UNDECIDED`."""
        first, second = (BOARD.wins(player, position[player]) for player in (0, 1))
        full = position[0] | position[1] == FULL
        if not full and (self.fill_board or not (first or second)):
            return UNDECIDED
        if first:
            return BOTH if second else FIRST
        return SECOND if second else TIE

    def end(self, position: Position) -> int:
        """The outcome if a node of the tree ends here, else `UNDECIDED`."""
        return self.forced_outcome(position) if self.cut else self.outcome(position)

    def forced_outcome(self, position: Position) -> int:
        """The outcome of all continuations, `UNDECIDED` if there are several."""
        if position not in self._forced:
            outcome = self.outcome(position)
            if outcome == UNDECIDED:
                found = {self.forced_outcome(after(position, square)) for square in empty(position)}
                outcome = found.pop() if len(found) == 1 else UNDECIDED
            self._forced[position] = outcome
        return self._forced[position]

    @cached_property
    def _forced(self) -> dict[Position, int]:
        return {}

    def moves(self, position: Position) -> Squares:
        """The legal squares; of merged moves, the one with the smallest number."""
        if not self.merge:
            return empty(position)
        if position not in self._moves:
            group = stabilizer(position)
            self._moves[position] = tuple(sorted({min(g[square] for g in group) for square in empty(position)}))
        return self._moves[position]

    @cached_property
    def _moves(self) -> dict[Position, Squares]:
        return {}


def mover(position: Position) -> int:
    """The player to move: 0, the first player, or 1."""
    return (position[0] | position[1]).bit_count() % 2


def empty(position: Position) -> Squares:
    """The free squares."""
    return tuple(square for square in range(SQUARES) if not (position[0] | position[1]) >> square & 1)


def after(position: Position, square: int) -> Position:
    """The position after the player to move has taken a square."""
    first, second = position
    return (first, second | 1 << square) if mover(position) else (first | 1 << square, second)


def stabilizer(position: Position) -> tuple[Squares, ...]:
    """The symmetries of the board that keep both players' squares; the identity is first."""
    return tuple(g for g in BOARD.symmetries if all(image(mask, g) == mask for mask in position))
