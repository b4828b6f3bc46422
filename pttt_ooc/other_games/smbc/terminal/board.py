"""The board of a round on a terminal."""

from __future__ import annotations

from pttt_ooc.games.rules.game import Squares
from pttt_ooc.other_games.smbc.rules import SQUARES
from pttt_ooc.other_games.smbc.vocabulary import MARKS
from pttt_ooc.pipeline.show.dialogue import Square


def marked_board(squares: Squares, numbered: bool) -> list[Square]:
    """The board with the marks on the squares that were taken in turn, and on request the numbers of the moves."""
    found = [Square("")] * SQUARES
    for number, square in enumerate(squares, 1):
        player = (number - 1) % 2
        found[square] = Square(MARKS[player], str(number) * numbered, "bold red" if player else "bold blue")
    return found
