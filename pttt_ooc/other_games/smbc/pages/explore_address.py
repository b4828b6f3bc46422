"""Addresses of the page Explore, and its board."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from pttt_ooc.games.rules.game import Squares
from pttt_ooc.other_games.smbc.rules import SQUARES
from pttt_ooc.other_games.smbc.vocabulary import MARKS, numbers_of


@dataclass(frozen=True)
class ExploreAddress:
    """A position on the page Explore.

    Attributes
    ----------
    mine, other
        The points of the first and of the second player.
    first, second
        Their goals.
    squares
        The moves in order.
    iteration
        An iteration with a snapshot; None: the last one.
    """

    mine: int
    other: int
    first: int
    second: int
    squares: Squares
    iteration: int | None

    def __str__(self) -> str:
        facts: dict[str, object] = {"mine": self.mine, "other": self.other, "first": self.first, "second": self.second}
        facts["squares"] = "".join(str(square) for square in self.squares)
        if self.iteration is not None:
            facts["iteration"] = self.iteration
        return f"/smbc/explore?{urlencode(facts)}"

    @property
    def player(self) -> int:
        """The player to move."""
        return len(self.squares) % 2

    def after(self, square: int) -> ExploreAddress:
        """The position after one more move."""
        return replace(self, squares=(*self.squares, square))

    def at_iteration(self, iteration: int) -> ExploreAddress:
        """The same position after other iterations."""
        return replace(self, iteration=iteration)

    def start(self) -> ExploreAddress:
        """The empty board."""
        return replace(self, squares=())

    def before(self) -> ExploreAddress:
        """The position before the last move."""
        return replace(self, squares=self.squares[:-1])


@dataclass(frozen=True)
class AddressSquare:
    """A square of the board.

    Attributes
    ----------
    mark, number
        The mark and the number of the move, if it is taken.
    probability
        The average strategy's probability, if the square is free and the round goes on; symmetric squares share it.
    shade
        The probability in tenths.
    """

    square: int
    mark: str
    number: int
    probability: float | None
    shade: int


def rows_of(view: ExploreAddress, seen: Mapping[str, Any]) -> list[AddressSquare]:
    """The board of a position.

    Parameters
    ----------
    seen
        See :meth:`pttt_ooc.other_games.smbc.pages.answerer_client.AskedBot.see`; each of its moves gets the text of its
        squares.
    """
    chances = {}
    for move in seen["moves"]:
        move["label"] = numbers_of(move["squares"])
        for square in move["squares"]:
            chances[square] = move["average"] / len(move["squares"])
    found = []
    for square in range(SQUARES):
        number = view.squares.index(square) + 1 if square in view.squares else 0
        mark = MARKS[(number - 1) % 2] if number else ""
        chance = chances.get(square)
        found.append(AddressSquare(square, mark, number, chance, round(10 * (chance or 0))))
    return found
