"""Draws of k-in-a-row by its Maker-Breaker form, in which rows of the second player do not count.

If the first player cannot force a row even then, the game is a draw: the second player cannot win either, because the
first could use the same strategy with a mark to spare.  The kernel is
:mod:`pttt_ooc.other_games.arena.kernels.maker_breaker`.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.games.mnk import Mnk
from pttt_ooc.other_games.arena.kernels import maker_breaker as kernels
from pttt_ooc.other_games.arena.kernels.line_pairs import NONE, OWNER, ROWS
from pttt_ooc.other_games.arena.solvers.lines import MOST_SQUARES, byte_images, following, symmetries, winning_lines

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
        self._lines, self._budget = lines, np.zeros(2, dtype=np.int64)
        self._board = (following(game, lines), byte_images(symmetries(game)))
        table = np.full((1 << table_bits, 2), _NO_POSITION), np.zeros(1 << table_bits, dtype=np.int8)
        scratch = (
            np.zeros((self.squares + 1, 5), dtype=np.uint64),
            np.zeros((self.squares, -(-len(lines) // 64)), dtype=np.uint64),
            np.zeros(len(lines), dtype=np.int8),
            np.zeros((self.squares + 1, self.squares)),
            np.zeros(len(lines), dtype=np.uint64),
            np.zeros(len(lines)),
            np.zeros((ROWS, max(len(lines), MOST_SQUARES)), dtype=np.int64),
        )
        self._rest = (*table, *scratch, self._budget)

    @property
    def form(self) -> tuple[NDArray[Any], ...]:
        """What the kernel takes beside the lines and the position."""
        return self._board + self._rest

    def ask(self, maker: int, free: int, maker_moves: bool, most_nodes: int) -> Answer:
        """Whether Maker can force a row from a position: its marks and the free squares, as bits."""
        self._budget[:], begin = (0, most_nodes), process_time()
        following, images = self._board
        position = (np.uint64(maker), np.uint64(free), maker_moves)
        answer = kernels.maker_wins(self._lines, following, images, *position, *self._rest)
        known = None if answer == kernels.STOPPED else bool(answer == kernels.YES)
        return Answer(known, min(int(self._budget[0]), most_nodes), process_time() - begin)

    def pairs(self, maker: int, free: int) -> list[tuple[int, int]] | None:
        """Pairs of squares by which Breaker holds a position in which Maker is to move; None if none are found.

        No two free squares may have the same open lines.
        """
        *_, on, state, _, groups, weights, numbers, _ = self._rest
        scratch = (on, state, groups, weights, numbers)
        if not kernels.find_pairs(self._lines, self._board[0], np.uint64(maker), np.uint64(free), *scratch):
            return None
        owners: dict[int, list[int]] = {}
        for square, group in enumerate(numbers[OWNER].tolist()):
            if group != NONE:
                owners.setdefault(group, []).append(square)
        return [(one, other) for one, other in owners.values()]


def solve(game: Mnk, table_bits: int | None = None, most_nodes: int = 10**10) -> Answer:
    """Whether Maker, who begins on the empty board, can force a row.

    Parameters
    ----------
    table_bits
        As for :class:`MakerBreaker`.  Default: 22 (71 MB) up to 49 squares, else 24 (285 MB).

    Raises
    ------
    ArenaError
        As :class:`MakerBreaker`.
    """
    search = MakerBreaker(game, table_bits or (22 if game.rows * game.columns <= 49 else 24))
    everything = (1 << search.squares) - 1
    search.ask(0, everything, True, 0)  # compiles
    return search.ask(0, everything, True, most_nodes)
