"""An evaluation of Ultimate tic-tac-toe that is learnt by TD(lambda) from games against itself.

The value of a position for the player to move is the logistic function of a sum of weights, one for each of these:

- each small board with all its marks, which share a weight with their images in small boards at other places;
- each line of three small boards, of each of which is known who has won it, or who can win it, and with how many moves;
- the small board to which the player is sent, with all its marks, or that he may play anywhere.

It is an n-tuple network: S. Lucas, *Learning to play Othello with n-tuple systems* (2008).  TD(lambda): R. S. Sutton,
*Learning to predict by the methods of temporal differences* (1988); before moves at random the returns are cut off.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.arena.compiled import kernel, piece
from pttt_ooc.arena.kernels import ultimate as rules
from pttt_ooc.arena.kernels.rng import below, uniform
from pttt_ooc.arena.kernels.ultimate import CLOSED, IMAGE, LINES, MARKS, RESULT, TARGET, WON
from pttt_ooc.arena.kernels.ultimate_values import TERNARY, sharp

__all__ = ["HEURISTICS", "WEIGHTS", "sharp", "static", "train"]

HEURISTICS = (5,)
"""This one is told from those of the report by its number."""

_OPEN = 3**9
_OWN, _OTHERS, _NOBODYS, ENTRIES = _OPEN, _OPEN + 1, _OPEN + 2, _OPEN + 3
"""What a small board may be: one of 19,683 sets of marks while it is open, or closed: won by either, or by nobody."""

CLASSES = 19
"""Of small boards in lines: won, lost, drawn; else 4 times the own chances plus the opponent's, each from 0 to 3: it
cannot be won any more, it needs two moves or more, one cell wins, several do."""

SCALE = 128.0
"""What a search counts for a factor e in the odds."""


def _chances(own: int, other: int) -> int:
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
                classes[entry] = 3 + 4 * _chances(own, other) + _chances(other, own)
                images[:, entry] = TERNARY[rules.IMAGE_OF_SET[:, own]] + 2 * TERNARY[rules.IMAGE_OF_SET[:, other]]
    place_of = np.argsort(IMAGE, axis=1)  # where each symmetry puts what is at a place
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
_LINE_BOARDS = np.array([[cell for cell in range(9) if line >> cell & 1] for line in map(int, LINES)], dtype=np.int64)
_LINE_KIND = np.array([0, 1, 0, 0, 1, 0, 2, 2], dtype=np.int64)  # at the side, through the middle, diagonal
_AT_LINES, _AT_TARGET = _SLOTS, _SLOTS + 3 * CLASSES**3
_ANYWHERE = _AT_TARGET + _SLOTS
WEIGHTS = _ANYWHERE + 1
"""Their number."""
ACTIVE = 18
"""Weights in the sum for one position."""


@piece
def entry_of(state, board, player):
    """What a small board is, as a player sees it."""
    if state[WON + player] >> board & 1:
        return _OWN
    if state[WON + 1 - player] >> board & 1:
        return _OTHERS
    if state[CLOSED] >> board & 1:
        return _NOBODYS
    return TERNARY[state[MARKS + 9 * player + board]] + 2 * TERNARY[state[MARKS + 9 * (1 - player) + board]]


@piece
def active(state, found):
    """Write which weights the sum for the player to move has; int64, shape (ACTIVE,)."""
    player = state[0]
    classes = 0  # five bits for each small board
    for board in range(9):
        entry = entry_of(state, board, player)
        found[board] = _SLOT[board, entry]
        classes |= _CLASS[entry] << (5 * board)
        if board == state[TARGET]:
            found[17] = _AT_TARGET + _SLOT[board, entry]
    for line in range(8):
        a = classes >> (5 * _LINE_BOARDS[line, 0]) & 31
        b = classes >> (5 * _LINE_BOARDS[line, 1]) & 31
        c = classes >> (5 * _LINE_BOARDS[line, 2]) & 31
        if a > c:
            a, c = c, a
        found[9 + line] = _AT_LINES + ((_LINE_KIND[line] * CLASSES + a) * CLASSES + b) * CLASSES + c
    if state[TARGET] == 9:
        found[17] = _ANYWHERE


@piece
def total(state, weights):
    """The sum of the weights of a position, for the player to move."""
    player = state[0]
    found, classes = 0.0, 0
    for board in range(9):
        entry = entry_of(state, board, player)
        found += weights[_SLOT[board, entry]]
        classes |= _CLASS[entry] << (5 * board)
        if board == state[TARGET]:
            found += weights[_AT_TARGET + _SLOT[board, entry]]
    for line in range(8):
        a = classes >> (5 * _LINE_BOARDS[line, 0]) & 31
        b = classes >> (5 * _LINE_BOARDS[line, 1]) & 31
        c = classes >> (5 * _LINE_BOARDS[line, 2]) & 31
        if a > c:
            a, c = c, a
        found += weights[_AT_LINES + ((_LINE_KIND[line] * CLASSES + a) * CLASSES + b) * CLASSES + c]
    if state[TARGET] == 9:
        found += weights[_ANYWHERE]
    return found


@piece
def static(state, heuristic, weights):
    """The value to player 0 of a position that is not an end, as a whole number for a search."""
    value = np.int64(SCALE * total(state, weights))
    return value if state[0] == 0 else -value


@piece
def _worth(state):
    """What the end of a game is worth to the player who would be to move."""
    if state[RESULT] == 3:
        return 0.5
    return 1.0 if state[RESULT] == 1 + state[0] else 0.0


@kernel
def best(state, weights, moves, after, rng):
    """The move to the position with the least value for the opponent; of several, one by chance."""
    chosen, least, same = moves[0], np.inf, 0
    for index in range(rules.legal(state, moves)):
        after[:] = state
        rules.play(after, moves[index])
        value = total(after, weights) if after[RESULT] == 0 else 1e6 * (2.0 * _worth(after) - 1.0)
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

    Parameters
    ----------
    start
        The first position.
    rates
        float64, shape (4,): the chance of a random move, the step size, lambda, and the most moves at random with which
        a game begins.
    weights
        float64, shape (WEIGHTS,); changed.
    results
        int64, shape (4,): counts by the word RESULT are added.
    """
    moves, after = np.zeros(rules.WIDTH, np.int64), np.zeros(rules.WORDS, np.int64)
    seen, values = np.zeros((rules.LENGTH, ACTIVE), np.int64), np.zeros(rules.LENGTH)
    drawn = np.zeros(rules.LENGTH, np.bool_)
    state = start.copy()
    for _ in range(games):
        state[:] = start
        opening = below(rng, np.int64(rates[3]) + 1)
        length = 0
        while state[RESULT] == 0:
            active(state, seen[length])
            summed = 0.0
            for n in range(ACTIVE):
                summed += weights[seen[length, n]]
            values[length] = 1.0 / (1.0 + np.exp(-summed))
            drawn[length] = length < opening or uniform(rng) < rates[0]
            if drawn[length]:
                move = rules.pick(state, below(rng, rules.count(state)))
            else:
                move = best(state, weights, moves, after, rng)
            rules.play(state, move)
            length += 1
        results[state[RESULT]] += 1
        value = back = _worth(state)
        for n in range(length - 1, -1, -1):
            if drawn[n]:  # what came of a move at random says nothing of the position before it
                value = back = values[n]
                continue
            back = 1.0 - ((1.0 - rates[2]) * value + rates[2] * back)
            value = values[n]
            step = rates[1] * (back - value) / ACTIVE
            for k in range(ACTIVE):
                weights[seen[n, k]] += step
