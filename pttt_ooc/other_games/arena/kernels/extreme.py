"""The rules of Extreme TicTacToe: two big boards of nine small boards each, with bonus moves; bitboards of nine bits.

The move ``81 * big board + 9 * row + column`` marks a cell, so that moves in ascending order are in the order of big
board, row, column.  Small boards are numbered 9 * big board + place, with places 0 to 8 in reading order; so are the
cells of a small board.  A mark in a cell sends the next player to the small boards at its place in both big boards.
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.jit import piece
from pttt_ooc.other_games.arena.kernels.small_boards import ANYWHERE, FULL, HAS_LINE, NTH, SIZE
from pttt_ooc.other_games.arena.kernels.state_words import DRAW, FIRST, KEY, PLAYER, PLY, RESULT, SECOND, UNFINISHED

WORDS, MOVES, WIDTH, LENGTH = 48, 162, 162, 162
SYMMETRIES = 1
"""Images of a position that searches look for: itself."""

PLACE, BONUS, WON, DRAWN, MARKS = 4, 5, 6, 10, 12
"""Words of a state: the place to which the last move sends, or ANYWHERE; 1 if the move to come is a bonus move; the
small boards that each player has won (player 0's of both big boards, then player 1's); the small boards that are full
without a winner (of both big boards); the marks of player 0 and then of player 1 (eighteen words each).  Sets of small
boards or cells are numbers with one bit for each."""

WHOLE = 86
"""The points for winning the game."""
WEIGHTS = (4, 6, 4, 6, 3, 6, 4, 6, 4)
"""The points for the small board at each place, if the game has no winner."""

POINTS = np.array([sum(WEIGHTS[b] for b in range(9) if marks >> b & 1) for marks in range(512)], dtype=np.int64)

_NUMBERS = np.arange(MOVES)
BOARD = 9 * (_NUMBERS // 81) + 3 * (_NUMBERS % 81 // 27) + _NUMBERS % 9 // 3
"""The small board of each move."""
CELL = 3 * (_NUMBERS // 9 % 3) + _NUMBERS % 3
"""The cell of each move in its small board."""
MOVE = np.zeros((18, 9), dtype=np.int64)
"""The move to each cell of each small board."""
MOVE[BOARD, CELL] = _NUMBERS

_random = np.random.default_rng(30)
_ZOBRIST = _random.integers(-(1 << 63), 1 << 63, (2, MOVES), dtype=np.int64)
_ZOBRIST_NEXT = _random.integers(-(1 << 63), 1 << 63, (2, 2, 10), dtype=np.int64)  # player, bonus, place


@piece
def setup(state, options):
    """The empty boards; there are no options."""
    state[:] = 0
    state[PLACE] = ANYWHERE
    state[KEY] = _ZOBRIST_NEXT[0, 0, ANYWHERE]


@piece
def closed_boards(state, big):
    """The small boards of a big board that take no more marks."""
    return state[WON + big] | state[WON + 2 + big] | state[DRAWN + big]


@piece
def free(state, board):
    """The empty cells of a small board; none if it is closed."""
    if closed_boards(state, board // 9) >> (board % 9) & 1:
        return 0
    return FULL & ~(state[MARKS + board] | state[MARKS + 18 + board])


@piece
def count(state):
    """The number of legal moves."""
    if state[RESULT] != UNFINISHED:
        return 0
    place = state[PLACE]
    if place != ANYWHERE:
        return SIZE[free(state, place)] + SIZE[free(state, 9 + place)]
    total = 0
    for board in range(18):
        total += SIZE[free(state, board)]
    return total


@piece
def pick(state, index):
    """The legal move at a place of the ascending order."""
    place = state[PLACE]
    if place != ANYWHERE:
        cells = free(state, place)
        if index < SIZE[cells]:
            return MOVE[place, NTH[cells, index]]
        return MOVE[9 + place, NTH[free(state, 9 + place), index - SIZE[cells]]]
    for row in range(54):  # the rows of the small boards one by one, along the rows of the big boards
        board = 9 * (row // 27) + 3 * (row % 27 // 9) + row % 3
        cells = free(state, board) & 7 << 3 * (row // 3 % 3)
        if index < SIZE[cells]:
            return MOVE[board, NTH[cells, index]]
        index -= SIZE[cells]
    return -1


@piece
def legal(state, moves):
    """Write the legal moves in ascending order, and return their number."""
    if state[RESULT] != UNFINISHED:
        return 0
    total = 0
    place = state[PLACE]
    if place != ANYWHERE:
        for board in range(place, 18, 9):
            cells = free(state, board)
            for index in range(SIZE[cells]):
                moves[total] = MOVE[board, NTH[cells, index]]
                total += 1
        return total
    for move in range(MOVES):
        if free(state, BOARD[move]) >> CELL[move] & 1:
            moves[total] = move
            total += 1
    return total


@piece
def play(state, move):
    """Make a legal move.

    A player who wins a small board gets a bonus move, in the small boards to which this move sends; winning one with a
    bonus move gives no further one.
    """
    player, board, cell = state[PLAYER], BOARD[move], CELL[move]
    big, bit = board // 9, 1 << (board % 9)
    state[KEY] ^= _ZOBRIST[player, move] ^ _ZOBRIST_NEXT[player, state[BONUS], state[PLACE]]
    marks = state[MARKS + 18 * player + board] | 1 << cell
    state[MARKS + 18 * player + board] = marks
    bonus = 0
    if HAS_LINE[marks]:
        state[WON + 2 * player + big] |= bit
        bonus = 1 - state[BONUS]
        if HAS_LINE[state[WON + 2 * player + big]]:
            state[RESULT] = FIRST + player
    elif marks | state[MARKS + 18 * (1 - player) + board] == FULL:
        state[DRAWN + big] |= bit
    both = closed_boards(state, 0) & closed_boards(state, 1)
    if both == FULL and state[RESULT] == UNFINISHED:
        state[RESULT] = DRAW
    state[PLACE] = ANYWHERE if both >> cell & 1 else cell
    state[BONUS] = bonus
    if not bonus:
        state[PLAYER] = 1 - player
    state[PLY] += 1
    state[KEY] ^= _ZOBRIST_NEXT[state[PLAYER], bonus, state[PLACE]]


@piece
def image_key(state, symmetry):
    """A number for the position itself, the only image that searches look for."""
    return state[KEY]


@piece
def points(state, player):
    """The points of a player at the end: 86 or 0 if somebody has won, else by the small boards that they have won."""
    if state[RESULT] == FIRST + player:
        return WHOLE
    if state[RESULT] == SECOND - player:
        return 0
    return POINTS[state[WON + 2 * player]] + POINTS[state[WON + 2 * player + 1]]
