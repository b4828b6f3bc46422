"""The heuristics of the Ultimate report as an evaluation of :mod:`~.alphabeta`, and what all evaluations share.

An evaluation is a module with ``noted_value``, which values a position by notes behind its state; ``NOTES`` and
``COPIED``, how many words these are and how many of them a search copies; ``note`` and ``follow``, which write them and
bring them up to date; ``sharp``, the moves that quiescence follows; ``reduction``, by how many plies the first search
of a late move is reduced; and ``MARGIN``, ``MARGIN_BELOW`` and ``MARGIN_PLIES``: how far beyond its window a search
prunes a position.

A move that comes late in the order of the search is seldom the best.  It is searched to a smaller depth first, and to
the full depth only if it then seems better than the best move so far (late move reductions).
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.jit import piece
from pttt_ooc.other_games.arena.kernels.small_boards import HAS_LINE
from pttt_ooc.other_games.arena.kernels.state_words import PLAYER, RESULT, UNFINISHED
from pttt_ooc.other_games.arena.kernels.ultimate import MARKS, TARGET
from pttt_ooc.other_games.arena.kernels.ultimate_values import evaluate

_LEAST_DEPTH, _LATE, _LATER = 3, 3, 8
_MOST = 81
_LOGARITHMS = np.zeros((_MOST + 1, _MOST + 1), dtype=np.int8)
"""Plies of reduction by the depth and the place of a move."""
for _depth in range(_LEAST_DEPTH, _MOST + 1):
    for _place in range(2, _MOST + 1):
        _LOGARITHMS[_depth, _place] = min(_depth - 1, int(0.5 + np.log(_depth) * np.log(_place + 1) / 2))


@piece
def by_steps(depth, place):
    """A ply from the fourth move on, two from the ninth one on; none below depth 3.

    Parameters
    ----------
    depth
        The depth of the position before the move, in plies, at most 81.
    place
        The place of the move in the order, from 0 on.
    """
    if depth < _LEAST_DEPTH:
        return np.int64(0)
    return np.int64(place >= _LATE) + np.int64(place >= _LATER)


@piece
def by_logarithms(depth, place):
    """From the third move on, half a ply and half the product of both logarithms, rounded down; none below depth 3.

    The arguments are those of :func:`by_steps`.
    """
    return np.int64(_LOGARITHMS[depth, place])


MARGIN = MARGIN_BELOW = MARGIN_PLIES = 0  # no position is pruned
NOTES = COPIED = 0  # the heuristics are counted anew
reduction = by_steps


@piece
def note(state, weights):
    """Write the notes of a position."""


@piece
def follow(before, after, move, weights):
    """Bring the notes of a position before a move up to date after it."""


@piece
def noted_value(state, heuristic, weights):
    """The value to the player to move of a position with notes, that is not an end, as a whole number."""
    value = np.int64(evaluate(state, heuristic))
    return value if state[PLAYER] == 0 else -value


SHARP = np.array(
    [
        [sum(1 << c for c in range(9) if not (a | b) >> c & 1 and HAS_LINE[a | 1 << c]) for b in range(512)]
        for a in range(512)
    ],
    dtype=np.int16,
)  # the cells that win a small board for a, against b


@piece
def sharp(state, moves):
    """Write the moves that win a small board, where the player is sent to one, and return their number."""
    board = state[TARGET]
    if board == 9 or state[RESULT] != UNFINISHED:
        return 0
    own, other = state[MARKS + 9 * state[PLAYER] + board], state[MARKS + 9 * (1 - state[PLAYER]) + board]
    if HAS_LINE[own] or HAS_LINE[other]:
        return 0
    cells, total = SHARP[own, other], 0
    for cell in range(9):
        if cells >> cell & 1:
            moves[total] = 9 * board + cell
            total += 1
    return total
