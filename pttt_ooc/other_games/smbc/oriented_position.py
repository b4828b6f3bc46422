"""A position of a round in the viewer's orientation.

The tree has only one of several moves that are images of each other by a symmetry of the position.  A viewer may choose
any of them, and keeps the orientation of the board: a :class:`Place` stores how it maps to the tree's board.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pttt_ooc.errors import GameError
from pttt_ooc.games.rules.game import Squares
from pttt_ooc.other_games.smbc.rules import SQUARES, Position, empty, image, mover, position_of, stabilizer
from pttt_ooc.other_games.smbc.tree import RoundTree

_AS_IT_IS = tuple(range(SQUARES))


@dataclass(frozen=True)
class Place:
    """A position of a round.

    Attributes
    ----------
    squares
        The taken squares, in order, in the viewer's orientation.
    node
        The node of the tree.
    turned
        For each square in the viewer's orientation: the square of the tree's board.
    """

    tree: RoundTree
    squares: Squares = ()
    node: int = 0
    turned: Squares = _AS_IT_IS

    @classmethod
    def of(cls, tree: RoundTree, squares: Sequence[int]) -> Place:
        """The position after some moves from the empty board.

        Raises
        ------
        GameError
            If a move is not possible.
        """
        place = cls(tree)
        for square in squares:
            place = place.step(square)
        return place

    @property
    def position(self) -> Position:
        """The squares of both players, in the viewer's orientation."""
        return position_of(self.squares)

    @property
    def player(self) -> int:
        """The player to move."""
        return mover(self.position)

    @property
    def outcome(self) -> int:
        """The outcome of the round, or `UNDECIDED`."""
        return int(self.tree.shape.outcome[self.node])

    @cached_property
    def ways(self) -> dict[int, tuple[int, Squares]]:
        """For each legal square: the child, and the map from the viewer's board to the tree's board there."""
        if not len(self.tree.children(self.node)):
            return {}
        theirs: Position = (image(self.position[0], self.turned), image(self.position[1], self.turned))
        children = dict(zip(self.tree.moves(self.node), self.tree.children(self.node), strict=True))
        found = {}
        for square in empty(self.position):
            g = next(g for g in stabilizer(theirs) if g[self.turned[square]] in children)
            found[square] = children[g[self.turned[square]]], tuple(g[there] for there in self.turned)
        return found

    def step(self, square: int) -> Place:
        """The position after one more move.

        Raises
        ------
        GameError
            If the round is over, there is no such square, or it is taken.
        """
        if not self.ways:
            raise GameError("The round is decided; no move is left.")
        if not 0 <= square < SQUARES:
            raise GameError(f"There is no square {square}; squares are 0 to 8, and 0 1 2 is the top row.")
        if square not in self.ways:
            raise GameError(f"Square {square} is taken; take a free one.")
        node, turned = self.ways[square]
        return Place(self.tree, (*self.squares, square), node, turned)

    def alike(self) -> list[Squares]:
        """The legal squares, grouped by symmetries of the position."""
        found: dict[int, list[int]] = {}
        for square, (child, _) in self.ways.items():
            found.setdefault(child, []).append(square)
        return [tuple(squares) for _, squares in sorted(found.items(), key=lambda item: item[1])]

    def chances(self, strategy: Sequence[float]) -> dict[int, float]:
        """The probability of each legal square, which is the same within a group.

        Parameters
        ----------
        strategy
            The probability of the move to each node of the tree, for the goal of the player who is to move.
        """
        return {
            square: float(strategy[self.ways[square][0]]) / len(squares)
            for squares in self.alike()
            for square in squares
        }
