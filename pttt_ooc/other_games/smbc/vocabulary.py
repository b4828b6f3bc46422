"""Words for goals, players, scores and outcomes, and the input that stands for them."""

from __future__ import annotations

from collections.abc import Mapping

from pttt_ooc.errors import PlayError
from pttt_ooc.games.rules.game import Squares
from pttt_ooc.other_games.smbc.rules import BOTH, FIRST, GOALS, SECOND, TIE

PLAYERS = ("first player", "second player")
MARKS = "xo"

ENDS: Mapping[int, str] = {
    FIRST: "three in a row for the first player",
    TIE: "no three in a row",
    SECOND: "three in a row for the second player",
    BOTH: "three in a row for both players",
}
"""The outcomes of a round's board."""


def end_for(outcome: int, first: bool) -> str:
    """How a round ended, as a person sees it who moved first or second."""
    mine, other = (FIRST, SECOND) if first else (SECOND, FIRST)
    return {
        mine: "You made three in a row",
        other: "The bot made three in a row",
        TIE: "Nobody made three in a row",
        BOTH: "You both made three in a row",
    }[outcome]


def goal_of(typed: str) -> int:
    """The number of a goal from its name or the start of its name.

    Raises
    ------
    PlayError
        If there is no such goal.
    """
    for number, goal in enumerate(GOALS):
        if typed and goal.startswith(typed.lower()):
            return number
    raise PlayError(f"There is no goal {typed!r}; goals are w (win), t (tie) and l (lose).")


def square_of(typed: str) -> int:
    """A square from its number: 0 1 2 is the top row.

    Raises
    ------
    PlayError
        If it is not a number from 0 to 8.
    """
    if len(typed) != 1 or typed not in "012345678":
        raise PlayError(f"{typed!r} is not a square; squares are 0 to 8, and 0 1 2 is the top row.")
    return int(typed)


def numbers_of(squares: Squares) -> str:
    """Squares as they are typed: ``"0 2 6 8"``."""
    return " ".join(str(square) for square in squares)
