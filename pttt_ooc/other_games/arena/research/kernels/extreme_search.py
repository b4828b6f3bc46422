"""A strong player of Extreme TicTacToe: iterative deepening of alpha-beta, with a table; bonus moves are always
searched.

Values are to the player to move.  A game that is won is worth ``WIN`` less its moves, a drawn one ``POINT_VALUE`` for
each point of difference.  An unfinished one is valued as if small boards were won by chance: both players mark empty
cells at random.  This gives both players' chances to win each small board; multiplied along the lines of a big board,
these give their chances to win the game.  Having the move is worth ``TEMPO_VALUE``: without it, a position would be
worth more after an odd number of moves searched than after an even one.
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.jit import bare_kernel, in_tree_kernel, piece
from pttt_ooc.other_games.arena.kernels.clock import nanoseconds
from pttt_ooc.other_games.arena.kernels.extreme import (
    BOARD,
    BONUS,
    CELL,
    DRAWN,
    MARKS,
    POINTS,
    WEIGHTS,
    WON,
    WORDS,
    legal,
    play,
)
from pttt_ooc.other_games.arena.kernels.small_boards import FULL, HAS_LINE, LINE_CELLS
from pttt_ooc.other_games.arena.kernels.state_words import DRAW, FIRST, KEY, PLAYER, PLY, RESULT, UNFINISHED

WIN = np.int64(1_000_000)
DECIDED = np.int64(900_000)
"""From this value on, the game is won whatever happens."""
LINE_VALUE, POINT_VALUE = 6000.0, 25.0
"""What a certain line and a certain point of a small board are worth; in a drawn game, each point of difference."""
TEMPO_VALUE = np.int64(900)
"""What having the move is worth: chosen so that searches of odd and of even depth agree on average."""

NODES, STOPPED, DEADLINE, REACHED, VALUE, MOVE, LIMIT, CLOCK = range(8)
"""Words of `control`: positions visited; whether the search was ended; the time in nanoseconds at which to end it; the
depth of the last search that came to its end, its value and its move; the number of positions at which to end it; the
clock that shows the time."""

_EXACT, _AT_LEAST, _AT_MOST = 1, 2, 3
_BIG_LINES = np.array(LINE_CELLS)
_WORTH = np.array(WEIGHTS, dtype=np.float64)
_ZERO, _ONE = np.int64(0), np.int64(1)  # not literals: a recursive kernel must have one signature


@in_tree_kernel
def fill_chances(chances):
    """Write both players' chances to win a small board, if they mark empty cells at random.

    Parameters
    ----------
    chances
        float32, shape (512 * 512, 2), by ``512 * marks of player 0 + marks of player 1``.
    """
    for taken in range(FULL, -1, -1):
        for first in range(FULL + 1):
            if first & ~taken:
                continue
            second = taken & ~first
            place = 512 * first + second
            if HAS_LINE[first] or HAS_LINE[second]:
                chances[place, 0] = 1.0 if HAS_LINE[first] else 0.0
                chances[place, 1] = 0.0 if HAS_LINE[first] else 1.0
                continue
            one, two, ways = 0.0, 0.0, 0
            for cell in range(9):
                if not (taken >> cell) & 1:
                    after = place + (512 << cell)
                    one += chances[after, 0] + chances[place + (1 << cell), 0]
                    two += chances[after, 1] + chances[place + (1 << cell), 1]
                    ways += 2
            chances[place, 0] = one / ways if ways else 0.0
            chances[place, 1] = two / ways if ways else 0.0


@piece
def _evaluate(state, chances, own):
    """The value of an unfinished game to the player to move.

    Parameters
    ----------
    own
        Scratch: float32, shape (2, 9).
    """
    value = 0.0
    for big in range(2):
        for place in range(9):
            board = 9 * big + place
            at = 512 * state[MARKS + board] + state[MARKS + 18 + board]
            one, two = chances[at, 0], chances[at, 1]
            own[0, place], own[1, place] = one, two
            value += POINT_VALUE * _WORTH[place] * (one - two)
        for line in range(8):
            a, b, c = _BIG_LINES[line, 0], _BIG_LINES[line, 1], _BIG_LINES[line, 2]
            value += LINE_VALUE * (own[0, a] * own[0, b] * own[0, c] - own[1, a] * own[1, b] * own[1, c])
    return TEMPO_VALUE + (np.int64(value) if state[PLAYER] == 0 else -np.int64(value))


@piece
def _final(state):
    """The value of a finished game to the player to move."""
    if state[RESULT] == DRAW:
        difference = POINTS[state[WON]] + POINTS[state[WON + 1]] - POINTS[state[WON + 2]] - POINTS[state[WON + 3]]
        value = np.int64(POINT_VALUE) * difference
    else:
        value = WIN - state[PLY] if state[RESULT] == FIRST else state[PLY] - WIN
    return value if state[PLAYER] == 0 else -value


@piece
def _order(state, moves, scores, total, first, history, chances):
    """Write how promising each move is; the move `first` is placed first."""
    player = state[PLAYER]
    for index in range(total):
        move = moves[index]
        board, cell = BOARD[move], CELL[move]
        mine = state[MARKS + 18 * player + board] | 1 << cell
        others = state[MARKS + 18 * (1 - player) + board]
        at = 512 * mine + others if player == 0 else 512 * others + mine
        score = np.int64(2000.0 * (chances[at, player] - chances[at, 1 - player])) + history[player, move]
        if HAS_LINE[mine]:
            score += 1 << 40
        both = (state[WON] | state[WON + 2] | state[DRAWN]) & (state[WON + 1] | state[WON + 3] | state[DRAWN + 1])
        if both >> cell & 1:
            score -= 2000  # the opponent may go anywhere
        if move == first:
            score = 1 << 50
        scores[index] = score


@bare_kernel
def _search(states, moves, scores, level, depth, alpha, beta, table, history, chances, own, control):
    """The value of ``states[level]`` to the player to move there, searched to a depth: negamax with alpha and beta."""
    state = states[level]
    # Ends and leaves have their values; deadline and limit end the whole search.
    if state[RESULT] != UNFINISHED:
        return _final(state)
    if depth <= 0 and state[BONUS] == 0:  # a bonus move is searched in any case
        return _evaluate(state, chances, own)
    control[NODES] += 1
    if control[NODES] % 512 == 0 and nanoseconds(control[CLOCK]) > control[DEADLINE]:
        control[STOPPED] = 1
    if control[NODES] > control[LIMIT]:
        control[STOPPED] = 1
    if control[STOPPED]:
        return _ZERO
    # The table: an entry that is deep enough answers, and any other one names the move to try first.
    slot = state[KEY] & (len(table) - 1)
    hint = _ZERO - 1
    if table[slot, 0] == state[KEY]:
        packed = table[slot, 1]
        kind, kept_depth, hint = packed & 3, packed >> 2 & 255, packed >> 10 & 255
        stored = (packed >> 18) - WIN
        if kept_depth >= depth and level > 0:
            exact = kind == _EXACT or (kind == _AT_LEAST and stored >= beta) or (kind == _AT_MOST and stored <= alpha)
            if exact:
                return stored
    # Moves are chosen one by one, the most promising of the rest first; `floor` keeps the first alpha.
    total = legal(state, moves[level])
    _order(state, moves[level], scores[level], total, hint, history, chances)
    best, best_move, floor = -2 * WIN, _ZERO, alpha
    for index in range(total):
        top = index
        for other in range(index + 1, total):
            if scores[level, other] > scores[level, top]:
                top = other
        move = moves[level, top]
        quiet = scores[level, top] < 1 << 40
        moves[level, top], moves[level, index] = moves[level, index], move
        scores[level, top], scores[level, index] = scores[level, index], scores[level, top]
        child = states[level + 1]
        for word in range(WORDS):
            child[word] = state[word]
        play(child, move)
        less = _ONE  # depth that the move costs; late moves cost more, at first
        if quiet and depth >= 3 and index >= 4:
            less += 1 + np.int64(index >= 16)
        # Principal variation search: after the first move a null window asks whether a move is better than alpha.  A
        # reduced move that seems so is asked about again at full depth.
        same = child[PLAYER] == state[PLAYER]
        while True:
            narrow = index > 0
            if same:
                high = alpha + 1 if narrow else beta
                value = _search(
                    states, moves, scores, level + 1, depth - less, alpha, high, table, history, chances, own, control
                )
            else:
                low = -alpha - 1 if narrow else -beta
                value = -_search(
                    states, moves, scores, level + 1, depth - less, low, -alpha, table, history, chances, own, control
                )
            if value > alpha and less > 1 and not control[STOPPED]:
                less = _ONE
                continue
            break
        # A move inside the window is searched again for its exact value.
        if narrow and alpha < value < beta and not control[STOPPED]:
            if same:
                value = _search(
                    states, moves, scores, level + 1, depth - 1, alpha, beta, table, history, chances, own, control
                )
            else:
                value = -_search(
                    states, moves, scores, level + 1, depth - 1, -beta, -alpha, table, history, chances, own, control
                )
        if control[STOPPED]:
            return _ZERO
        # The best move so far; from beta up the opponent would not let it come to this position.  A quiet move that
        # does so is tried earlier elsewhere.
        if value > best:
            best, best_move = value, move
            if level == 0:
                control[MOVE] = move
        alpha = max(alpha, value)
        if alpha >= beta:
            if quiet:
                history[state[PLAYER], move] += depth * depth
            break
    # Beyond the window, the value is only a bound.
    kind = _AT_LEAST if best >= beta else (_EXACT if best > floor else _AT_MOST)
    table[slot, 0] = state[KEY]
    table[slot, 1] = (best + WIN) << 18 | best_move << 10 | max(depth, _ZERO) << 2 | kind
    return best


@in_tree_kernel
def choose(state, deepest, states, moves, scores, table, history, chances, own, control):
    """Write the best move found to ``control[MOVE]``: searches of growing depth until the limits are reached.

    Parameters
    ----------
    state
        int64, shape (WORDS,), with a legal move.
    deepest
        Depth of the last search.
    states, moves, scores
        Scratch: int64, shapes (LENGTH + 2, WORDS), (LENGTH + 2, WIDTH) twice.
    table
        int64, shape (a power of two, 2): values of positions; valid for the whole game.
    history
        int64, shape (2, MOVES): how often moves have been good; changed.
    chances
        See :func:`fill_chances`.
    own
        Scratch: float32, shape (2, 9).
    control
        int64, shape (8,): DEADLINE, LIMIT and CLOCK are read, the rest is written.
    """
    # The root, and any legal move in case no search is completed.
    for word in range(WORDS):
        states[0, word] = state[word]
    legal(state, moves[0])
    best, control[MOVE] = moves[0, 0], moves[0, 0]
    control[NODES] = control[STOPPED] = control[REACHED] = control[VALUE] = 0
    # The history of former moves fades, as positions become less and less alike.
    for player in range(2):
        for move in range(history.shape[1]):
            history[player, move] //= 8
    # Iterative deepening: each search finds its order of moves in the table that the one before has filled.
    for depth in range(1, deepest + 1):
        value = _search(
            states, moves, scores, _ZERO, _ZERO + depth, -2 * WIN, 2 * WIN, table, history, chances, own, control
        )
        if control[STOPPED]:
            break  # the move of an unfinished search may be worse than the last complete one
        best = control[MOVE]
        control[REACHED], control[VALUE] = depth, value
        if abs(value) > DECIDED:
            break
    control[MOVE] = best
