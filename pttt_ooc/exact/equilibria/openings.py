"""The first attempts of a player over all equilibria: the least and the largest probability of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pttt_ooc.exact.equilibria.optimal_face import OptimalFace


@dataclass(frozen=True)
class OpeningRange:
    """The probability of a first attempt over all equilibrium strategies of its player.

    Attributes
    ----------
    squares
        The square and its mirror images.
    lowest, highest
        The probability that the first attempt is one of them.  The mean of the mirror images of an equilibrium strategy
        is one too, so that this holds for strategies without symmetry as well.
    """

    squares: tuple[int, ...]
    lowest: float
    highest: float


def opening_ranges(face: OptimalFace, player: int, gap: float = 1e-8) -> Iterator[OpeningRange]:
    """The ranges of all first attempts of a player, mirror images together.

    Parameters
    ----------
    gap
        The width of the interval in which an end of a range is proven to be.

    Raises
    ------
    PtttError
        If a linear program cannot be solved.
    """
    rules, i = face.rules, face.responses.index.players[player]
    free = [square for square in range(rules.squares) if not int(rules.setup[player]) >> square & 1]
    images = {square: int(rules.least[rules.everything, square]) for square in free}
    for least in sorted(set(images.values())):
        squares = tuple(square for square in free if images[square] == least)
        payoffs = np.zeros(i.sequences)
        # The first view has one order: its sequences are its actions, in the order of their squares.
        payoffs[[int(i.sequence_start[0]) + free.index(square) for square in squares]] = 1.0
        lowest, highest = (sign * face.extreme(player, sign * payoffs, gap=gap).value for sign in (-1.0, 1.0))
        yield OpeningRange(squares, *(min(max(end, 0.0), 1.0) + 0.0 for end in (lowest, highest)))
