"""Heuristics for Ultimate tic-tac-toe: the four of Lifshitz and Tsurel.

All are antisymmetric: the value to player 1 is minus the value to player 0.  Their report, *AI approaches to Ultimate
Tic-Tac-Toe*, gives the weights.  Where the report is silent, these rules hold: a win and a loss count 10,000 in all
four; a pair inside a small board counts while the board is not won and the third cell is free; a pair of won boards
counts unless the opponent has won the third; marks inside a won board still count as squares.
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.jit import piece
from pttt_ooc.other_games.arena.kernels.small_boards import HAS_LINE, LINES, SIZE
from pttt_ooc.other_games.arena.kernels.state_words import FIRST, PLAYER, PLY, RESULT, SECOND
from pttt_ooc.other_games.arena.kernels.ultimate import MARKS, TARGET, WON

HEURISTICS = (1, 2, 3, 4)
WIN = 10_000
BOARD, CENTRE_BOARD, CORNER_BOARD, CENTRE_CELL, CELL_OF_CENTRE_BOARD, PAIR_OF_BOARDS, PAIR_OF_CELLS = (
    5,
    10,
    3,
    3,
    3,
    4,
    2,
)
FREE_MOVE = 2
_CENTRE, _CORNERS = 1 << 4, 0b101000101


def _pairs(own: int, other: int) -> int:
    """The number of lines with two places in `own` and the third in neither set."""
    return sum((own & line).bit_count() == 2 and not other & line for line in map(int, LINES))


def _small(own: int, other: int) -> int:
    """The value of one player's marks in a small board, apart from the centre board's bonus and the win."""
    won = HAS_LINE[own] or HAS_LINE[other]
    return CENTRE_CELL * (own >> 4 & 1) + (0 if won else PAIR_OF_CELLS * _pairs(own, other))


def _big(own: int, other: int) -> int:
    """The value of one player's won boards."""
    return (
        BOARD * own.bit_count()
        + CENTRE_BOARD * (own & _CENTRE).bit_count()
        + CORNER_BOARD * (own & _CORNERS).bit_count()
        + PAIR_OF_BOARDS * _pairs(own, other)
    )


TERNARY = np.array([sum(3**c for c in range(9) if marks >> c & 1) for marks in range(512)], dtype=np.int64)
"""The place of a set of marks in the tables: player 0's, plus twice player 1's."""

SMALL = np.zeros(3**9, dtype=np.int16)
"""The value of a small board to player 0: int16, shape (19683,)."""
BIG = np.zeros(3**9, dtype=np.int16)
"""The same for won boards."""
for _first in range(512):
    for _second in range(512):
        if not _first & _second:
            _place = TERNARY[_first] + 2 * TERNARY[_second]
            SMALL[_place] = _small(_first, _second) - _small(_second, _first)
            BIG[_place] = _big(_first, _second) - _big(_second, _first)


@piece
def _number_of_pairs(own, other):
    total = 0
    for index in range(8):
        line = LINES[index]
        if SIZE[own & line] == 2 and other & line == 0:
            total += 1
    return total


@piece
def _counts(state, player):
    """The features of one player, each counted anew."""
    own, other = state[WON + player], state[WON + 1 - player]
    centres, pairs = np.int64(0), np.int64(0)
    for board in range(9):
        marks, others = state[MARKS + 9 * player + board], state[MARKS + 9 * (1 - player) + board]
        centres += marks >> 4 & 1
        if not HAS_LINE[marks] and not HAS_LINE[others]:
            pairs += _number_of_pairs(marks, others)
    return (
        SIZE[own],
        SIZE[own & _CENTRE],
        SIZE[own & _CORNERS],
        centres,
        SIZE[state[MARKS + 9 * player + 4]],
        _number_of_pairs(own, other),
        pairs,
    )


WEIGHTS = (BOARD, CENTRE_BOARD, CORNER_BOARD, CENTRE_CELL, CELL_OF_CENTRE_BOARD, PAIR_OF_BOARDS, PAIR_OF_CELLS)
"""The weights of heur2's features, in the order in which the report names them."""
FEATURES = len(WEIGHTS)


@piece
def by_table(state):
    """The value of heur3 before the end."""
    total = 0
    for board in range(9):
        total += SMALL[TERNARY[state[MARKS + board]] + 2 * TERNARY[state[MARKS + 9 + board]]]
    total += BIG[TERNARY[state[WON]] + 2 * TERNARY[state[WON + 1]]]
    return total + CELL_OF_CENTRE_BOARD * (SIZE[state[MARKS + 4]] - SIZE[state[MARKS + 9 + 4]])


@piece
def evaluate(state, heuristic):
    """The value of a position to player 0 by a heuristic, given by its number: heur1, heur2, heur3 or heur4."""
    if state[RESULT] == FIRST:
        return WIN
    if state[RESULT] == SECOND:
        return -WIN
    if heuristic == 1:
        return SIZE[state[WON]] - SIZE[state[WON + 1]]
    if heuristic == 2:
        first, second, total = _counts(state, 0), _counts(state, 1), 0
        for feature in range(FEATURES):
            total += WEIGHTS[feature] * (first[feature] - second[feature])
        return total
    total = by_table(state)
    if heuristic == 4 and state[TARGET] == 9 and state[PLY] > 0:
        total += FREE_MOVE if state[PLAYER] == 0 else -FREE_MOVE
    return total


@piece
def features(state, out):
    """Write the features of heur2, those of player 0 minus those of player 1, in the order of WEIGHTS."""
    first, second = _counts(state, 0), _counts(state, 1)
    for feature in range(FEATURES):
        out[feature] = first[feature] - second[feature]


@piece
def standing(state):
    """Small boards won by player 0, minus those of player 1."""
    return SIZE[state[WON]] - SIZE[state[WON + 1]]
