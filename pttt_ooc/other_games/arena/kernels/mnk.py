"""The rules of k-in-a-row on boards of up to 11 x 11 squares: bitboards of two words for each player.

The move ``row * columns + column`` marks a square, which is bit ``move % 64`` of the word ``move // 64``.  A row
of `need` marks or more wins; a full board without such a row is a draw.
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.jit import piece
from pttt_ooc.other_games.arena.kernels.rng import below
from pttt_ooc.other_games.arena.kernels.rows import OUTSIDE, wins
from pttt_ooc.other_games.arena.kernels.state_words import DRAW, FIRST, KEY, PLAYER, PLY, RESULT, UNFINISHED

WORDS, MOVES, WIDTH, LENGTH = 11, 121, 121, 121

ROWS, COLUMNS, NEED, MARKS = 4, 5, 6, 7
"""Words of a state: the size of the board, the length of a row that wins, and the marks of player 0 and then of player
1 (two words each)."""

ZOBRIST = np.random.default_rng(30).integers(-(1 << 63), 1 << 63, (2, MOVES), dtype=np.int64)


@piece
def setup(state, options):
    """The empty board; `options` are the numbers of rows and of columns, and the length of a row that wins."""
    state[:] = 0
    state[ROWS] = options[0]
    state[COLUMNS] = options[1]
    state[NEED] = options[2]


@piece
def has(state, player, square):
    """Whether a square has a player's mark."""
    return state[MARKS + 2 * player + (square >> 6)] >> (square & 63) & 1


@piece
def cell(state, row, column):
    """The content of a square: FREE, 1, 2 or OUTSIDE."""
    if row < 0 or row >= state[ROWS] or column < 0 or column >= state[COLUMNS]:
        return OUTSIDE
    square = row * state[COLUMNS] + column
    return has(state, 0, square) + 2 * has(state, 1, square)


@piece
def place(state, move):
    """Row and column of a move."""
    return move // state[COLUMNS], move % state[COLUMNS]


@piece
def result_after(state, move):
    """The word RESULT after a legal move."""
    if wins(cell, place, state, move, state[NEED]):
        return FIRST + state[PLAYER]
    return DRAW if state[PLY] + 1 == state[ROWS] * state[COLUMNS] else UNFINISHED


@piece
def key_after(state, move):
    """The word KEY after a legal move."""
    return state[KEY] ^ ZOBRIST[state[PLAYER], move]


@piece
def count(state):
    """The number of legal moves."""
    if state[RESULT] != UNFINISHED:
        return 0
    return state[ROWS] * state[COLUMNS] - state[PLY]


@piece
def legal(state, moves):
    """Write the legal moves in ascending order, and return their number."""
    if state[RESULT] != UNFINISHED:
        return 0
    total = 0
    for square in range(state[ROWS] * state[COLUMNS]):
        if not (has(state, 0, square) or has(state, 1, square)):
            moves[total] = square
            total += 1
    return total


@piece
def pick(state, index):
    """The legal move at a place of the ascending order."""
    for square in range(state[ROWS] * state[COLUMNS]):
        if not (has(state, 0, square) or has(state, 1, square)):
            if index == 0:
                return square
            index -= 1
    return -1


@piece
def explore(state, rng):
    """A legal move, drawn uniformly."""
    return pick(state, below(rng, count(state)))


@piece
def play(state, move):
    """Make a legal move."""
    player = state[PLAYER]
    state[RESULT] = result_after(state, move)
    state[KEY] = key_after(state, move)
    state[MARKS + 2 * player + (move >> 6)] |= np.int64(1) << (move & 63)
    state[PLAYER] = 1 - player
    state[PLY] += 1
