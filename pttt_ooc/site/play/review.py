"""What pages of games show: squares, and the review of a finished game in which both players see everything.

Ratings of moves come from the arena's ``move_ratings``: values are points of the player who moves, a win is 1 and a
draw one half; ``before`` is the first player's value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

EXACT, ESTIMATED = 1e-9, 0.02
"""Smaller differences of values do not count."""


def matters(loss: float, exact: bool) -> bool:
    """Whether a loss is large enough to count."""
    return loss >= (EXACT if exact else ESTIMATED)


def points(value: float, exact: bool) -> str:
    """Points for people: an estimate has two decimals."""
    return {0.0: "0", 0.5: "½", 1.0: "1"}[value] if exact else f"{value:.2f}"


def put_figures(boards: Sequence[dict[str, Any]], rating: dict[str, Any], chosen: int | None = None) -> None:
    """Write the values of moves onto the squares of boards."""
    values = dict(map(tuple, rating["values"]))
    best = max(values.values())
    for board in boards:
        cells = [cell for line in board["rows"] for block in line for row in block["rows"] for cell in row]
        for cell in cells:
            if cell["move"] in values and cell["mark"] == "-":
                value = values[cell["move"]]
                cell["figure"], cell["chosen"] = points(value, rating["exact"]), cell["move"] == chosen
                cell["best"] = not matters(best - value, rating["exact"])
                cell["words"] += f", value {cell['figure']}" + (", the best" if cell["best"] else "")
                board["words"] += f"; {cell['words']}"


def source_of(rating: dict[str, Any]) -> str:
    """A sentence that says where the values of a hint come from."""
    told = "exact: the value of each move" if rating["exact"] else f"an estimate ({rating['by']})"
    return f"The hint is {told}."


def all_ratings(known: Sequence[dict[str, Any] | None], rate: Callable[[int], dict[str, Any]]) -> list[dict[str, Any]]:
    """The ratings of all moves: those that are known, and for the others what `rate` returns for their numbers."""
    return [one or rate(number) for number, one in enumerate(known, start=1)]


@dataclass(frozen=True)
class RatedMove:
    """A move of a finished game.

    Attributes
    ----------
    number
        The number of the move, from 1.
    mine
        Whether the person made it.
    loss
        What it lost in points; None if it is not rated.
    exact
        Whether the loss is exact.
    """

    number: int
    player: int
    mine: bool
    text: str
    loss: float | None
    exact: bool

    @property
    def lost(self) -> str:
        """What it lost in points, as text; empty if it lost nothing."""
        return "" if self.loss is None or not matters(self.loss, self.exact) else points(self.loss, self.exact)


@dataclass(frozen=True)
class Review:
    """A finished game before one of its moves, or at its end.

    Attributes
    ----------
    ply, last
        The number of moves so far, and of all.
    curve
        The value for the first player before each move, and at the end if the game was played to its end.
    solved
        The number of moves before the first exact value; None if there is none.
    by
        Who estimated the other values; empty without ratings.
    lost
        What the person's moves lost in all.
    worst
        The person's move that lost most; None if none lost anything.
    """

    moves: list[RatedMove]
    ply: int
    last: int
    curve: list[float]
    solved: int | None
    by: str
    lost: float
    worst: RatedMove | None

    @property
    def mistakes(self) -> list[RatedMove]:
        """The person's moves that lost something."""
        return [move for move in self.moves if move.mine and move.lost]

    @property
    def next_mistake(self) -> RatedMove | None:
        """The person's next mistake after the move made here, or else their first; None if they made fewer than two."""
        later = [move for move in self.mistakes if move.number > self.ply + 1]
        return [*later, *self.mistakes][0] if len(self.mistakes) > 1 else None

    @property
    def next(self) -> RatedMove | None:
        """The move that was made here; None at the end."""
        return self.moves[self.ply] if self.ply < self.last else None


def review_game(
    moves: Sequence[dict[str, Any]], ratings: Sequence[dict[str, Any]], me: int, ply: int, end: float | None
) -> Review:
    """The review of a game.

    Parameters
    ----------
    moves
        ``player`` and ``text`` of each move.
    ratings
        The ratings of all moves; empty: they are not rated.
    me
        The person's player.
    end
        The result for the first player; None if the game was not played to its end.
    """
    facts = [(one["loss"], one["exact"]) for one in ratings] or [(None, False)] * len(moves)
    rated = [
        RatedMove(number, move["player"], move["player"] == me, move["text"], loss, exact)
        for number, (move, (loss, exact)) in enumerate(zip(moves, facts, strict=True), start=1)
    ]
    own = [move for move in rated if move.mine and move.loss is not None]
    worst = max(own, key=lambda move: move.loss or 0.0, default=None)
    solved = [one["exact"] for one in ratings]
    return Review(
        moves=rated,
        ply=ply,
        last=len(rated),
        curve=[*(one["before"] for one in ratings), *([] if end is None or not ratings else [end])],
        solved=solved.index(True) if any(solved) else None,
        by=ratings[0]["by"] if ratings else "",
        lost=sum(move.loss or 0.0 for move in own),
        worst=worst if worst and worst.lost else None,
    )


@dataclass(frozen=True)
class ViewSquare:
    """A square as a player sees it.

    Attributes
    ----------
    state
        ``"free"`` (in a phantom game: not attempted), ``"mine"`` or ``"theirs"``.
    text
        Its number, which is its key, or its mark.
    words
        The words for a screen reader.
    latest, winning
        Whether it was the latest move, or belongs to a line that has won.
    """

    square: int
    state: str
    text: str
    words: str
    latest: bool
    winning: bool = False
