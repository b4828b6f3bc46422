"""The rules of Ultimate tic-tac-toe: bitboards of nine bits, one for each small board and player.

The move ``9 * board + cell`` marks a cell of a small board, and sends the opponent to the small board with the number
of the cell.
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.jit import piece
from pttt_ooc.other_games.arena.kernels.small_boards import ANYWHERE, FULL, HAS_LINE, NTH, SIZE
from pttt_ooc.other_games.arena.kernels.state_words import DRAW, FIRST, KEY, PLAYER, PLY, RESULT, SECOND, UNFINISHED

WORDS, MOVES, WIDTH, LENGTH = 27, 81, 81, 81

TARGET, WON, CLOSED, RULES, MARKS = 4, 5, 7, 8, 9
"""Words of a state: the small board to which the player is sent, or ANYWHERE; the small boards that each player has won
(two words); the small boards that take no more marks; the options; the marks of player 0 and then of player 1 (nine
words each).  Sets of boards or cells are numbers with one bit for each."""

OPEN, MOST = 1, 2
"""Options, as bits: won small boards stay open until they are full; without a line, the player with more won boards
wins."""

_ZOBRIST = np.random.default_rng(20).integers(-(1 << 63), 1 << 63, (2, 81), dtype=np.int64)
_ZOBRIST_TARGET = np.random.default_rng(21).integers(-(1 << 63), 1 << 63, (2, 10), dtype=np.int64)


@piece
def setup(state, options):
    """The empty board; `options` may hold the bits OPEN and MOST."""
    state[:] = 0
    state[TARGET] = ANYWHERE
    if len(options) > 0:
        state[RULES] = options[0]
    state[KEY] = _ZOBRIST_TARGET[0, ANYWHERE]


@piece
def free(state, board):
    """The cells of a small board that can be marked, if the player may play there."""
    if state[CLOSED] >> board & 1:
        return 0
    return FULL & ~(state[MARKS + board] | state[MARKS + 9 + board])


@piece
def count(state):
    """The number of legal moves."""
    if state[RESULT] != UNFINISHED:
        return 0
    if state[TARGET] != ANYWHERE:
        return SIZE[free(state, state[TARGET])]
    total = 0
    for board in range(9):
        total += SIZE[free(state, board)]
    return total


@piece
def pick(state, index):
    """The legal move at a place of the ascending order."""
    board = state[TARGET]
    if board != ANYWHERE:
        return 9 * board + NTH[free(state, board), index]
    for board in range(9):
        cells = free(state, board)
        if index < SIZE[cells]:
            return 9 * board + NTH[cells, index]
        index -= SIZE[cells]
    return -1


@piece
def legal(state, moves):
    """Write the legal moves in ascending order, and return their number."""
    if state[RESULT] != UNFINISHED:
        return 0
    first, last = 0, 9
    if state[TARGET] != ANYWHERE:
        first = state[TARGET]
        last = first + 1
    total = 0
    for board in range(first, last):
        cells = free(state, board)
        for index in range(SIZE[cells]):
            moves[total] = 9 * board + NTH[cells, index]
            total += 1
    return total


@piece
def play(state, move):
    """Make a legal move."""
    board, cell = move // 9, move % 9
    player = state[PLAYER]
    place = MARKS + 9 * player + board
    state[KEY] ^= _ZOBRIST[player, move] ^ _ZOBRIST_TARGET[player, state[TARGET]]
    state[place] |= 1 << cell
    bit = 1 << board
    if HAS_LINE[state[place]] and not (state[WON] | state[WON + 1]) & bit:
        state[WON + player] |= bit
        if not state[RULES] & OPEN:
            state[CLOSED] |= bit
        if HAS_LINE[state[WON + player]]:
            state[RESULT] = FIRST + player
    if state[MARKS + board] | state[MARKS + 9 + board] == FULL:
        state[CLOSED] |= bit
    if state[CLOSED] == FULL and state[RESULT] == UNFINISHED:
        more = SIZE[state[WON]] - SIZE[state[WON + 1]]
        if more == 0 or not state[RULES] & MOST:
            state[RESULT] = DRAW
        else:
            state[RESULT] = FIRST if more > 0 else SECOND
    state[TARGET] = ANYWHERE if state[CLOSED] >> cell & 1 else cell
    state[PLAYER] = 1 - player
    state[PLY] += 1
    state[KEY] ^= _ZOBRIST_TARGET[1 - player, state[TARGET]]


SYMMETRIES = 8
_PLACES = np.arange(9).reshape(3, 3)
_TURNS = [np.rot90(side, turn).ravel() for side in (_PLACES, _PLACES.T) for turn in range(4)]
IMAGE = np.array(_TURNS, dtype=np.int64)
"""Rotations and reflections, shape (8, 9): the place whose content a symmetry moves to each place."""
IMAGE_OF_SET = np.array(
    [[sum((marks >> turn[c] & 1) << c for c in range(9)) for marks in range(512)] for turn in IMAGE.tolist()],
    dtype=np.int64,
)


@piece
def image_key(state, symmetry):
    """A key of the image of a position under a symmetry, computed anew from the whole board; 0 is the identity."""
    target = state[TARGET]
    if target != ANYWHERE:
        target = NTH[IMAGE_OF_SET[symmetry, 1 << target], 0]
    key = (target * 2 + state[PLAYER] + 1) * -7046029254386353131
    for place in range(9):
        board = IMAGE[symmetry, place]
        marks = IMAGE_OF_SET[symmetry, state[MARKS + board]] << 9 | IMAGE_OF_SET[symmetry, state[MARKS + 9 + board]]
        key = (key ^ marks) * -7723592293110705685
        key ^= key >> 29
    return key
