"""Shared rules of k-in-a-row: the contents of squares, directions, and rows that win."""

from __future__ import annotations

import numpy as np

from pttt_ooc.jit import piece
from pttt_ooc.other_games.arena.kernels.state_words import PLAYER, PLY

FREE, OUTSIDE = 0, 3
"""The contents of a square besides the mark 1 of player 0 and the mark 2 of player 1."""

DIRECTIONS = np.array(((0, 1), (1, 0), (1, 1), (1, -1)))
"""Rows and columns from a square to the next one of a row."""


@piece
def wins(cell, place, state, move, need):
    """Whether the player to move wins by a mark on a free square.

    Parameters
    ----------
    cell, place
        The pieces of the rules.
    need
        The length of a row that wins.
    """
    if state[PLY] + 1 < 2 * need - 1:
        return False
    row, column = place(state, move)
    mark = state[PLAYER] + 1
    for direction in range(4):
        down, right = DIRECTIONS[direction, 0], DIRECTIONS[direction, 1]
        length = 1
        for side in (-1, 1):
            r, c = row + side * down, column + side * right
            while cell(state, r, c) == mark:
                length += 1
                r += side * down
                c += side * right
        if length >= need:
            return True
    return False
