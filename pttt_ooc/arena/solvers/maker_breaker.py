"""Draws of k-in-a-row by its Maker-Breaker form, in which rows of the second player do not count.

If the first player cannot force a row even then, the game is a draw: the second player cannot win either, because the
first could use the same strategy with a mark to spare.  The kernel is :mod:`pttt_ooc.arena.kernels.maker_breaker`.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.arena.games.base import ArenaError
from pttt_ooc.arena.games.mnk import Mnk
from pttt_ooc.arena.kernels import maker_breaker as kernels
from pttt_ooc.arena.solvers.values import MOST_SQUARES, symmetries, winning_lines

_NO_POSITION = np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(frozen=True)
class Answer:
    """Whether Maker, who begins, can force a row.

    Attributes
    ----------
    maker_wins
        None if the allowed nodes did not suffice.  False: the game is a draw.  True says nothing about the game.
    nodes
        Visited.
    seconds
        Processor time, without compilation.
    """

    maker_wins: bool | None
    nodes: int
    seconds: float

    @property
    def value(self) -> int | None:
        """The value of the game: 0 for a draw, None if it does not follow."""
        return 0 if self.maker_wins is False else None


def following(game: Mnk, lines: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The number of the line that begins one square further in the same direction, or -1; shape (lines,)."""
    numbers = {int(line): number for number, line in enumerate(lines)}
    found = np.full(len(lines), -1)
    if game.need == 1:
        return found

    def line(row: int, column: int, down: int, right: int) -> int | None:
        places = [(row + step * down, column + step * right) for step in range(game.need)]
        if not all(0 <= row < game.rows and 0 <= column < game.columns for row, column in places):
            return None
        return numbers[sum(1 << row * game.columns + column for row, column in places)]

    for row in range(game.rows):
        for column in range(game.columns):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                one, other = line(row, column, down, right), line(row + down, column + right, down, right)
                if one is not None and other is not None:
                    found[one] = other
    return found


def byte_images(images: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Where each symmetry takes the squares of each byte, shape (symmetries, bytes, 256)."""
    squares = images.shape[1]
    found = np.zeros((len(images), -(-squares // 8), 256), dtype=np.uint64)
    for symmetry, image in enumerate(images):
        for square in range(squares):
            with_square = np.arange(256) >> square % 8 & 1 == 1
            found[symmetry, square // 8, with_square] |= np.uint64(1 << int(image[square]))
    return found


def scratch(squares: int, lines: int) -> tuple[NDArray[Any], ...]:
    """The arrays that the kernel writes to."""
    return (
        np.zeros((squares + 1, 5), dtype=np.uint64),
        np.zeros((squares, -(-lines // 64)), dtype=np.uint64),
        np.zeros(lines, dtype=np.int8),
        np.zeros((squares + 1, squares)),
    )


class MakerBreaker:
    """Questions about one board, which share a table of positions.

    Parameters
    ----------
    table_bits
        The table has ``2 ** table_bits`` entries of 17 bytes.

    Raises
    ------
    ArenaError
        The board has more than 64 squares.
    """

    def __init__(self, game: Mnk, table_bits: int = 22) -> None:
        self.squares = game.rows * game.columns
        if self.squares > MOST_SQUARES:
            raise ArenaError(
                f"A board of {game.rows} x {game.columns} squares is too large for the Maker-Breaker form: "
                f"it may have at most {MOST_SQUARES} squares."
            )
        lines = winning_lines(game)
        self._board = (lines, following(game, lines), byte_images(symmetries(game)))
        self._table = np.full((1 << table_bits, 2), _NO_POSITION), np.zeros(1 << table_bits, dtype=np.int8)
        self._scratch = scratch(self.squares, len(lines))

    def ask(self, maker: int, free: int, maker_moves: bool, most_nodes: int) -> Answer:
        """Whether Maker can force a row from a position: its marks and the free squares, as bits."""
        budget, begin = np.array([0, most_nodes]), process_time()
        position = (np.uint64(maker), np.uint64(free), maker_moves)
        answer = kernels.maker_wins(*self._board, *position, *self._table, *self._scratch, budget)
        known = None if answer == kernels.STOPPED else bool(answer == kernels.YES)
        return Answer(known, min(int(budget[0]), most_nodes), process_time() - begin)


def solve(game: Mnk, table_bits: int = 22, most_nodes: int = 10**10) -> Answer:
    """Whether Maker, who begins on the empty board, can force a row.

    Raises
    ------
    ArenaError
        As :class:`MakerBreaker`.
    """
    search = MakerBreaker(game, table_bits)
    everything = (1 << search.squares) - 1
    search.ask(0, everything, True, 0)  # compiles
    return search.ask(0, everything, True, most_nodes)
