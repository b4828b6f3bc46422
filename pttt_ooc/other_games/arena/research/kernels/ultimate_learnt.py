"""An evaluation of Ultimate tic-tac-toe that is learnt by TD(lambda) from games against itself.

The value of a position for the player to move is the logistic function of a sum of weights, one for each of these:

- each small board with all its marks, which share a weight with their images in small boards at other places;
- each line of three small boards, by who has won each of them, or who can win it, and with how many moves;
- the small board to which the player is sent, with all its marks, or that they may play anywhere.

The sum is an n-tuple network: S. Lucas, *Learning to play Othello with n-tuple systems* (2008).  TD(lambda): R. S.
Sutton, *Learning to predict by the methods of temporal differences* (1988); the returns are cut off before random
moves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.jit import kernel, piece
from pttt_ooc.other_games.arena.kernels import ultimate as rules
from pttt_ooc.other_games.arena.kernels.rng import below, uniform
from pttt_ooc.other_games.arena.kernels.small_boards import FULL, HAS_LINE, LINES
from pttt_ooc.other_games.arena.kernels.state_words import DRAW, FIRST, PLAYER, RESULT, UNFINISHED
from pttt_ooc.other_games.arena.kernels.ultimate import CLOSED, IMAGE, MARKS, TARGET, WON
from pttt_ooc.other_games.arena.kernels.ultimate_values import TERNARY
from pttt_ooc.other_games.arena.research.kernels.ultimate_plain import by_steps, sharp

__all__ = ["HEURISTICS", "WEIGHTS", "follow", "note", "noted_value", "reduction", "sharp", "train", "whole"]

HEURISTICS = (5,)
"""Its number distinguishes it from those of the report."""

_OPEN = 3**9
_OWN, _OTHERS, _NOBODYS, ENTRIES = _OPEN, _OPEN + 1, _OPEN + 2, _OPEN + 3
"""The entry of a small board: one of 19,683 sets of marks while it is open; if closed, who has won it, if anybody."""

CLASSES = 19
"""The classes of small boards in lines: won, lost, drawn; else 4 times the own chances plus the opponent's, each from 0
to 3: it cannot be won any more, it needs two moves or more, one cell wins, several do."""

SCALE = 128.0
"""Points of a search for a factor e in the odds."""


def chances(own: int, other: int) -> int:
    """How well a player can win a small board: 0 to 3."""
    if all(other & line for line in map(int, LINES)):
        return 0
    cells = {line & ~own for line in map(int, LINES) if (own & line).bit_count() == 2 and not other & line}
    return 1 + min(len(cells), 2)


def _tables() -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
    """The class of each entry; the weight of each entry at each place, and the number of these weights."""
    classes = np.zeros(ENTRIES, dtype=np.int64)
    classes[_OWN], classes[_OTHERS], classes[_NOBODYS] = 0, 1, 2
    images = np.zeros((8, ENTRIES), dtype=np.int64)
    images[:, _OPEN:] = np.arange(_OPEN, ENTRIES)
    for own in range(512):
        for other in range(512):
            if not own & other:
                entry = TERNARY[own] + 2 * TERNARY[other]
                classes[entry] = 3 + 4 * chances(own, other) + chances(other, own)
                images[:, entry] = TERNARY[rules.IMAGE_OF_SET[:, own]] + 2 * TERNARY[rules.IMAGE_OF_SET[:, other]]
    place_of = np.argsort(IMAGE, axis=1)  # the place to which each symmetry takes a place
    slots: dict[tuple[int, int], int] = {}
    found = np.zeros((9, ENTRIES), dtype=np.int64)
    for place in range(9):
        canonical = int(place_of[:, place].min())
        turns = np.flatnonzero(place_of[:, place] == canonical)
        least = images[turns].min(axis=0)
        for entry in range(ENTRIES):
            found[place, entry] = slots.setdefault((canonical, int(least[entry])), len(slots))
    return classes, found.astype(np.int32), len(slots)  # compiled code that uses larger tables is not kept


_CLASS, _SLOT, _SLOTS = _tables()
ENTRY_OF_MARKS, SWAPPED = np.arange(_OPEN), np.arange(_OPEN)
"""By the marks in a small board: its entry, where a line or nine marks close it as in the report's rules; and the same
marks as the other player sees them."""
for _own in range(512):
    for _other in range(512):
        if not _own & _other:
            _marks = TERNARY[_own] + 2 * TERNARY[_other]
            SWAPPED[_marks] = TERNARY[_other] + 2 * TERNARY[_own]
            if HAS_LINE[_own] or HAS_LINE[_other]:
                ENTRY_OF_MARKS[_marks] = _OWN if HAS_LINE[_own] else _OTHERS
            elif _own | _other == FULL:
                ENTRY_OF_MARKS[_marks] = _NOBODYS
_LINE_BOARDS = np.array([[cell for cell in range(9) if line >> cell & 1] for line in map(int, LINES)], dtype=np.int64)
_LINE_KIND = np.array([0, 1, 0, 0, 1, 0, 2, 2], dtype=np.int64)  # at the side, through the middle, diagonal
_OF_BOARD = [[line for line in range(8) if LINES[line] >> board & 1] for board in range(9)]
_THROUGH_NUMBER = np.array([len(found) for found in _OF_BOARD], dtype=np.int64)
_THROUGH = np.array([(found + [0, 0])[:4] for found in _OF_BOARD], dtype=np.int64)
"""The lines of small boards through each small board."""
_AT_LINES, _AT_TARGET = _SLOTS, _SLOTS + 3 * CLASSES**3
_ANYWHERE = _AT_TARGET + _SLOTS
WEIGHTS = _ANYWHERE + 1
"""The number of weights."""
FIRST_TARGET = _AT_TARGET
"""The weights from here on are those of the small board to which the player is sent: each position has one."""
ACTIVE = 18
"""Weights in the sum for one position."""


@piece
def entry_of(state, board, player):
    """The entry of a small board, from a player's side."""
    if state[WON + player] >> board & 1:
        return _OWN
    if state[WON + 1 - player] >> board & 1:
        return _OTHERS
    if state[CLOSED] >> board & 1:
        return _NOBODYS
    return TERNARY[state[MARKS + 9 * player + board]] + 2 * TERNARY[state[MARKS + 9 * (1 - player) + board]]


@piece
def _boards_of(classes, line):
    """The classes of the small boards in a line."""
    one, two, three = _LINE_BOARDS[line, 0], _LINE_BOARDS[line, 1], _LINE_BOARDS[line, 2]
    return classes >> (5 * one) & 31, classes >> (5 * two) & 31, classes >> (5 * three) & 31


@piece
def _line_at(classes, line):
    """Which weight a line has; both ends of it are alike."""
    a, b, c = _boards_of(classes, line)
    return _AT_LINES + ((_LINE_KIND[line] * CLASSES + min(a, c)) * CLASSES + b) * CLASSES + max(a, c)


@piece
def active(state, found):
    """Write which weights the sum for the player to move has; int64, shape (ACTIVE,)."""
    player = state[PLAYER]
    classes = 0  # five bits for each small board
    for board in range(9):
        entry = entry_of(state, board, player)
        found[board] = _SLOT[board, entry]
        classes |= _CLASS[entry] << (5 * board)
        if board == state[TARGET]:
            found[17] = _AT_TARGET + _SLOT[board, entry]
    for line in range(8):
        found[9 + line] = _line_at(classes, line)
    if state[TARGET] == 9:
        found[17] = _ANYWHERE


@piece
def total(state, weights):
    """The sum of the weights of a position, for the player to move."""
    player = state[PLAYER]
    weight_sum, classes = 0.0, 0
    for board in range(9):
        entry = entry_of(state, board, player)
        weight_sum += weights[_SLOT[board, entry]]
        classes |= _CLASS[entry] << (5 * board)
        if board == state[TARGET]:
            weight_sum += weights[_AT_TARGET + _SLOT[board, entry]]
    for line in range(8):
        weight_sum += weights[_line_at(classes, line)]
    if state[TARGET] == 9:
        weight_sum += weights[_ANYWHERE]
    return weight_sum


MARGIN = MARGIN_BELOW = MARGIN_PLIES = 0  # no margins were tried with these weights
reduction = by_steps
NOTES = COPIED = 6
"""For each player: the sum for the small boards, the sum for the lines, and the classes of the small boards."""
_BOARDS_AT, _LINES_AT, _CLASSES_AT = rules.WORDS, rules.WORDS + 2, rules.WORDS + 4
UNIT = 8
"""Whole weights are this many times the points of a search."""
_FIELDS, _LINE_SIZE = 8, 3 << 15
_WHOLE_LINES = 9 * _OPEN * _FIELDS
_WHOLE_ANYWHERE = _WHOLE_LINES + 2 * _LINE_SIZE
WHOLE = _WHOLE_ANYWHERE + 2
"""The length of the whole weights."""


def whole(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.int16]:
    """The weights of both players as whole numbers, in the order in which a search looks them up.

    First, for each small board and each set of marks in it, eight numbers: both players' weights of the small board,
    both players' weights when they are sent there, both players' classes, and two zeros.  Then, for each player, the
    weights of lines by kind and three classes of five bits.  At last both players' weights of a move anywhere.
    """
    units = [np.rint(np.clip(weights * SCALE * UNIT, -32_000, 32_000)).astype(np.int16) for weights in (first, second)]
    out = np.zeros(WHOLE, dtype=np.int16)
    boards = out[:_WHOLE_LINES].reshape(9, _OPEN, _FIELDS)
    lines = out[_WHOLE_LINES:_WHOLE_ANYWHERE].reshape(2, 3, 32, 32, 32)
    a, b, c = np.ogrid[:CLASSES, :CLASSES, :CLASSES]
    for player, entries in enumerate((ENTRY_OF_MARKS, ENTRY_OF_MARKS[SWAPPED])):
        boards[:, :, player] = units[player][_SLOT[:, entries]]
        boards[:, :, 2 + player] = units[player][_AT_TARGET + _SLOT[:, entries]]
        boards[:, :, 4 + player] = _CLASS[entries]
        table = units[player][_AT_LINES:_AT_TARGET].reshape(3, CLASSES, CLASSES, CLASSES)
        lines[player, :, :CLASSES, :CLASSES, :CLASSES] = table[:, np.minimum(a, c), b, np.maximum(a, c)]
        out[_WHOLE_ANYWHERE + player] = units[player][_ANYWHERE]
    return out


@piece
def _row(state, board):
    """Where the numbers of a small board begin."""
    return (_OPEN * board + TERNARY[state[MARKS + board]] + 2 * TERNARY[state[MARKS + 9 + board]]) * _FIELDS


@piece
def _line(classes, line, base, weights):
    a, b, c = _boards_of(classes, line)
    return np.int64(weights[base + (_LINE_KIND[line] << 15 | a << 10 | b << 5 | c)])


@piece
def note(state, weights):
    """Write the notes of a position."""
    for player in range(2):
        boards, classes, lines = np.int64(0), np.int64(0), np.int64(0)
        for board in range(9):
            row = _row(state, board)
            boards += weights[row + player]
            classes |= np.int64(weights[row + 4 + player]) << (5 * board)
        for line in range(8):
            lines += _line(classes, line, _WHOLE_LINES + player * _LINE_SIZE, weights)
        state[_BOARDS_AT + player], state[_LINES_AT + player], state[_CLASSES_AT + player] = boards, lines, classes


@piece
def follow(before, after, move, weights):
    """Bring the notes of a position before a move up to date after it."""
    board = move // 9
    old, new = _row(before, board), _row(after, board)
    for player in range(2):
        after[_BOARDS_AT + player] += np.int64(weights[new + player]) - np.int64(weights[old + player])
        change = np.int64(weights[new + 4 + player] ^ weights[old + 4 + player])
        if change != 0:
            classes = before[_CLASSES_AT + player]
            changed = classes ^ change << (5 * board)
            after[_CLASSES_AT + player] = changed
            more, base = np.int64(0), _WHOLE_LINES + player * _LINE_SIZE
            for index in range(_THROUGH_NUMBER[board]):
                line = _THROUGH[board, index]
                more += _line(changed, line, base, weights) - _line(classes, line, base, weights)
            after[_LINES_AT + player] += more


@piece
def total_noted(state, weights):
    """The sum for the player to move of a position with notes, that is not an end, as a whole number."""
    player, board = state[PLAYER], state[TARGET]
    value = np.int64(state[_BOARDS_AT + player] + state[_LINES_AT + player])
    if board == 9:
        value += weights[_WHOLE_ANYWHERE + player]
    else:
        value += weights[_row(state, board) + 2 + player]
    return value


@piece
def noted_value(state, heuristic, weights):
    """The value to the player to move of a position with notes, that is not an end, as a whole number."""
    return total_noted(state, weights) // UNIT


@piece
def _worth(state, eager, draw):
    """The worth of a finished game to the player who would be to move, if a draw is worth `draw` to one player."""
    if state[RESULT] == DRAW:
        return draw if state[PLAYER] == eager else 1.0 - draw
    return 1.0 if state[RESULT] == FIRST + state[PLAYER] else 0.0


@piece
def _side(state, eager):
    """The row of the weights for the player to move."""
    return 0 if state[PLAYER] == eager else 1


@kernel
def best(state, weights, eager, draw, moves, after, rng):
    """The move to the position with the least value for the opponent; one of several is drawn."""
    chosen, least, same = moves[0], np.inf, 0
    for index in range(rules.legal(state, moves)):
        after[:] = state
        rules.play(after, moves[index])
        if after[RESULT] == UNFINISHED:
            value = total(after, weights[_side(after, eager)])
        else:
            value = 1e6 * (2.0 * _worth(after, eager, draw) - 1.0)
        if value < least:
            chosen, least, same = moves[index], value, 1
        elif value == least:
            same += 1
            if below(rng, same) == 0:
                chosen = moves[index]
    return chosen


@kernel
def train(start, games, rates, weights, results, rng):
    """Games of the evaluation against itself; after each, its weights move towards the lambda-returns.

    In turn, one of the players is the eager one.

    Parameters
    ----------
    start
        The first position.
    rates
        float64, shape (5,): the chance of a random move, the step size, lambda, the most random moves with which a game
        begins, and what a draw is worth to the eager player, where a win is worth 1.
    weights
        float64, shape (2, WEIGHTS): for positions with the eager player to move, and with the other one; changed.
    results
        int64, shape (4,): counts by the word RESULT are added.
    """
    moves, after = np.zeros(rules.WIDTH, np.int64), np.zeros(rules.WORDS, np.int64)
    seen, values = np.zeros((rules.LENGTH, ACTIVE), np.int64), np.zeros(rules.LENGTH)
    sides, drawn = np.zeros(rules.LENGTH, np.int64), np.zeros(rules.LENGTH, np.bool_)
    state = start.copy()
    # A game: its opening is drawn, and a later move may be drawn, too; all others lead to the best value after them.
    for game in range(games):
        eager = game & 1
        state[:] = start
        opening = below(rng, np.int64(rates[3]) + 1)
        length = 0
        while state[RESULT] == UNFINISHED:
            # The value of the position for the player to move, and its weights, are kept until the end.
            active(state, seen[length])
            sides[length] = _side(state, eager)
            summed = 0.0
            for n in range(ACTIVE):
                summed += weights[sides[length], seen[length, n]]
            values[length] = 1.0 / (1.0 + np.exp(-summed))
            drawn[length] = length < opening or uniform(rng) < rates[0]
            if drawn[length]:
                move = rules.pick(state, below(rng, rules.count(state)))
            else:
                move = best(state, weights, eager, rates[4], moves, after, rng)
            rules.play(state, move)
            length += 1
        # Backward: value and return of the position after move n are the opponent's; one minus their mixture is the
        # lambda-return of the position before it.
        results[state[RESULT]] += 1
        value = back = _worth(state, eager, rates[4])
        for n in range(length - 1, -1, -1):
            if drawn[n]:  # the result of a random move does not tell the value of the position before it
                value = back = values[n]
                continue
            back = 1.0 - ((1.0 - rates[2]) * value + rates[2] * back)
            value = values[n]
            # TD(lambda): the weights of the position share the step towards its return.
            step = rates[1] * (back - value) / ACTIVE
            for k in range(ACTIVE):
                weights[sides[n], seen[n, k]] += step
