"""Exact values of endings of Ultimate tic-tac-toe, by alpha-beta with a table of positions.

A value is 1, 0 or -1 for the player to move: a win, a draw or a loss under perfect play.  The table compares whole
positions, not only their keys, so that nothing depends on luck.
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.jit import bare_kernel, piece
from pttt_ooc.other_games.arena.kernels import ultimate as rules
from pttt_ooc.other_games.arena.kernels.state_words import DRAW, FIRST, KEY, PLAYER, RESULT, UNFINISHED
from pttt_ooc.other_games.arena.kernels.ultimate import CLOSED, FULL, HAS_LINE, MARKS, TARGET, WON

VISITED, ALLOWED = 0, 1
"""Words of `budget`: positions visited, and allowed."""

_ONE = np.int64(1)  # not a literal: a recursive kernel must have one signature


@piece
def can_win(state, player):
    """Whether three small boards in a line are won by a player, or still open."""
    other_won = state[WON + 1 - player]
    return HAS_LINE[state[WON + player] | (FULL & ~(other_won | state[CLOSED]))]


@piece
def words(state):
    """A position as three numbers."""
    first = second = np.int64(0)
    for board in range(7):
        first |= state[MARKS + board] << (9 * board)
        second |= state[MARKS + 9 + board] << (9 * board)
    third = state[MARKS + 7] | state[MARKS + 8] << 9 | state[MARKS + 16] << 18 | state[MARKS + 17] << 27
    return first, second, third | state[TARGET] << 36 | state[PLAYER] << 40 | np.int64(1) << 42


@piece
def insert(moves, index, worth):
    """Bring the move at an index to its place among those before it, by falling worth, from -128 on.

    Until all are there, the upper bits of a move have its worth.
    """
    moves[index] |= (worth + 128) << 8
    place = index
    while place > 0 and moves[place - 1] >> 8 < moves[place] >> 8:
        moves[place - 1], moves[place] = moves[place], moves[place - 1]
        place -= 1


@piece
def _order(state, moves, number, first):
    """Bring moves in order: `first`, then those that win a small board, last those that let the other play anywhere."""
    for index in range(number):
        move = moves[index]
        board, cell = move // 9, move % 9
        marks = state[MARKS + 9 * state[PLAYER] + board] | 1 << cell
        worth = 2 if HAS_LINE[marks] else 1
        closed = state[CLOSED] >> cell & 1 or (cell == board and HAS_LINE[marks])
        insert(moves, index, 8 if move == first else 2 * worth + (0 if closed else 1))
    for index in range(number):
        moves[index] &= 0xFF


@bare_kernel
def value(states, moves, level, alpha, beta, keys, entries, budget):
    """The value of the position of a level to the player to move; outside of the window, a bound.

    Parameters
    ----------
    states, moves
        int64, shapes (levels, rules.WORDS) and (levels, rules.WIDTH): row `level` of `states` has the position.
    keys, entries
        The table: int64, shapes (size, 3) and (size,), of a size that is a power of two; the latest position stays.
    budget
        int64, shape (2,): positions visited, and allowed; beyond them, values have no meaning.
    """
    state = states[level]
    budget[VISITED] += 1
    if state[RESULT] != UNFINISHED:
        return np.int64(0 if state[RESULT] == DRAW else (1 if state[RESULT] == FIRST + state[PLAYER] else -1))
    # The bounds before a search: who cannot win any more gets a draw at most; the table narrows them, and has the move
    # to try first.
    upper = np.int64(can_win(state, state[PLAYER]))
    lower = -np.int64(can_win(state, 1 - state[PLAYER]))
    slot = state[KEY] & (len(entries) - 1)
    one, two, three = words(state)
    first = np.int64(-1)
    if keys[slot, 2] == three and keys[slot, 0] == one and keys[slot, 1] == two:
        entry = entries[slot]
        lower, upper = max(lower, (entry & 3) - 1), min(upper, (entry >> 2 & 3) - 1)
        first = (entry >> 4) - 1
    if lower >= beta or lower == upper:
        return lower
    if upper <= alpha or budget[VISITED] > budget[ALLOWED]:
        return upper
    # Alpha-beta, up to the value that cannot be surpassed.
    number = rules.legal(state, moves[level])
    _order(state, moves[level], number, first)
    best, chosen = -_ONE - _ONE, first
    for index in range(number):
        for word in range(rules.WORDS):
            states[level + 1, word] = state[word]
        rules.play(states[level + 1], moves[level, index])
        found = -value(states, moves, level + _ONE, -beta, -max(alpha, best), keys, entries, budget)
        if found > best:
            best, chosen = found, moves[level, index]
        if best >= beta or best >= upper:
            break
    if budget[VISITED] > budget[ALLOWED]:
        return best
    # What the search tells of the bounds: the exact value inside of the window, else one of the two.  The table keeps
    # both bounds.
    if best >= upper:
        lower = upper
    elif best >= beta:
        lower = max(lower, best)
    elif best <= alpha:
        upper = min(upper, best)
    else:
        lower = upper = best
    keys[slot, 0], keys[slot, 1], keys[slot, 2] = one, two, three
    entries[slot] = (lower + 1) | (upper + 1) << 2 | (chosen + 1) << 4
    return best


@bare_kernel
def values_after(states, moves, found, keys, entries, budget):
    """Write the value of each legal move in the first position, for its mover, to `found`; return their number.

    The moves are the first row of `moves`, ascending.
    """
    number = rules.legal(states[0], moves[0])
    for index in range(number):
        for word in range(rules.WORDS):
            states[1, word] = states[0, word]
        rules.play(states[1], moves[0, index])
        found[index] = -value(states, moves, _ONE, -_ONE, _ONE, keys, entries, budget)
    return number
