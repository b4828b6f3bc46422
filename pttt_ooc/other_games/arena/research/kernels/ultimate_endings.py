"""Exact answers about Ultimate tic-tac-toe by alpha-beta: values of endings, and wins within so many plies.

A value is 1, 0 or -1 for the player to move: a win, a draw or a loss under perfect play.  The tables compare whole
positions, not only their keys, so that no collision falsifies an answer.
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.jit import bare_kernel, piece
from pttt_ooc.other_games.arena.kernels import ultimate as rules
from pttt_ooc.other_games.arena.kernels.small_boards import FULL, HAS_LINE, SIZE
from pttt_ooc.other_games.arena.kernels.state_words import DRAW, FIRST, KEY, PLAYER, RESULT, UNFINISHED
from pttt_ooc.other_games.arena.kernels.ultimate import CLOSED, MARKS, TARGET, WON

VISITED, ALLOWED = 0, 1
"""Words of `budget`: positions visited, and allowed."""

_ONE = np.int64(1)  # not a literal: a recursive kernel must have one signature


@piece
def can_win(state, player):
    """Whether some line has only small boards that a player has won or that are open."""
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
    """Bring the move at an index to its place among those before it, by descending worth, which is at least -128.

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
    # The bounds before a search: a player who cannot win any more gets a draw at most; the table narrows them, and has
    # the move to try first.
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


_NEVER = 127  # more plies than a game has


@piece
def _order_for_win(state, moves, number, hint):
    """Bring moves in order: `hint`, wins, small boards that are won, and those after which the other has few moves.

    The first player's moves that send the other to a small board which is nearly won come late.
    """
    player = state[PLAYER]
    decided = state[WON] | state[WON + 1]
    for index in range(number):
        move = moves[index]
        board, cell = move // 9, move % 9
        worth = 100 if move == hint else 0
        if HAS_LINE[state[MARKS + 9 * player + board] | 1 << cell] and not decided >> board & 1:
            worth += 90 if HAS_LINE[state[WON + player] | 1 << board] else 60
        if state[CLOSED] >> cell & 1:
            worth -= 40
        elif player == 0:
            theirs = state[MARKS + 9 + cell]
            free = FULL & ~(state[MARKS + cell] | theirs)
            worth += 9 - SIZE[free]
            for other in range(9):
                if free >> other & 1 and HAS_LINE[theirs | 1 << other] and not decided >> cell & 1:
                    worth -= 30
                    break
        insert(moves, index, worth)
    for index in range(number):
        moves[index] &= 0xFF


@bare_kernel
def wins_within(states, moves, level, plies, cells, keys, entries, budget):
    """Whether the first player can force a win within so many plies: 1 or 0.

    Parameters
    ----------
    states, moves
        int64, shapes (levels, rules.WORDS) and (levels, rules.WIDTH): row `level` of `states` has the position.
    plies
        int64: of both players together.
    cells
        int64, a set: the first player marks only these cells of small boards, or wins at once.  With all cells, the
        answer 0 is a proof, too.
    keys, entries
        The table: int64, shapes (size, 3) and (size,), of a size that is a power of two; the latest position stays.
        An entry has the least plies known to be enough, the most known not to be, and the move.
    budget
        int64, shape (2,): positions visited, and allowed; beyond them, the answer has no meaning.
    """
    state = states[level]
    budget[VISITED] += 1
    # Ends; and positions without a win in time, as no plies are left or no line can be completed any more.
    if state[RESULT] != UNFINISHED:
        return np.int64(state[RESULT] == FIRST)
    if plies <= 0 or budget[VISITED] > budget[ALLOWED] or not can_win(state, 0):
        return np.int64(0)
    # The table: from `enough` plies on there is a win, and up to `too_few` there is none.  In between, its move comes
    # first.
    one, two, three = words(state)
    slot = (state[KEY] ^ state[KEY] >> 29) & (len(entries) - 1)
    enough, too_few, hint = np.int64(_NEVER), np.int64(0), np.int64(-1)
    if keys[slot, 2] == three and keys[slot, 0] == one and keys[slot, 1] == two:
        enough, too_few, hint = entries[slot] & 127, entries[slot] >> 7 & 127, (entries[slot] >> 14) - 1
        if plies >= enough or plies <= too_few:
            return np.int64(plies >= enough)
    # An AND/OR search: one move to a win is enough for the first player, and a move without one for the second.  Until
    # such a move is found, the answer is the other one.
    number = rules.legal(state, moves[level])
    _order_for_win(state, moves[level], number, hint)
    player = state[PLAYER]
    answer, chosen = np.int64(player), hint
    for index in range(number):
        move = moves[level, index]
        for word in range(rules.WORDS):
            states[level + 1, word] = state[word]
        rules.play(states[level + 1], move)
        # The first player is confined to `cells`, which makes the tree small.
        if player == 0 and not cells >> move % 9 & 1 and states[level + 1, RESULT] != FIRST:
            continue
        if wins_within(states, moves, level + _ONE, plies - _ONE, cells, keys, entries, budget) != player:
            answer, chosen = _ONE - player, move
            break
    # An answer narrows the open plies of the entry from one side, unless the budget has cut the search short.
    if budget[VISITED] > budget[ALLOWED]:
        return np.int64(0)
    if answer:
        enough = min(enough, plies)
    else:
        too_few = max(too_few, plies)
    keys[slot, 0], keys[slot, 1], keys[slot, 2] = one, two, three
    entries[slot] = enough | too_few << 7 | (chosen + 1) << 14
    return answer
