"""The heuristic of the tournament's example bot, for the arena's searches: it counts lines that are still open.

It is antisymmetric.  A line in which the opponent has no mark counts 1, 4 or 9 for one, two or three marks: once in
each small board that is open, and fifty times among the small boards of a big board.  A small board that is won
counts eight times its points.
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.jit import piece
from pttt_ooc.other_games.arena.kernels.extreme import DRAWN, MARKS, POINTS, WON
from pttt_ooc.other_games.arena.kernels.small_boards import LINES, SIZE
from pttt_ooc.other_games.arena.kernels.state_words import FIRST, RESULT, SECOND

HEURISTICS = (1,)
WIN = 1_000_000
_COUNTS = np.array((0, 1, 4, 9))
_BOARDS, _POINTS = 50, 8


@piece
def _open_lines(own, others):
    """The value of the lines of a set that have none of the others' places."""
    total = 0
    for index in range(8):
        line = LINES[index]
        if others & line == 0:
            total += _COUNTS[SIZE[own & line]]
    return total


@piece
def evaluate(state, heuristic):
    """The value of a position to player 0."""
    if state[RESULT] == FIRST:
        return WIN
    if state[RESULT] == SECOND:
        return -WIN
    total = 0
    for big in range(2):
        first, second, drawn = state[WON + big], state[WON + 2 + big], state[DRAWN + big]
        total += _BOARDS * (_open_lines(first, second | drawn) - _open_lines(second, first | drawn))
        total += _POINTS * (POINTS[first] - POINTS[second])
        for place in range(9):
            if not (first | second | drawn) >> place & 1:
                board = 9 * big + place
                own, other = state[MARKS + board], state[MARKS + 18 + board]
                total += _open_lines(own, other) - _open_lines(other, own)
    return total
