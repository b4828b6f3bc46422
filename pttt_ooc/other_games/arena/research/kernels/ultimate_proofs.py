"""Whether a player of Ultimate tic-tac-toe can force a win: depth-first proof-number search with a table of positions.

The table compares whole positions, not only their keys, so that no collision falsifies an answer.
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.jit import kernel, piece
from pttt_ooc.other_games.arena.kernels import ultimate as rules
from pttt_ooc.other_games.arena.kernels.small_boards import ANYWHERE, HAS_LINE, LINES, SIZE
from pttt_ooc.other_games.arena.kernels.state_words import FIRST, KEY, PLAYER, RESULT, UNFINISHED
from pttt_ooc.other_games.arena.kernels.ultimate import MARKS, TARGET, WON
from pttt_ooc.other_games.arena.research.kernels.ultimate_endings import can_win, words

VISITED, ALLOWED = 0, 1
"""Words of `budget`: positions expanded, and allowed."""

FAR = 1 << 30
"""An infinite proof or disproof number."""

NO, YES, STOPPED = 0, 1, 2
"""Answers."""

_COMPLETES = np.array(
    [sum(1 << cell for cell in range(9) if HAS_LINE[marks | 1 << cell]) for marks in range(512)], dtype=np.int64
)  # the cells that make a line of a set of marks


@piece
def _wins_at_once(state):
    """Whether the player to move can win the game by this move."""
    player = state[PLAYER]
    boards = _COMPLETES[state[WON + player]]
    if state[TARGET] != ANYWHERE:
        boards &= 1 << state[TARGET]
    for board in range(9):
        if boards >> board & 1 and _COMPLETES[state[MARKS + 9 * player + board]] & rules.free(state, board):
            return True
    return False


@piece
def _slot(state, keys):
    """Where a position is in the table, or the free place where it belongs; and its three words."""
    one, two, three = words(state)
    slot = (state[KEY] ^ state[KEY] >> 31) & (len(keys) - 1)
    while keys[slot, 2] != 0 and (keys[slot, 2] != three or keys[slot, 0] != one or keys[slot, 1] != two):
        slot = (slot + 1) & (len(keys) - 1)
    return slot, one, two, three


@piece
def _chances(state, player):
    """How near a player is to a line of small boards: the sum over possible lines of ``4 ** boards that are won``."""
    lost = state[WON + 1 - player] | state[rules.CLOSED] & ~state[WON + player]
    total = 0
    for line in LINES:
        if not line & lost:
            total += 1 << (2 * SIZE[line & state[WON + player]])
    return total


@piece
def _numbers(state, attacker, keys, numbers):
    """Proof and disproof number of a position: of an end, from the table, or those of a new leaf."""
    if state[RESULT] != UNFINISHED:
        return (0, FAR) if state[RESULT] == FIRST + attacker else (FAR, 0)
    if not can_win(state, attacker):
        return FAR, 0
    if _wins_at_once(state):
        return (0, FAR) if state[PLAYER] == attacker else (FAR, 0)
    slot, _, _, _ = _slot(state, keys)
    if keys[slot, 2] != 0:
        return np.int64(numbers[slot, 0]), np.int64(numbers[slot, 1])
    mine, theirs = _chances(state, attacker), _chances(state, 1 - attacker)
    return 1 + theirs // 4, 1 + mine // 4


@piece
def _expand(states, level, moves, attacker, keys, numbers):
    """The numbers of a position from those of the positions after its moves, and the move to search next.

    Returns
    -------
    proof, disproof
        Numbers of the position.
    best
        The move with the least proof number if the attacker is to move, else with the least disproof number.
    second
        The least such number of all other moves.
    more
        The number of other moves that count in the position's other number.
    """
    # From the mover's side: `own` is the number that the mover wants small; the least one over all moves counts.
    attacks = states[level, PLAYER] == attacker
    least, second, largest = FAR, FAR, 0
    best, more = -1, -1
    for index in range(rules.legal(states[level], moves)):
        move = moves[index]
        for word in range(rules.WORDS):
            states[level + 1, word] = states[level, word]
        rules.play(states[level + 1], move)
        proof, disproof = _numbers(states[level + 1], attacker, keys, numbers)
        own, other = (proof, disproof) if attacks else (disproof, proof)
        # The other number is weak: the largest one, and one for each other move that is still open.
        largest = max(largest, other)
        if other > 0:
            more += 1
        if own < least:
            second = least
            least, best = own, move
        elif own < second:
            second = own
        # A move that decides makes the other number infinite.
        if least == 0:
            break
    if least == 0:
        largest, more = FAR, 0
    more = max(more, 0)
    total = min(largest + more, FAR)
    if attacks:
        return least, total, best, second, more
    return total, least, best, second, more


@kernel
def proof_number(states, moves, attacker, keys, numbers, budget):
    """Whether a player can force a win from the first position: NO, YES, or STOPPED if the budget did not suffice.

    Parameters
    ----------
    states, moves
        int64, shapes (levels, rules.WORDS) and (rules.WIDTH,): row 0 of `states` has the position.
    attacker
        int64: the player who is to win; a draw is not enough.
    keys, numbers
        The table: int64, shape (size, 3), and int32, shape (size, 2), of a size that is a power of two.  No entry is
        replaced.  It may have entries of earlier calls with the same attacker.
    budget
        int64, shape (2,): positions expanded, and allowed; these must leave a quarter of the table free.

    Notes
    -----
    As in :mod:`~.solving`: A. Nagai (2002), with the largest number in place of the sum (T. Ueda and others, 2008).  A
    child is left at a quarter more than the second best number, so that the search does not go back and forth between
    two.  A game never comes back to a position.
    """
    limits = np.full((states.shape[0], 2), FAR)  # proof and disproof numbers at which a node is left
    # The root may be an end already; then there is nothing to search.
    level = 0
    proof, disproof = _numbers(states[0], attacker, keys, numbers)
    if proof == 0 or disproof == 0:
        level = -1
    while level >= 0:
        if budget[VISITED] >= budget[ALLOWED]:
            return STOPPED
        budget[VISITED] += 1
        proof, disproof, best, second, more = _expand(states, level, moves, attacker, keys, numbers)
        # A number has reached its limit: the node goes to the table, and its parent looks for the best move anew.
        if proof >= limits[level, 0] or disproof >= limits[level, 1]:
            slot, one, two, three = _slot(states[level], keys)
            keys[slot, 0], keys[slot, 1], keys[slot, 2] = one, two, three
            numbers[slot, 0], numbers[slot, 1] = proof, disproof
            level -= 1
            continue
        # Else on to the best move, until it is clearly worse than the second best: a quarter more than its number keeps
        # the search from going to and fro between the two.
        own, other = (0, 1) if states[level, PLAYER] == attacker else (1, 0)
        limits[level + 1, own] = min(limits[level, own], second + 1 + second // 4)
        limits[level + 1, other] = limits[level, other] - more
        for word in range(rules.WORDS):
            states[level + 1, word] = states[level, word]
        rules.play(states[level + 1], best)
        level += 1
    return YES if proof == 0 else NO
