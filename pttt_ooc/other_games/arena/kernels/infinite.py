"""The rules of k-in-a-row on an infinite board, in three forms.

``FIXED``
    The free squares with both coordinates in ``-limiter`` to ``limiter`` are legal.
``GROWING``
    The same, but when all these squares are taken, the bound grows by the limiter.
``NEAR``
    The free squares at most ``limiter`` rows and columns from a mark are legal; on the empty board, the nine squares in
    the middle.

The plane has 63 x 63 squares.  A game that fills all its legal squares is a draw: the bound of
a growing board cannot pass the edge of the plane.

The move ``63 * row + column`` marks a square; the one in the middle has row and column 31, and the coordinates (0, 0).
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.jit import piece
from pttt_ooc.other_games.arena.kernels.rng import below, draw
from pttt_ooc.other_games.arena.kernels.rows import OUTSIDE, wins
from pttt_ooc.other_games.arena.kernels.state_words import DRAW, FIRST, KEY, PLAYER, PLY, RESULT, UNFINISHED

SIDE, MIDDLE = 63, 31
WORDS, MOVES, WIDTH, LENGTH = 10 + 3 * SIDE, SIDE * SIDE, SIDE * SIDE, SIDE * SIDE

NEED, FORM, LIMITER, BOUND, CHOICES, TOP, OPEN, MARKS = 4, 5, 6, 7, 8, 9, 10, 10 + SIDE
"""Words of a state: the length of a row that wins; the form; the limiter; the present bound; the number of legal moves;
the first row with a legal move; for each row, the legal squares as bits; for each player and row, the marks as bits."""

FIXED, GROWING, NEAR = 0, 1, 2
ZOBRIST = np.random.default_rng(31).integers(-(1 << 63), 1 << 63, (2, MOVES), dtype=np.int64)


@piece
def _size(word):
    """The number of bits that are set."""
    total = 0
    while word != 0:
        word &= word - 1
        total += 1
    return total


@piece
def _admit(state, first_row, last_row, first_column, last_column):
    """Make the free squares of a rectangle legal."""
    first_row, first_column = max(first_row, 0), max(first_column, 0)
    last_row, last_column = min(last_row, SIDE - 1), min(last_column, SIDE - 1)
    span = ((1 << (last_column - first_column + 1)) - 1) << first_column
    for row in range(first_row, last_row + 1):
        taken = state[MARKS + row] | state[MARKS + SIDE + row]
        new = span & ~taken & ~state[OPEN + row]
        if new != 0:
            state[OPEN + row] |= new
            state[CHOICES] += _size(new)
            state[TOP] = min(state[TOP], row)


@piece
def _admit_middle(state, bound):
    """Make the free squares up to a bound legal."""
    _admit(state, MIDDLE - bound, MIDDLE + bound, MIDDLE - bound, MIDDLE + bound)


@piece
def setup(state, options):
    """The empty board; `options` are the length of a row that wins, the form and the limiter."""
    state[:] = 0
    state[NEED] = options[0]
    state[FORM] = options[1]
    state[LIMITER] = options[2]
    state[BOUND] = options[2]
    state[TOP] = SIDE
    _admit_middle(state, 1 if state[FORM] == NEAR else state[BOUND])


@piece
def cell(state, row, column):
    """The content of a square: FREE, 1, 2 or OUTSIDE."""
    if row < 0 or row >= SIDE or column < 0 or column >= SIDE:
        return OUTSIDE
    return (state[MARKS + row] >> column & 1) + 2 * (state[MARKS + SIDE + row] >> column & 1)


@piece
def place(state, move):
    """Row and column of a move."""
    return move // SIDE, move % SIDE


@piece
def _is_last(state):
    """Whether the next move leaves no legal move, on a board with a bound."""
    return state[FORM] != NEAR and state[CHOICES] == 1 and (state[FORM] == FIXED or state[BOUND] == MIDDLE)


@piece
def result_after(state, move):
    """The word RESULT after a legal move; only `play` notices that a board without bound is full to its edge."""
    if wins(cell, place, state, move, state[NEED]):
        return FIRST + state[PLAYER]
    return DRAW if _is_last(state) else UNFINISHED


@piece
def key_after(state, move):
    """The word KEY after a legal move."""
    return state[KEY] ^ ZOBRIST[state[PLAYER], move]


@piece
def count(state):
    """The number of legal moves."""
    return state[CHOICES] if state[RESULT] == UNFINISHED else 0


@piece
def legal(state, moves):
    """Write the legal moves in ascending order, and return their number."""
    total, row = 0, state[TOP]
    while total < count(state):
        word = state[OPEN + row]
        column = 0
        while word >> column != 0:
            if word >> column & 1:
                moves[total] = row * SIDE + column
                total += 1
            column += 1
        row += 1
    return total


@piece
def pick(state, index):
    """The legal move at a place of the ascending order."""
    row = state[TOP]
    while row < SIDE:
        size = _size(state[OPEN + row])
        if index < size:
            word = state[OPEN + row]
            for _ in range(index):
                word &= word - 1
            return row * SIDE + _size((word & -word) - 1)
        index -= size
        row += 1
    return -1


@piece
def neighbours(state, move):
    """The number of marks at most `limiter` rows and columns away."""
    row, column = place(state, move)
    limiter = state[LIMITER]
    first, last = max(column - limiter, 0), min(column + limiter, SIDE - 1)
    span = ((1 << (last - first + 1)) - 1) << first
    total = 0
    for r in range(max(row - limiter, 0), min(row + limiter, SIDE - 1) + 1):
        total += _size((state[MARKS + r] | state[MARKS + SIDE + r]) & span)
    return total


@piece
def explore(state, rng):
    """A random legal move: uniform, or in the form ``NEAR`` with a chance in proportion to the marks nearby.

    The report draws from a list of moves near marks, in which a square occurs once for each mark near it.
    """
    while True:
        move = pick(state, below(rng, count(state)))
        if state[FORM] != NEAR or state[PLY] == 0:
            return move
        most = min(state[PLY], (2 * state[LIMITER] + 1) ** 2 - 1)
        if (draw(rng) * most) >> 32 < neighbours(state, move):
            return move


@piece
def play(state, move):
    """Make a legal move."""
    player = state[PLAYER]
    row, column = place(state, move)
    state[RESULT] = result_after(state, move)
    state[KEY] = key_after(state, move)
    state[MARKS + SIDE * player + row] |= 1 << column
    state[OPEN + row] &= ~(1 << column)
    state[CHOICES] -= 1
    state[PLAYER] = 1 - player
    state[PLY] += 1
    limiter = state[LIMITER]
    if state[FORM] == NEAR:
        if state[PLY] == 1:
            for r in range(MIDDLE - 1, MIDDLE + 2):
                state[OPEN + r] = 0
            state[CHOICES] = 0
            state[TOP] = SIDE
        _admit(state, row - limiter, row + limiter, column - limiter, column + limiter)
    while state[FORM] == GROWING and state[CHOICES] == 0 and state[BOUND] < MIDDLE:
        state[BOUND] = min(state[BOUND] + limiter, MIDDLE)
        _admit_middle(state, state[BOUND])
    if state[CHOICES] == 0 and state[RESULT] == UNFINISHED:
        state[RESULT] = DRAW
